"""Write what the class misunderstood: a page for each graded assignment, for the course, and for each student."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `report`."""
    parser.add_argument("chapter", nargs="*", help="chapters, or assignments of your own (default: all handed in)")


def run(args: argparse.Namespace) -> int:
    """Write the pages and name them."""
    from autograder.catalog.place import find_course
    from autograder.reporting import report

    for path in report.write(find_course(args.root), args.chapter):
        print(f"wrote {path}")
    return 0
