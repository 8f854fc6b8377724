"""Put the students of a CSV file (from Canvas, Moodle, or made by hand) into nbgrader's gradebook."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `roster`."""
    parser.add_argument("file", type=Path, help="the CSV file; its first line names the columns")


def run(args: argparse.Namespace) -> int:
    """Import the students, and print how many are new, changed and unchanged."""
    from autograder.course.course_location import find_course
    from autograder.nbgrader_plugin import kept_roster_columns, preflight_checks, roster_import
    from autograder.nbgrader_plugin.course_lock import lock_course
    from autograder.nbgrader_plugin.nbgrader_api import course_directory, open_gradebook

    found = roster_import.read_roster(args.file)
    course = find_course(args.root)
    with lock_course(course, "roster"):
        preflight_checks.check(course, course_directory(course).db_url)
        with open_gradebook(course) as gradebook:
            kept = kept_roster_columns.load_columns(course)
            done = roster_import.import_into(gradebook, found.people, found.columns, kept)
        kept_roster_columns.add_columns(course, found.columns)
    print(f"{len(found.people)} students: {done.new} new, {done.changed} changed, {done.same} as they were")
    return 0
