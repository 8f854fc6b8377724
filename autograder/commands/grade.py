"""Grade a chapter's submissions through nbgrader, or an example class made from the answer bank."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence

_EXAMPLE = "ch01_tensors"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `grade`."""
    parser.add_argument("chapter", nargs="?", help="the chapter whose submissions to grade, such as ch01_tensors")
    parser.add_argument("--example", action="store_true", help="make a class and grade it (without a chapter: this)")
    parser.add_argument("--student", help="grade only this student")
    parser.add_argument("--force", action="store_true", help="grade again what has been graded")


def run(args: argparse.Namespace) -> int:
    """Grade, and print the class in a table; returns 1 where a submission could not be graded."""
    if args.example or args.chapter is None:
        return _example(args)
    return _own_class(args)


def _example(args: argparse.Namespace) -> int:
    from autograder.example import example_class

    folder = example_class.empty_folder(args.root.resolve() / "build" / "example-class")
    made = example_class.run(args.root, folder, args.chapter or _EXAMPLE, _progress)
    print(f"\n{made.summary()}\n\nThe class is in build/example-class: grades.csv, course/feedback/")
    return 1 if made.failures else 0


def _own_class(args: argparse.Namespace) -> int:
    from autograder.errors import CourseNotFound
    from autograder.grading import summary
    from autograder.grading.cycle import Cycle
    from autograder.grading.serve import find_course

    cycle = Cycle(find_course(args.root), args.chapter)
    students = [student for student in cycle.students() if args.student in (None, student)]
    if not students:
        raise CourseNotFound(
            f"expected submissions in {cycle.course}/submitted/{args.student or '*'}/{args.chapter}, "
            "found none. Run `nbgrader collect` first."
        )
    if not cycle.is_in_gradebook():
        cycle.generate()
    failures = cycle.autograde(students, _progress("grade"), args.force)
    print(f"\n{summary.table(summary.rows(cycle.course, args.chapter, failures))}")
    return 1 if failures else 0


def _progress(what: str) -> Callable[[Sequence[str]], Iterable[str]]:
    from tqdm import tqdm  # type: ignore[import-untyped,unused-ignore]

    return lambda students: tqdm(students, desc=f"{what:<14}", unit=" students")
