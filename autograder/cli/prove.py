"""Prove an exercise: check its starter, solution, answer bank, mutants and shipped key, and say what is missing."""

from __future__ import annotations

import argparse
import sys
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.exercise_parts import ExerciseParts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `prove`."""
    parser.add_argument("names", nargs="+", metavar="NAME", help="the name of an exercise")


def run(args: argparse.Namespace) -> int:
    """Prove each exercise; return 1 if anything is missing."""
    from autograder.authoring.custom_exercise import own_path
    from autograder.course.course import course_in
    from autograder.course.course_location import find_course
    from autograder.course.exercise_parts import parts_of

    course = find_course(args.root)
    course_in(course)  # notes the time: an exercise whose files change after it gets no receipt
    own = [name for name in args.names if own_path(course, name).is_file()]
    found = [parts_of(course, name) for name in args.names if name not in own]
    return max([_prove_own(course, name) for name in own] + [_prove(parts) for parts in found])


def _prove_own(course: Path, name: str) -> int:
    from autograder.authoring.custom_exercise import prove_own

    lines = prove_own(course, name)
    if lines:
        print("\n".join(lines), file=sys.stderr)
        return 1
    print(f"{name}: proven, and laid into the course. `autograder build {name}` makes its notebook.")
    return 0


def _prove(parts: ExerciseParts) -> int:
    from autograder.authoring.proof import prove
    from autograder.authoring.proof_receipts import remember_proof

    start, name, lines = perf_counter(), parts.name, prove(parts)
    if lines:
        print("\n".join(lines), file=sys.stderr)
        things = "1 thing is" if len(lines) == 1 else f"{len(lines)} things are"
        print(f"{name}: {things} missing.", file=sys.stderr)
        return 1
    print(f"{name}: proven in {perf_counter() - start:.1f} s; nothing is missing.")
    if not remember_proof(parts):
        print(f"{name}: but something of it was written meanwhile; prove it once more.")
    return 0
