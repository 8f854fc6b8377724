"""Show a class in a table: scores, what was repaired, and which submissions could not be graded."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `summary`."""
    parser.add_argument("chapter", help="the chapter, by the stem of its file")


def run(args: argparse.Namespace) -> int:
    """Print the table; raise CourseNotFound if there are no submissions."""
    from autograder.course.course_location import find_course
    from autograder.errors import CourseNotFound
    from autograder.grading import class_text_table

    course = find_course(args.root)
    rows = class_text_table.class_rows(course, args.chapter)
    if not rows:
        raise CourseNotFound(
            f"expected submissions in {course / 'submitted'}/*/{args.chapter}, found none. "
            "Run `nbgrader collect` first, or `autograder collect FILE.zip CHAPTER`."
        )
    print(class_text_table.class_table(rows))
    return 0
