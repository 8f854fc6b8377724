"""Search the answer bank for bug hunts, prove each, and write them into `hunts/` of the course folder."""

from __future__ import annotations

import argparse
import warnings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `hunts`."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="exercises (default: all whose bank or cases changed)")


def run(args: argparse.Namespace) -> int:
    """Write the hunts of these exercises, or of all that are due."""
    from autograder.authoring.hunt_files import outdated_hunts, write_hunts
    from autograder.course.course import course_in
    from autograder.course.course_location import find_course
    from autograder.course.exercise_parts import parts_of

    warnings.simplefilter("ignore", SyntaxWarning)  # of edits that make odd programs
    course = find_course(args.root).resolve()
    due = [(parts.stem, [parts.name]) for parts in (parts_of(course, name) for name in args.names)]
    due = due or [(stem, outdated_hunts(course, stem)) for stem in course_in(course).stems]
    for stem, names in due:
        for line in write_hunts(course, stem, names):
            print(line, flush=True)
    return 0
