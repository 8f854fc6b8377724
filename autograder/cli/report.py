"""Write what the class misunderstood: a page for each graded assignment, for the course, and for each student."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `report`."""
    parser.add_argument("chapter", nargs="*", help="chapters, or assignments of your own (default: all handed in)")


def run(args: argparse.Namespace) -> int:
    """Write the pages, and print their paths."""
    from autograder.course.course_location import find_course
    from autograder.reports import write_reports

    for path in write_reports.write_reports(find_course(args.root), args.chapter):
        print(f"wrote {path}")
    return 0
