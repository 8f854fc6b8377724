"""Write a page with five questions about a student's own answers, with the answers, for a talk of two minutes."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `oral`."""
    parser.add_argument("student", help="the student's id, which is the name of the folder in submitted/")
    parser.add_argument("sitting", help="the chapter that the student has handed in, by the stem of its file")


def run(args: argparse.Namespace) -> int:
    """Write the page, and print its path, and why there are fewer questions; the status is 1 if there is none."""
    from autograder.course.course_location import find_course
    from autograder.reports.oral_questions import write_oral_page
    from autograder.sandbox.require_confinement import is_unconfined_allowed
    from autograder.terminal_text import replace_unprintable

    made = write_oral_page(find_course(args.root), args.student, args.sitting, unconfined=is_unconfined_allowed())
    print(replace_unprintable("\n".join(filter(None, (f"wrote {made.path}", made.why_fewer)))))
    return 0
