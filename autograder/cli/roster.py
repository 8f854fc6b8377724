"""Put the students of a CSV file (from Canvas, Moodle, Brightspace, or made by hand) into nbgrader's gradebook."""

from __future__ import annotations

import argparse
from pathlib import Path

_NAMED = 20  # replaced values that are named; of the rest, only the number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `roster`."""
    parser.add_argument(
        "file", type=Path, help="the CSV file; its first line names the columns (or Canvas's list of groups)"
    )
    parser.add_argument("--replace", action="store_true", help="replace values that the course has otherwise")


def run(args: argparse.Namespace) -> int:
    """Import the students, and print how many are new, changed and unchanged.

    If values would be replaced, and the option does not allow it, print these, change nothing and return 1.
    """
    from autograder.course.course_location import find_course
    from autograder.nbgrader_plugin import kept_roster_columns, preflight_checks, roster_import
    from autograder.nbgrader_plugin.course_lock import lock_course
    from autograder.nbgrader_plugin.open_nbgrader import course_directory, open_gradebook

    found = roster_import.read_roster(args.file)
    course = find_course(args.root)
    with lock_course(course, "roster"):
        preflight_checks.check_that_grading_can_run(course, course_directory(course).db_url)
        with open_gradebook(course) as gradebook:
            kept = kept_roster_columns.load_columns(course)
            replaced = roster_import.overwritten_values(gradebook, found, kept)
            if replaced and not args.replace:
                print(_overwriting(replaced))
                return 1
            done = roster_import.import_roster_into_gradebook(gradebook, found.people, found.columns, kept)
        kept_roster_columns.merge_stored_columns(course, found.columns)
    print(f"{len(found.people)} students: {done.new} new, {done.changed} changed, {done.same} as they were")
    return 0


def _overwriting(replaced: list[str]) -> str:
    from autograder.terminal_text import replace_unprintable

    more = [f"and {len(replaced) - _NAMED} more"] if len(replaced) > _NAMED else []
    return "\n".join(
        [
            *(replace_unprintable(line, kept="") for line in replaced[:_NAMED]),
            *more,
            "Nothing was changed: this list would replace what the course has. With --replace it does.",
        ]
    )
