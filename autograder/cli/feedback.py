"""Write a page of feedback for each student who was graded, by nbgrader's own step, in several processes at once."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `feedback`."""
    from autograder.cli.grade import number

    parser.add_argument("chapter", help="the chapter, by the stem of its file")
    parser.add_argument("--student", help="write only this student's")
    parser.add_argument("--workers", type=number, help="the number of processes (default: one for each core)")


def run(args: argparse.Namespace) -> int:
    """Write the pages, replacing older ones; return 1 if one could not be written."""
    from autograder.course.course_location import find_course
    from autograder.nbgrader_plugin.course_lock import lock_course

    with lock_course(find_course(args.root), f"feedback {args.chapter}"):
        return _written(args)


def _written(args: argparse.Namespace) -> int:
    from autograder.cli.grade import progress
    from autograder.course.course_location import find_course
    from autograder.errors import CourseNotFound
    from autograder.nbgrader_plugin.nbgrader_cycle import NbgraderCycle
    from autograder.terminal_text import replace_unprintable

    cycle = NbgraderCycle(find_course(args.root), args.chapter)
    students = [student for student in cycle.graded() if args.student in (None, student)]
    if not students:
        raise CourseNotFound(
            f"expected graded notebooks in {cycle.course}/autograded/{args.student or '*'}/{args.chapter}, "
            f"found none. Run `autograder grade {args.chapter}` first."
        )
    failures = cycle.feedback(students, progress("write feedback"), args.workers)
    print(f"\nWrote {len(students) - len(failures)} of {len(students)}: {cycle.course}/feedback/*/{args.chapter}/")
    for student, reason in failures.items():
        print(replace_unprintable(f"  {student} has no feedback: {reason}", kept=""))
    print(f"`nbgrader release_feedback {args.chapter}` hands them out, where your class uses nbgrader's exchange.")
    return 1 if failures else 0
