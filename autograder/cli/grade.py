"""Grade a chapter's submissions through nbgrader, or an example class made from the answer bank."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.grading.grading_executors import WorkerOptions
    from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle, ShowProgress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `grade`."""
    parser.add_argument("chapter", nargs="?", help="the chapter whose submissions to grade, by the stem of its file")
    parser.add_argument("--example", action="store_true", help="make a class and grade it (without a chapter: this)")
    parser.add_argument("--student", help="grade only this student")
    parser.add_argument("--force", action="store_true", help="grade again what has not changed")
    parser.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        default=[],
        help="grade this exercise, or this test cell of yours, again, and leave the others as they are (repeat)",
    )
    parser.add_argument(
        "--never-lower", action="store_true", help="keep the better score where the same file was graded before"
    )
    parser.add_argument("--preview", action="store_true", help="say what would change, and change nothing")
    parser.add_argument("--seed", type=_seed, help="draw the fresh cases from this number, to repeat an earlier run")
    parser.add_argument(
        "--unconfined", action="store_true", help="run students' code with your own rights, unprotected"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", type=number, help="the number of processes here (default: one for each core)")
    where.add_argument("--scheduler", metavar="ADDRESS", help="the workers of a Dask cluster, such as tcp://host:8786")
    where.add_argument("--dask-local", type=number, metavar="N", help="N Dask workers on this machine")


def number(text: str) -> int:
    """Parse the value of an option that takes an integer from 1 on; raise argparse's error for anything else."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, found {text!r}")
    return int(text)


def _seed(text: str) -> int:
    if number(text) >= 2**31:
        raise argparse.ArgumentTypeError(f"expected a number below 2147483648, found {text!r}")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Grade, and print the class in a table; return 1 if a submission could not be graded."""
    if args.seed is not None:
        from autograder.grading.verdict_store import SEED_VARIABLE

        os.environ[SEED_VARIABLE] = str(args.seed)
    if args.unconfined:
        print("WARNING: students' code runs with your own rights: it can read, change and send what you can.")
    if args.example or args.chapter is None:
        return _example(args)
    from autograder.course.course_location import find_course
    from autograder.nbgrader_plugin.course_lock import lock_course

    with lock_course(find_course(args.root), f"grade {args.chapter}"), _begun_early(args):
        return _own_class(args)


def _begun_early(args: argparse.Namespace) -> AbstractContextManager[None]:
    """Start the process that workers are forked from, and the sandbox's self-test, if there is something to grade.

    Both run in the background (the process imports torch) while this one imports what it needs. With Dask, without the
    sandbox, or on systems other than Linux, return a context manager that does nothing.
    """
    from autograder.course.course_location import chapter_path, find_course
    from autograder.grading.verdict_paths import ungraded_students

    elsewhere = args.scheduler is not None or args.dask_local is not None
    if sys.platform != "linux" or elsewhere or _unconfined(args):
        return nullcontext()
    course = find_course(args.root)
    new = {student for student in ungraded_students(course, args.chapter) if args.student in (None, student)}
    if (new or args.force or args.only) and chapter_path(course, args.chapter).is_file():
        from autograder.grading.forked_worker_pool import start_shared_process_early
        from autograder.sandbox import confinement_self_test

        confinement_self_test.start_self_test()
        return start_shared_process_early()
    return nullcontext()


def _example(args: argparse.Namespace) -> int:
    from autograder.authoring import example_class
    from autograder.reports import write_reports

    stem = args.chapter or example_class.first_chapter_stem(args.root)
    folder = example_class.recreate_folder(args.root.resolve() / "build" / "example-class")
    made = example_class.run_example_class(
        args.root, folder, stem, progress, workers=_workers(args), unconfined=_unconfined(args)
    )
    print(f"\n{made.summary()}\n")
    write_reports.write_reports(made.course)
    print("The class is in build/example-class: grades.csv, course/feedback/, course/reports/index.html")
    return 1 if made.failures else 0


def _own_class(args: argparse.Namespace) -> int:
    from autograder.cli.summary import print_needs_manual_grade
    from autograder.course.course_location import find_course
    from autograder.errors import CourseNotFound
    from autograder.grading import class_text_table
    from autograder.nbgrader_plugin.nbgrader_cycle import NbgraderCycle

    cycle = NbgraderCycle(find_course(args.root), args.chapter)
    students = [student for student in cycle.students() if args.student in (None, student)]
    if not students:
        raise CourseNotFound(
            f"expected submissions in {cycle.course}/submitted/{args.student or '*'}/{args.chapter}, "
            "found none. Run `nbgrader collect` first, or `autograder collect FILE.zip CHAPTER`."
        )
    how = _how(args)
    if args.preview:
        return _preview(cycle, students, how)
    if not cycle.is_generated():
        cycle.generate()
    failures = cycle.autograde(students, progress("grade"), how)
    rows = class_text_table.class_rows(cycle.course, args.chapter, failures)
    print(f"\n{class_text_table.class_table([row for row in rows if args.student in (None, row.student)])}")
    _print_late_and_scored_by_hand(cycle, args.student)
    print_needs_manual_grade(
        {student: parts for student, parts in cycle.unscored.items() if args.student in (None, student)}
    )
    print("`autograder report` writes what the class misunderstood.")
    return 1 if failures else 0


def _print_late_and_scored_by_hand(cycle: NbgraderCycle, only: str | None) -> None:
    """Print what a teacher may have to decide: the late submissions, and the scores by hand that override new ones."""
    from autograder.terminal_text import replace_unprintable

    late = [str(each) for each in cycle.late if only in (None, each.student)]
    if late:
        print(f"Late: {replace_unprintable(', '.join(late))}.")
    scored = [(student, cells) for student, cells in cycle.scored_before.items() if only in (None, student)]
    if scored:
        text = replace_unprintable(", ".join(f"{student} ({', '.join(cells)})" for student, cells in scored))
        print(f"Scored by hand before this grading, and the score by hand counts: {text}. Look again in formgrader.")


def _how(args: argparse.Namespace) -> GradingOptions:
    from autograder.grading.merge_regraded_verdicts import RegradeOptions
    from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions

    only = frozenset(args.only)
    return GradingOptions(
        _workers(args), args.force or bool(only), _unconfined(args), RegradeOptions(only, args.never_lower)
    )


def _preview(cycle: NbgraderCycle, students: list[str], how: GradingOptions) -> int:
    from autograder.grading.merge_regraded_verdicts import render_changes
    from autograder.terminal_text import replace_unprintable

    found = cycle.preview(students, progress("preview"), how)
    print()
    for line in render_changes(found.changes, found.by_hand):
        print(replace_unprintable(line, kept=""))
    for student, reason in found.failures.items():
        print(replace_unprintable(f"  {student} cannot be graded: {reason}", kept=""))
    print("Nothing was changed. The same command without --preview does this, with the same fresh cases.")
    return 1 if found.failures else 0


def _workers(args: argparse.Namespace) -> WorkerOptions:
    from autograder.grading.grading_executors import WorkerOptions

    return WorkerOptions(args.workers, args.scheduler, args.dask_local)


def _unconfined(args: argparse.Namespace) -> bool:
    from autograder.sandbox.require_confinement import is_unconfined_allowed

    return args.unconfined or is_unconfined_allowed()


def progress(what: str) -> ShowProgress:
    """Return a progress display: a bar that counts students, labelled `what`."""
    from tqdm import tqdm  # type: ignore[import-untyped,unused-ignore]

    return lambda items, total: tqdm(items, total=total, desc=f"{what:<14}", unit=" students", smoothing=0.1)
