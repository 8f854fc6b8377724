"""Run what proves an exercise: starter, solution, answer bank, mutants and shipped key; say what is missing."""

from __future__ import annotations

import argparse
import sys
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.authoring.parts import ExerciseParts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `prove`."""
    parser.add_argument("names", nargs="+", metavar="NAME", help="the name of an exercise")


def run(args: argparse.Namespace) -> int:
    """Prove each exercise; returns 1 where anything is missing."""
    from autograder.authoring.parts import parts_of
    from autograder.catalog.place import find_course

    course = find_course(args.root)
    return max([_prove(parts) for parts in [parts_of(course, name) for name in args.names]])


def _prove(parts: ExerciseParts) -> int:
    from autograder.authoring.proof import prove
    from autograder.authoring.proved import proof_path
    from autograder.files import remember

    start, name, lines = perf_counter(), parts.name, prove(parts)
    if lines:
        print("\n".join(lines), file=sys.stderr)
        things = "1 thing is" if len(lines) == 1 else f"{len(lines)} things are"
        print(f"{name}: {things} missing.", file=sys.stderr)
        return 1
    remember(proof_path(parts))
    print(f"{name}: proven in {perf_counter() - start:.1f} s; nothing is missing.")
    return 0
