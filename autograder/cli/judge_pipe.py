"""Judge one answer on fresh cases, over pipes; `check(..., fresh=True)` starts this."""

from __future__ import annotations

import argparse
import os
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `judge_pipe`."""
    parser.add_argument("name", help="the exercise")


def run(args: argparse.Namespace) -> int:
    """Read one request from standard input, judge the answer, and write the response to standard output."""
    from autograder.course.course_location import find_course
    from autograder.errors import CourseError
    from autograder.grading.fresh_case_judge import serve_judge_request

    if sys.stdin.isatty():
        raise CourseError(f"{find_course(args.root)} is the course; the request comes over a pipe, from a notebook.")
    sink = os.dup(1)
    os.dup2(2, 1)  # so that output of a chapter's cells goes to stderr, and not between the messages
    serve_judge_request(args.name, 0, sink)
    return 0
