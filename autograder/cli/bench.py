"""Measure what grading costs, and how that compares with nbgrader alone."""

from __future__ import annotations

import argparse
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `bench`."""
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--size", type=int, default=100, help="submissions in the class (default: 100)")
    parser.add_argument("--stock", type=int, help="how many of them nbgrader alone grades (default: all; it is slow)")
    parser.add_argument("--growth", type=int, nargs="*", default=[1000], help="larger classes (default: 1000)")


def run(args: argparse.Namespace) -> int:
    """Measure, and print a table or JSON; what is being done is told on stderr."""
    import json

    from autograder.bench import measurements

    def say(what: str) -> None:
        print(f"... {what}", file=sys.stderr, flush=True)

    figures = measurements.measured(args.root.resolve(), args.size, args.stock or args.size, args.growth, say)
    print(json.dumps(figures, indent=1) if args.json else measurements.table(figures))
    return 0
