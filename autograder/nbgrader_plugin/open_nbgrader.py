"""Open nbgrader's API or gradebook for a course folder, with the course's own nbgrader_config.py."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from jupyter_core.paths import jupyter_config_path
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError
from traitlets.config.loader import Config, ConfigFileNotFound, PyFileConfigLoader

from autograder.errors import CourseNotFound, WorkFailed
from autograder.nbgrader_plugin.preflight_checks import gradebook_write_error

_CONFIG = "nbgrader_config.py"


def open_nbgrader_api(course: Path, exchange: Path | None = None) -> NbGraderAPI:
    """Return nbgrader's API; `exchange` overrides the configured exchange folder. Raises a CourseError."""
    own = _config(course)
    config = _exchange_settings()
    config.merge(own)
    if exchange is not None:
        config.Exchange.root = str(exchange)
        config.Exchange.cache = str(exchange / "cache")
    _find_alembic()
    return NbGraderAPI(config=config)


def missing_exchange_folder(api: NbGraderAPI) -> str:
    """Return the exchange folder named in nbgrader's settings if it does not exist; "" if it does or none is named."""
    named = str(api.config.Exchange.root) if "root" in api.config.Exchange else ""
    return "" if not named or os.path.isdir(named) else named


def course_directory(course: Path) -> CourseDirectory:
    """Return nbgrader's description of the course folder; raise CourseNotFound if there is no configuration."""
    return CourseDirectory(config=_config(course))


@contextlib.contextmanager
def open_gradebook(course: Path) -> Iterator[Gradebook]:
    """Open the gradebook, creating it if it is missing, without touching the exchange.

    Raises CourseNotFound, and WorkFailed if the gradebook is locked or cannot be read or written.
    """
    about = course_directory(course)
    _find_alembic()
    try:
        with Gradebook(about.db_url, about.course_id) as gradebook:
            yield gradebook
    except SQLAlchemyError as error:
        raise gradebook_write_error(course, error) from None


def _config(course: Path) -> Config:
    if not (course / _CONFIG).is_file():
        raise CourseNotFound(
            f"expected {_CONFIG} in {course}, found none. Run the command in the project folder, or give --root."
        )
    _find_plug_ins(course)
    return PyFileConfigLoader(_CONFIG, path=str(course.resolve())).load_config()


def _exchange_settings() -> Config:
    """Return what nbgrader_config.py in Jupyter's folders, such as /etc/jupyter, says of the exchange.

    nbgrader's commands read these files too, and a server that people share has the place of its exchange there.
    """
    found = Config()
    for folder in reversed(jupyter_config_path()):  # the first wins, so it is merged last
        try:
            site = PyFileConfigLoader(_CONFIG, path=folder).load_config()
        except ConfigFileNotFound:
            continue
        except Exception as error:  # the file is a program, which may fail in any way
            raise WorkFailed(f"{folder}/{_CONFIG} fails: {type(error).__name__}: {error}. Correct it.") from error
        found.merge({name: section for name, section in site.items() if name.startswith("Exchange")})
    return found


def _find_plug_ins(course: Path) -> None:
    """Add the course folder to `sys.path`: plug-ins may lie there, and nbgrader's own commands find them too."""
    beside = str(course.resolve())
    if beside not in sys.path:
        sys.path.append(beside)


def _find_alembic() -> None:
    """Put this Python's folder on PATH: a new gradebook runs the program `alembic`, which is installed there."""
    beside = str(Path(sys.executable).parent)
    if beside not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([beside, os.environ.get("PATH", os.defpath)])
