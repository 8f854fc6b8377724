"""Set when a chapter is due, for the class or for one student, and what lateness costs; or show the settings."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = "What you decide for your class; `autograder due` writes here, and so may you."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `due`."""
    parser.add_argument("chapter", nargs="?", help="a chapter by the stem of its file, or an assignment of your own")
    parser.add_argument("when", nargs="?", help='"2026-11-30 18:00", "2026-11-30" (until midnight), "+2 days", or none')
    parser.add_argument("--student", help="for this student alone")
    parser.add_argument("--points-per-day", type=float, help="taken off for each day that has begun, in all chapters")
    parser.add_argument("--grace-hours", type=float, help="the number of hours within which lateness costs nothing")


def run(args: argparse.Namespace) -> int:
    """Write the given settings to the course's file, and print all settings that are in force.

    For bad input, raise CourseError and leave the file unchanged.
    """
    import tomlkit

    from autograder.course.course_location import find_course
    from autograder.files import write_all
    from autograder.nbgrader_plugin import teacher_settings

    course = find_course(args.root)
    path = course / teacher_settings.SETTINGS
    before = teacher_settings.read_teacher_settings(course)
    text = path.read_text(encoding="utf-8") if path.is_file() else f"# {_HEAD}\n"
    document = tomlkit.parse(text)
    _change(document, args, course, before)
    changed = tomlkit.dumps(document)
    if changed != text:
        write_all({path: changed.encode()})
        try:
            teacher_settings.read_teacher_settings(course)
        except Exception:
            _put_back(path, text)
            raise
    _show(course)
    if args.student and args.when not in (None, "none"):
        _warn_if_unknown(course, args.student)
    return 0


def _warn_if_unknown(course: Path, student: str) -> None:
    """Print a warning if the gradebook has no such student: the name may be misspelt, or the roster not imported."""
    from autograder.nbgrader_plugin import gradebook_scores, preflight_checks
    from autograder.nbgrader_plugin.open_nbgrader import course_directory, open_gradebook

    known = False
    if preflight_checks.gradebook_exists(
        course_directory(course).db_url
    ):  # opening a missing gradebook would create it
        with open_gradebook(course) as gradebook:
            known = bool(gradebook_scores.read_students(gradebook, {student}))
    if not known:
        print(f"{student} is not in the gradebook: is the name right? The extension waits until somebody has it.")


def _put_back(path: Path, text: str) -> None:
    """Restore the settings file after a change that cannot be read back."""
    from autograder.files import write_all

    write_all({path: text.encode()})


def _change(document: Any, args: argparse.Namespace, course: Path, before: Any) -> None:
    for name in ("points_per_day", "grace_hours"):
        if getattr(args, name) is not None:
            document.setdefault("late", {})[name] = getattr(args, name)
    if args.chapter:
        from autograder.course.course_location import require_assignment

        require_assignment(course, args.chapter)
    if args.chapter and args.when:
        _set(document, args, before)


def _set(document: Any, args: argparse.Namespace, before: Any) -> None:
    from autograder.errors import WorkFailed
    from autograder.nbgrader_plugin import teacher_settings

    due = before.due.get(args.chapter)
    if args.student and due is None:
        raise WorkFailed(f"{args.chapter} has no due date to extend. Give it one first, without --student.")
    table = document.setdefault("due", {})
    name = args.chapter
    if args.student:
        table, name = document.setdefault("extended", {}).setdefault(args.chapter, {}), args.student
    if args.when == "none":
        table.pop(name, None)
        return
    try:
        table[name] = teacher_settings.to_datetime(args.when, due).strftime("%Y-%m-%d %H:%M:%S%z")
    except ValueError:
        raise WorkFailed(
            f'expected a time such as "2026-11-30 18:00" or "+2 days", found {args.when!r}. Nothing was changed.'
        ) from None


def _show(course: Path) -> None:
    from autograder.nbgrader_plugin import teacher_settings

    found = teacher_settings.read_teacher_settings(course)
    for chapter, when in sorted(found.due.items()):
        print(f"{chapter}: due {_as_local_time(when)}")
        for student, until in sorted(found.extended.get(chapter, {}).items()):
            print(f"  {student}: until {_as_local_time(until)}")
    late = found.late
    if late:
        hours = f"{late.grace_hours:g} hour{'' if late.grace_hours == 1 else 's'}"
        grace = f", nothing within {hours}" if late.grace_hours else ""
        print(f"lateness: {late.points_per_day:g} points for each day that has begun{grace}")
    print("It is applied at the next grading; nothing is graded again for it.")


def _as_local_time(when: Any) -> str:
    return str(when.astimezone().strftime("%a %Y-%m-%d %H:%M %Z"))
