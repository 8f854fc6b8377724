"""Grade submissions as they arrive, and return each student's feedback through nbgrader's exchange."""

from __future__ import annotations

import argparse
import time
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.nbgrader_plugin.watch_submissions import GradedSubmission, SubmissionWatcher


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `watch`."""
    from autograder.cli.grade import number

    parser.add_argument("chapter", help="the chapter or assignment, by the stem of its file")
    parser.add_argument("--every", type=number, default=5, metavar="SECONDS", help="the time between two looks (5)")
    parser.add_argument("--tries", type=number, default=10, help="how often a student is graded on one day (10)")
    parser.add_argument("--once", action="store_true", help="look once, and end: for a timer of the system's")
    parser.add_argument(
        "--unconfined", action="store_true", help="run students' code with your own rights, unprotected"
    )


def run(args: argparse.Namespace) -> int:
    """Look for new submissions until the command is interrupted; with `--once`, return 1 if one could not be graded.

    Raises WorkFailed, and changes nothing, if the exchange that the settings name does not exist.
    """
    from autograder.course.course_location import find_course
    from autograder.errors import WorkFailed
    from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
    from autograder.nbgrader_plugin.open_nbgrader import missing_exchange_folder
    from autograder.nbgrader_plugin.watch_submissions import SubmissionWatcher
    from autograder.sandbox.require_confinement import is_unconfined_allowed

    unconfined = args.unconfined or is_unconfined_allowed()
    cycle = NbgraderCycle(find_course(args.root), args.chapter)
    if missing := missing_exchange_folder(cycle.api):
        raise WorkFailed(
            f"expected nbgrader's exchange in {missing}, as c.Exchange.root says, found no folder. Nothing was graded. "
            "Make the folder, writable by all, or mount it; or correct the setting."
        )
    if not cycle.is_generated():
        cycle.generate()
    watch = SubmissionWatcher(cycle, args.tries, GradingOptions(unconfined=unconfined))
    where = watch.exchange or "not used: nothing was released there, so feedback stays in feedback/"
    print(f"Watching {cycle.course}/submitted/*/{args.chapter}; exchange: {where}. Ctrl-C ends this.", flush=True)
    while True:
        with nullcontext() if args.once else _warm(unconfined):
            all_graded = _wait(watch, args.once, args.every)
        if args.once:
            return 0 if all_graded else 1


def _warm(unconfined: bool) -> AbstractContextManager[None]:
    """Start the process that grades while nothing has arrived, since it imports torch; not outside of the sandbox."""
    from autograder.grading.forked_worker_pool import start_shared_process_early

    return nullcontext() if unconfined else start_shared_process_early()


def _wait(watch: SubmissionWatcher, once: bool, seconds: float) -> bool:
    """Look until something is graded, or once; print a line for each student, and return whether all were graded."""
    from autograder.errors import WorkFailed

    while True:
        try:
            all_graded = _look(watch)
            if once or all_graded is not None:
                return all_graded is not False
        except WorkFailed as error:  # such as: another command is grading. What it does is not lost.
            _print(str(error) if once else f"{error} Looking again in {seconds} seconds.")
            if once:
                return False
        time.sleep(seconds)


def _look(watch: SubmissionWatcher) -> bool | None:
    """Grade what is new; return whether all were graded, or None if nothing is new."""
    new = watch.collect_new()
    out = watch.out_of_tries(new)
    for student in out:
        _print(f"{student}: no try left today; this submission is graded tomorrow.")
    results = list(watch.grade(new)) if new else []
    failures = [each for each in results if isinstance(each, tuple)]
    for student, reason in failures:
        _print(f"{student} was not graded: {reason}")
    for each in results:
        if not isinstance(each, tuple):
            _print(_line(each))
    return not failures if results else None


def _line(graded: GradedSubmission) -> str:
    verdict = graded.verdict
    page = graded.trouble or ("feedback returned" if graded.is_returned else "feedback written")
    what = verdict.trouble or f"{verdict.score:g} of {verdict.max_score:g} points"
    return f"{graded.student}: {what}, {page}, try {graded.tries} today."


def _print(line: str) -> None:
    from autograder.terminal_text import replace_unprintable

    print(replace_unprintable(f"{datetime.now():%H:%M:%S}  {line}", kept=""), flush=True)
