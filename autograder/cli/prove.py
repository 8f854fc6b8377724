"""Prove exercises: check starter, solution, answer bank, mutants and shipped key of each, and say what is missing."""

from __future__ import annotations

import argparse
import sys
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from autograder.course.missing_exercise_parts import ExerciseParts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `prove`."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="the name of an exercise")
    parser.add_argument("--all", action="store_true", help="every exercise without a valid receipt in proofs.txt")
    parser.add_argument("--anew", action="store_true", help="with --all: those with a valid receipt too")


def run(args: argparse.Namespace) -> int:
    """Build what is out of date, prove each exercise and write its receipt; return 1 if anything is missing."""
    from autograder.authoring.custom_exercise import custom_exercise_path
    from autograder.course.course import course_in
    from autograder.course.course_location import find_course
    from autograder.course.missing_exercise_parts import parts_of
    from autograder.errors import CourseError

    if bool(args.names) is args.all:
        raise CourseError("expected the name of an exercise, or --all. `autograder prove --all` proves what is due.")
    course = find_course(args.root)
    course_in(course)  # notes the time: an exercise whose files change after it gets no receipt
    own = [name for name in args.names if custom_exercise_path(course, name).is_file()]
    failed = max([_prove_own(course, name) for name in own], default=0)
    found = [parts_of(course, name) for name in args.names if name not in own]
    stems = [None] if args.all else sorted({parts.stem for parts in found if parts.chapter.is_file()})
    written = [line for stem in stems for line in _built(args.root, stem)]
    if args.all:
        found = _of_course(course, anew=args.anew)
    return max(failed, _prove_each(course, found, in_new_processes=bool(written)) if found else 0)


def _built(project: Path, stem: str | None) -> list[str]:
    """Build a chapter, or all, and print what was written; where that fails, the proofs say what is missing."""
    from autograder.authoring.build_course import build
    from autograder.errors import CourseError

    try:
        written = build(project, only=stem)
    except CourseError:
        return []
    print("".join(f"{line}\n" for line in written), end="", flush=True)
    return written


def _of_course(course: Path, anew: bool) -> list[ExerciseParts]:
    from autograder.authoring.proof_receipts import every_exercise, exercises_to_prove

    every = every_exercise(course)
    found = every if anew else exercises_to_prove(course)
    if len(found) < len(every):
        print(f"{len(every) - len(found)} of {len(every)} exercises have a valid receipt.", flush=True)
    return found


def _prove_own(course: Path, name: str) -> int:
    from autograder.authoring.custom_exercise import prove_and_install_custom_exercise

    lines = prove_and_install_custom_exercise(course, name)
    if lines:
        print("\n".join(lines), file=sys.stderr)
        return 1
    print(f"{name}: proven, and laid into the course. `autograder build {name}` makes its notebook.")
    return 0


def _prove_each(course: Path, found: Sequence[ExerciseParts], in_new_processes: bool) -> int:
    """Prove the exercises side by side, and write the receipts of those that are proven, also of an interrupted run."""
    from autograder.authoring.proof_receipts import write_receipts
    from autograder.grading.grading_executors import InProcessExecutor, process_pool, usable_cores

    # This process has read the course before the build wrote to it, so what it proves now would get no receipt.
    count = min(len(found), usable_cores())
    pool: AbstractContextManager[Executor]
    pool = process_pool(count) if count > 1 or in_new_processes else nullcontext(InProcessExecutor())
    proven: list[tuple[str, str]] = []
    complete = 0
    try:
        with pool as executor:
            for parts, (receipt, lines) in zip(found, executor.map(_prove, found), strict=True):
                print("\n".join(lines), file=sys.stdout if receipt is not None else sys.stderr, flush=True)
                complete += receipt is not None
                proven += [(parts.name, receipt)] if receipt else []
    finally:
        if proven:
            write_receipts(course, proven)
    return 0 if complete == len(found) else 1


def _prove(parts: ExerciseParts) -> tuple[str | None, list[str]]:
    """Return the receipt of an exercise ("": it was edited meanwhile; None: it is not proven), and lines to print."""
    from autograder.authoring.proof import prove
    from autograder.authoring.proof_receipts import compute_receipt, is_unchanged_since_read
    from autograder.course.course import course_in

    course_in(parts.course)  # notes the time, in a worker's process too
    start, name, lines = perf_counter(), parts.name, prove(parts)
    if lines:
        things = "1 thing is" if len(lines) == 1 else f"{len(lines)} things are"
        return None, [*lines, f"{name}: {things} missing."]
    done = f"{name}: proven in {perf_counter() - start:.1f} s; nothing is missing."
    receipt = compute_receipt(parts)
    if is_unchanged_since_read(parts):
        return receipt, [done]
    return "", [done, f"{name}: but something of it was written meanwhile; prove it once more."]
