"""Delete everything that the course folder holds of a student, after listing it."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

_STEPS = ("submitted", "autograded", "feedback")  # in each, nbgrader has a folder for each student
_NAMING_ALL = ("reports", ".nbgrader.log")  # they name everybody, and are written again
_ELSEWHERE = (
    "Not reached: nbgrader's exchange, copies of the gradebook, the zips and exports that you have made or sent on, "
    "backups, and what the student has."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `forget`."""
    parser.add_argument("student", help="the student's id, which is the name of the folder in submitted/")
    parser.add_argument("--yes", action="store_true", help="delete it; without this, only list what would be deleted")


def run(args: argparse.Namespace) -> int:
    """List what the course holds of the student, and delete it with `--yes`; raise WorkFailed if there is nothing."""
    from autograder.course.course_location import find_course
    from autograder.errors import WorkFailed
    from autograder.nbgrader_plugin.course_lock import lock_course
    from autograder.terminal_text import replace_unprintable

    course = find_course(args.root)
    with lock_course(course, "forget"):
        paths, entries = list(_paths(course, args.student)), list(_entries(course, args.student))
        rows = _gradebook_rows(course, args.student, delete=False)
        if not (paths or entries or rows):
            raise WorkFailed(
                f"the course in {course} holds nothing of {args.student!r}. Nothing was changed. Is that the id, as in "
                "submitted/ and in the roster?"
            )
        named = [*(str(path.relative_to(course)) for path in paths), *entries, *rows]
        named += [f"{each} (names everybody, and is written again)" for each in _naming_all(course)]
        print(replace_unprintable("\n".join(named)))
        if args.yes:
            _delete(course, args.student, paths)
    print("Deleted. `autograder report` writes the reports again." if args.yes else "Nothing was deleted: add --yes.")
    print(_ELSEWHERE)
    return 0


def _paths(course: Path, student: str) -> Iterator[Path]:
    """Yield the student's folders and verdict files: entries whose name is the id, so that `..` is nobody."""
    places = [(course / step, student) for step in _STEPS]
    places += [(folder, f"{student}.json") for folder in sorted((course / "verdicts").glob("*"))]
    for folder, name in places:
        if folder.is_dir() and not student.startswith("."):
            yield from (path for path in folder.iterdir() if path.name == name)


def _naming_all(course: Path) -> list[str]:
    return [name for name in _NAMING_ALL if (course / name).exists()]


def _entries(course: Path, student: str) -> Iterator[str]:
    """Yield the places in the course's own files that have an entry of the student."""
    from autograder.nbgrader_plugin import kept_roster_columns, teacher_settings

    if student in kept_roster_columns.load_columns(course):
        yield f"{kept_roster_columns.ROSTER_FILE}: the entry"
    for chapter, extended in teacher_settings.read_teacher_settings(course).extended.items():
        if student in extended:
            yield f"{teacher_settings.SETTINGS}: the extension of {chapter}"


def _gradebook_rows(course: Path, student: str, delete: bool) -> list[str]:
    """Return what the gradebook has of the student, in words; with `delete`, delete it."""
    from sqlalchemy import text

    from autograder.nbgrader_plugin import gradebook_scores, preflight_checks
    from autograder.nbgrader_plugin.open_nbgrader import course_directory, open_gradebook

    url = course_directory(course).db_url
    if not preflight_checks.gradebook_exists(url):
        return []
    with open_gradebook(course) as gradebook:
        people = gradebook_scores.read_students(gradebook, {student})
        found = [_row(gradebook, student, person.full_name) for person in people]
        if found and delete:
            gradebook.remove_student(student)
            if url.startswith("sqlite:"):  # otherwise what was deleted stays in the file until it is overwritten
                with gradebook.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                    connection.execute(text("VACUUM"))
    return found


def _row(gradebook: Gradebook, student: str, name: str) -> str:
    assignments = [each.assignment.name for each in gradebook.student_submissions(student)]
    return f"the gradebook: {name}, and scores and comments in {', '.join(sorted(assignments)) or 'no assignment'}"


def _delete(course: Path, student: str, paths: list[Path]) -> None:
    """Delete it: first what another program may hold locked."""
    import json

    import tomlkit

    from autograder.files import write_all
    from autograder.nbgrader_plugin import kept_roster_columns, preflight_checks, teacher_settings
    from autograder.nbgrader_plugin.open_nbgrader import course_directory

    preflight_checks.check_that_grading_can_run(course, course_directory(course).db_url)
    _gradebook_rows(course, student, delete=True)
    columns = dict(kept_roster_columns.load_columns(course))
    if columns.pop(student, None):
        text = json.dumps(columns, ensure_ascii=False, indent=1, sort_keys=True)
        write_all({course / kept_roster_columns.ROSTER_FILE: text.encode()})
    settings = course / teacher_settings.SETTINGS
    if any(student in extended for extended in teacher_settings.read_teacher_settings(course).extended.values()):
        document = tomlkit.parse(settings.read_text(encoding="utf-8"))
        for extended in document["extended"].values():
            extended.pop(student, None)
        write_all({settings: tomlkit.dumps(document).encode()})
    for path in [*paths, *(course / name for name in _naming_all(course))]:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
