"""nbgrader's release step, run in this process without a gradebook."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.errors import CourseError, CourseNotFound


def release(course: Path, workplace: Path) -> None:
    """Turn workplace/source/ into workplace/release/ as the course's own nbgrader_config.py says.

    Raises CourseError with nbgrader's words where nbgrader refuses a notebook. Not thread-safe: nbgrader
    changes the process's folder and environment while it works.
    """
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory

    config = _config(course)
    config.CourseDirectory.root = str(workplace)
    # What nbgrader's own --no-db does: building must not touch a teacher's gradebook.
    config.SaveCells.enabled = False
    config.GenerateAssignment.no_database = True
    for folder in sorted((workplace / "source").iterdir()):
        config.CourseDirectory.assignment_id = folder.name
        directory = CourseDirectory(config=config)
        converter = GenerateAssignment(coursedir=directory, config=config)
        with _listening(converter) as heard:
            _start(converter, folder.name, heard)


def _config(course: Path) -> Any:
    from traitlets.config.loader import PyFileConfigLoader

    name = "nbgrader_config.py"
    if not (course / name).is_file():
        raise CourseNotFound(f"expected {name} in {course}, found none. Run the command in the project folder.")
    return PyFileConfigLoader(name, path=str(course)).load_config()


@contextlib.contextmanager
def _listening(converter: Any) -> Iterator[list[str]]:
    """Collect what nbgrader would log; it says there, and not in its exceptions, what went wrong."""
    heard: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: heard.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.Logger("autograder.authoring.nbgrader_release")
    logger.addHandler(handler)
    converter.log = logger
    environment = dict(os.environ)
    try:
        yield heard
    finally:
        os.environ.clear()
        os.environ.update(environment)


def _start(converter: Any, stem: str, heard: list[str]) -> None:
    from nbgrader.converters.base import NbGraderException

    try:
        converter.start()
    except (NbGraderException, SystemExit, RuntimeError) as error:
        said = " ".join(" ".join(heard or [str(error)]).split())
        raise CourseError(f"nbgrader could not release {stem}: {said[-300:]} Correct the chapter.") from error
