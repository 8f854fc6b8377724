"""Run nbgrader's release step in this process, without a gradebook."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.errors import CourseError, CourseNotFound


def run_nbgrader_release_step(course: Path, workplace: Path) -> None:
    """Turn workplace/source/ into workplace/release/, with the settings of the course's nbgrader_config.py.

    Raises CourseError with nbgrader's log messages if nbgrader refuses a notebook. Not thread-safe: nbgrader changes
    the working directory and the environment of the process while it runs.
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
        with _collecting_logs(converter) as messages:
            _start(converter, folder.name, messages)


def _config(course: Path) -> Any:
    from traitlets.config.loader import PyFileConfigLoader

    name = "nbgrader_config.py"
    if not (course / name).is_file():
        raise CourseNotFound(f"expected {name} in {course}, found none. Run the command in the project folder.")
    return PyFileConfigLoader(name, path=str(course)).load_config()


@contextlib.contextmanager
def _collecting_logs(converter: Any) -> Iterator[list[str]]:
    """Collect the converter's warnings and errors in a list, and restore the environment at the end.

    nbgrader logs the cause of a failure, and does not name it in its exceptions.
    """
    messages: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.Logger("autograder.authoring.run_nbgrader_release")
    logger.addHandler(handler)
    converter.log = logger
    environment = dict(os.environ)
    try:
        yield messages
    finally:
        os.environ.clear()
        os.environ.update(environment)


def _start(converter: Any, stem: str, messages: list[str]) -> None:
    """Run the converter; raise CourseError with the logged messages if it fails."""
    from nbgrader.converters.base import NbGraderException

    try:
        converter.start()
    except (NbGraderException, SystemExit, RuntimeError) as error:
        reason = " ".join(" ".join(messages or [str(error)]).split())
        raise CourseError(f"nbgrader could not release {stem}: {reason[-300:]} Correct the chapter.") from error
