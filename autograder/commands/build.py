"""Write notebooks, solutions and shipped observations from the chapters."""

from __future__ import annotations

import argparse
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `build`."""
    parser.add_argument("--check", action="store_true", help="write nothing; say which files are not up to date")


def run(args: argparse.Namespace) -> int:
    """Build, or check; returns 1 where the check finds something."""
    from autograder.authoring.build import build, check_sync

    if args.check:
        return _report([str(problem) for problem in check_sync(args.root)])
    print("\n".join(build(args.root) or ["Everything is up to date."]))
    return 0


def _report(problems: list[str]) -> int:
    if not problems:
        print("Everything is up to date.")
        return 0
    print("\n".join([*problems, "Run `make build`, and commit what it writes."]), file=sys.stderr)
    return 1
