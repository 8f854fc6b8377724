"""Check before a grading run that it can succeed; each problem is one line with the next step."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.course.course_location import CHAPTERS
from autograder.errors import CourseNotFound, WorkFailed
from autograder.grading.assignment import Assignment
from autograder.grading.max_points_cache import points_by_exercise
from autograder.ipython_syntax import CHECK

_ROOM = 50 * 2**20  # bytes that grading needs on the disk
_SQLITE = "sqlite:///"


def check_that_grading_can_run(course: Path, db_url: str, patience: float = 5.0) -> None:
    """Raise a CourseError if the course folder is missing, the disk is full or the gradebook is locked.

    `patience` is how many seconds to wait for the lock.
    """
    if not (course / CHAPTERS).is_dir():
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


def gradebook_exists(db_url: str) -> bool:
    """Whether the gradebook exists; a database on a server counts as existing."""
    return not db_url.startswith(_SQLITE) or Path(db_url.removeprefix(_SQLITE)).is_file()


def require_source_folder(course: Path, assignment: str) -> None:
    """Raise a CourseError if the course has no source folder for an assignment."""
    source = course / "source" / assignment
    if not source.is_dir():
        advice = f"Run `autograder build {assignment}` in the project folder, which writes it."
        raise CourseNotFound(f"expected {source}, found no such folder. {advice}")


def check_assignment_is_known(assignment: str, names: Iterable[str]) -> None:
    """Raise a CourseError if an assignment is not among `names`, those of the gradebook."""
    if assignment not in names:
        raise CourseNotFound(
            f"the gradebook does not know the assignment {assignment!r}. "
            f"Run `nbgrader generate_assignment {assignment}` first; nothing was graded."
        )


def check_assignment_is_generated(gradebook: Gradebook, wanted: Assignment) -> None:
    """Raise a CourseError if the gradebook lacks the assignment, or its notebooks differ from the released ones."""
    check_assignment_is_known(wanted.stem, [each.name for each in gradebook.assignments])
    there = {each.name for each in gradebook.find_assignment(wanted.stem).notebooks}
    if wanted.is_chapter and (others := sorted(there - {wanted.stem})):
        raise WorkFailed(
            f"expected one notebook in the chapter {wanted.stem}, named like it, found {', '.join(others)}. Nothing "
            f"was graded. Give them an assignment of their own in source/, then run `nbgrader generate_assignment`."
        )
    if there != set(wanted.notebooks):
        raise WorkFailed(
            f"the gradebook has other notebooks of {wanted.stem} than its release: expected "
            f"{', '.join(sorted(there))}, found {', '.join(sorted(wanted.notebooks))}. Nothing was graded. "
            f"Run `nbgrader generate_assignment {wanted.stem}`, which makes the release and tells the gradebook."
        )


def check_assignment_is_gradable(gradebook: Gradebook, wanted: Assignment) -> None:
    """Raise a CourseError if the gradebook lacks the assignment, or differs from it in notebooks or points."""
    check_assignment_is_generated(gradebook, wanted)
    if not wanted.is_chapter:
        return
    if changed := list(_changed(gradebook, wanted.stem, points_by_exercise(wanted))):
        raise WorkFailed(
            f"what exercises are worth has changed since {wanted.stem} was generated: {', '.join(changed)}. "
            f"Nothing was graded. Run `nbgrader generate_assignment {wanted.stem}`, which tells the gradebook."
        )


def _changed(gradebook: Gradebook, stem: str, points: Mapping[str, float]) -> Iterator[str]:
    """Yield each exercise whose points differ between gradebook and chapter: nbgrader limits a score to its own."""
    for notebook in gradebook.find_assignment(stem).notebooks:
        for cell in notebook.grade_cells:
            name = cell.name.removeprefix(CHECK)
            if name in points and cell.max_score != points[name]:
                yield f"{name} ({cell.max_score:g} there, {points[name]:g} in the chapter)"


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
        raise gradebook_write_error(course, error) from None


def gradebook_write_error(course: Path, error: Exception) -> WorkFailed:
    """Return the error for a gradebook that cannot be written; the advice depends on the database's message."""
    message = str(getattr(error, "orig", error))
    if "locked" in message or "busy" in message:
        return WorkFailed(
            f"the gradebook in {course} is locked by another program. No grade was lost. "
            "Close the other nbgrader run or database viewer, then run the command again."
        )
    return WorkFailed(
        f"the gradebook in {course} cannot be written ({message}). No grade was lost. "
        "Check the file gradebook.db and its permissions, then run the command again."
    )
