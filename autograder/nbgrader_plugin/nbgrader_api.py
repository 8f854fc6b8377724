"""nbgrader on a course folder, with the course's own nbgrader_config.py: its API, and its gradebook alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config.loader import Config, PyFileConfigLoader

from autograder.errors import CourseNotFound

_CONFIG = "nbgrader_config.py"


def course_api(course: Path, exchange: Path | None = None) -> NbGraderAPI:
    """The API; `exchange` takes the place of the exchange folder that is configured. Raises CourseNotFound."""
    config = _config(course)
    if exchange is not None:
        config.Exchange.root = str(exchange)
        config.Exchange.cache = str(exchange / "cache")
    _find_alembic()
    return NbGraderAPI(config=config)


def course_directory(course: Path) -> CourseDirectory:
    """Where nbgrader keeps what belongs to the course; raises CourseNotFound."""
    return CourseDirectory(config=_config(course))


def open_gradebook(course: Path) -> Gradebook:
    """The gradebook, made where there is none, and without a look at the exchange; raises CourseNotFound."""
    about = course_directory(course)
    _find_alembic()
    return Gradebook(about.db_url, about.course_id)


def _config(course: Path) -> Config:
    if not (course / _CONFIG).is_file():
        raise CourseNotFound(
            f"expected {_CONFIG} in {course}, found none. Run the command in the project folder, or give --root."
        )
    _find_plug_ins(course)
    return PyFileConfigLoader(_CONFIG, path=str(course.resolve())).load_config()


def _find_plug_ins(course: Path) -> None:
    """A plug-in may lie beside the configuration: nbgrader's own commands, run there, look in their folder too."""
    beside = str(course.resolve())
    if beside not in sys.path:
        sys.path.append(beside)


def _find_alembic() -> None:
    """A new gradebook calls `alembic`, which lies beside this Python; that folder need not be on PATH."""
    beside = str(Path(sys.executable).parent)
    if beside not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([beside, os.environ.get("PATH", os.defpath)])
