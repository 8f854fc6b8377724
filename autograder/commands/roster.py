"""Put the students of a CSV file (from Canvas, Moodle, or made by hand) into nbgrader's gradebook."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `roster`."""
    parser.add_argument("file", type=Path, help="the CSV file; its first line names the columns")


def run(args: argparse.Namespace) -> int:
    """Import, and say how many."""
    from autograder.catalog.place import find_course
    from autograder.gradebook import columns, preflight, roster
    from autograder.gradebook.alone import alone
    from autograder.gradebook.course_api import course_directory, open_gradebook

    found = roster.read(args.file)
    course = find_course(args.root)
    with alone(course, "roster"):
        preflight.check(course, course_directory(course).db_url)
        with open_gradebook(course) as gradebook:
            done = roster.import_into(gradebook, found.people)
        columns.keep(course, found.columns)
    print(f"{len(found.people)} students: {done.new} new, {done.changed} changed, {done.same} as they were")
    return 0
