"""Search the answer bank for bug hunts, prove each, and write them into `hunts/` of the course folder."""

from __future__ import annotations

import argparse
import subprocess
import sys
import warnings
from pathlib import Path

_LONGEST = 900  # seconds for the search of one exercise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hunts`."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="exercises (default: all whose bank or cases changed)")


def run(args: argparse.Namespace) -> int:
    """Search the bug hunts of the named exercises and write them; without names, of all whose hunts are outdated.

    Without names, return 1 if the search for one exercise failed.
    """
    from autograder.authoring.write_hunts import exercises_with_outdated_hunts, write_hunts
    from autograder.course.course import course_in
    from autograder.course.course_location import find_course
    from autograder.course.missing_exercise_parts import parts_of

    warnings.simplefilter("ignore", SyntaxWarning)  # of edits that make odd programs
    course = find_course(args.root).resolve()
    if not args.names:
        due = [name for stem in course_in(course).stems for name in exercises_with_outdated_hunts(course, stem)]
        failed = [name for name in due if not _is_written_in_a_process(course, name)]
        return int(bool(failed))
    for parts in [parts_of(course, name) for name in args.names]:
        print(write_hunts(parts), flush=True)
    return 0


def _is_written_in_a_process(course: Path, name: str) -> bool:
    """Write the hunts of one exercise in a process of its own: a program that is stopped may leave torch changed.

    Returns whether that went well, and prints a line if not.
    """
    words = [sys.executable, "-m", "autograder", "--root", str(course), "hunts", name]
    try:
        ended = subprocess.run(words, timeout=_LONGEST).returncode
    except subprocess.TimeoutExpired:
        ended = None
    if ended != 0:
        why = f"took more than {_LONGEST} s" if ended is None else f"failed (exit code {ended})"
        print(f"{name}: the search {why}; its hunts are as they were", flush=True)
    return ended == 0
