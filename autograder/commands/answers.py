"""Count what the answer banks hold, by exercise, and what wrong answers are told: the table in docs/answers.md."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `answers`."""


def run(args: argparse.Namespace) -> int:
    """Print the table; it takes a minute or two, as each answer is run."""
    from autograder.authoring.chapter import read_course
    from autograder.authoring.tally import table, tallies
    from autograder.catalog.place import find_course

    course = find_course(args.root)
    print("\n".join(table(tallies(course, [chapter.stem for chapter in read_course(course)]))))
    return 0
