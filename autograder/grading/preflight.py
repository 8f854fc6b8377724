"""What can be seen to stop a grading run before it begins: each problem in one line, with the next step."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from autograder.errors import CourseNotFound, WorkFailed

_ROOM = 50 * 2**20
_SQLITE = "sqlite:///"


def check(course: Path, db_url: str, patience: float = 5.0) -> None:
    """Raise a CourseError where the course folder is missing, the disk is full or the gradebook is locked."""
    if not (course / "chapters").is_dir():
        raise CourseNotFound(
            f"expected the course in {course}, found no chapters/ there. Run the command in the course's own folder."
        )
    free = shutil.disk_usage(course).free
    if free < _ROOM:
        raise WorkFailed(
            f"the disk with {course} has {free >> 20} MB left, and grading wants {_ROOM >> 20}. "
            "Nothing was changed. Make room, then run the command again."
        )
    if db_url.startswith(_SQLITE):
        _check_lock(course, Path(db_url.removeprefix(_SQLITE)), patience)


def known(assignment: str, names: Iterable[str]) -> None:
    """Raise a CourseError where the gradebook does not know an assignment."""
    if assignment not in names:
        raise CourseNotFound(
            f"the gradebook does not know the assignment {assignment!r}. "
            f"Run `nbgrader generate_assignment {assignment}` first; nothing was graded."
        )


def _check_lock(course: Path, database: Path, patience: float) -> None:
    if not database.is_file():
        return
    try:
        connection = sqlite3.connect(database, timeout=patience, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise locked(course, error) from None


def locked(course: Path, error: Exception) -> WorkFailed:
    """The error for a gradebook that cannot be written, from what the database says."""
    said = str(getattr(error, "orig", error))
    if "locked" in said or "busy" in said:
        return WorkFailed(
            f"the gradebook in {course} is locked by another program. No grade was lost. "
            "Close the other nbgrader run or database viewer, then run the command again."
        )
    return WorkFailed(
        f"the gradebook in {course} cannot be written ({said}). No grade was lost. "
        "Check the file gradebook.db and its permissions, then run the command again."
    )
