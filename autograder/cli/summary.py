"""Show a class in a table: scores, what was repaired, what nobody has scored yet, and what could not be graded."""

from __future__ import annotations

import argparse
from pathlib import Path


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
    print_needs_manual_grade(count_parts_without_score(course, args.chapter))
    return 0


def count_parts_without_score(course: Path, stem: str) -> dict[str, int]:
    """Return how many parts of whose submissions wait for a first score by hand; an empty dict without a gradebook."""
    from autograder.nbgrader_plugin import open_nbgrader, preflight_checks
    from autograder.nbgrader_plugin.gradebook_scores import unscored_parts

    if not preflight_checks.gradebook_exists(open_nbgrader.course_directory(course).db_url):
        return {}
    with open_nbgrader.open_gradebook(course) as gradebook:
        return unscored_parts(gradebook, stem)


def print_needs_manual_grade(waiting: dict[str, int], start: str = "") -> None:
    """Print how many parts wait for a first score by hand, and whose; nothing if none does."""
    from autograder.nbgrader_plugin.gradebook_scores import unscored_message

    if waiting:
        print(f"{start}{unscored_message(waiting)} No export has their grades before that.")
