"""Write what the class misunderstood: a page for each graded assignment, for the course, and for each student."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `report`."""
    parser.add_argument("chapter", nargs="*", help="chapters, or assignments of your own (default: all handed in)")
    parser.add_argument(
        "--beside",
        type=Path,
        metavar="OTHER",
        help="compare with an earlier report: the course of an earlier term, or a folder in course/report-tables/",
    )


def run(args: argparse.Namespace) -> int:
    """Write the pages, and print their paths, and how many parts nobody has scored."""
    from autograder.cli.summary import count_parts_without_score, print_needs_manual_grade
    from autograder.course.course_location import find_course
    from autograder.reports import class_results, write_reports

    course = find_course(args.root)
    for path in write_reports.write_reports(course, args.chapter, args.beside):
        print(f"wrote {path}")
    for stem in args.chapter or class_results.assignments_with_results(course):
        print_needs_manual_grade(count_parts_without_score(course, stem), f"{stem}: ")
    return 0
