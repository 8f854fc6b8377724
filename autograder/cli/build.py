"""Write notebooks, solutions and shipped observations from the chapters."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `build`."""
    parser.add_argument("chapter", nargs="?", help="build this chapter alone, by the stem of its file (default: all)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="write nothing; say which files are not up to date")
    what.add_argument("--proofs", type=Path, metavar="FOLDER", help="write only the solved chapters with their claims")


def run(args: argparse.Namespace) -> int:
    """Build, or with --check compare only; return 1 if the check finds a file that is not up to date."""
    from autograder.authoring.build_course import build, list_stale_generated_files, write_solved_notebooks_for_tests

    if args.proofs:
        print(
            "\n".join(
                f"wrote {path}" for path in write_solved_notebooks_for_tests(args.root, args.proofs, args.chapter)
            )
        )
        return 0
    if args.check:
        return _report([str(problem) for problem in list_stale_generated_files(args.root, only=args.chapter)])
    print("\n".join(build(args.root, only=args.chapter) or ["Everything is up to date."]))
    return 0


def _report(problems: list[str]) -> int:
    """Print the problems that the check found; return the exit status."""
    if not problems:
        print("Everything is up to date.")
        return 0
    print("\n".join([*problems, "Run `make build`, and commit what it writes."]), file=sys.stderr)
    return 1
