"""Count the entries of the answer banks and the messages that wrong answers get, for the table in docs/answers.md."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `answers`."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="the exercises to count again (default: all of them)")
    parser.add_argument(
        "--mutants", action="store_true", help="list which sentences mutants of solution and wrong answers get"
    )


def run(args: argparse.Namespace) -> int:
    """Count again, and write the rows into docs/answers.md, or print the table if there is no such file.

    Every answer is run, which takes a minute or two for all exercises. With --mutants, print the messages of mutants
    instead.
    """
    from autograder.authoring.answer_bank_statistics import count_bank_of_exercise, update_table
    from autograder.course.chapter_reader import read_all_chapters
    from autograder.course.course_location import find_course
    from autograder.course.missing_exercise_parts import parts_of
    from autograder.files import write_all

    course = find_course(args.root)
    named = {name: parts_of(course, name).stem for name in args.names}
    every = {name: chapter.stem for chapter in read_all_chapters(course) for name in chapter.exercises}
    if args.mutants:
        return _mutants(course, named or every)
    document = args.root / "docs" / "answers.md"
    before = document.read_text(encoding="utf-8") if document.is_file() else ""
    after = update_table(
        before, list(every), [count_bank_of_exercise(course, stem, name) for name, stem in (named or every).items()]
    )
    if before:
        write_all({document: after.encode()})
    print(f"{document}: counted {', '.join(named) or 'every exercise'}." if before else after)
    return 0


def _mutants(course: Path, names: dict[str, str]) -> int:
    """Print which messages mutants get; takes up to two minutes for an exercise that trains a model."""
    from autograder.authoring.mutant_messages import judge_mutants, mutant_report_lines

    for name, stem in names.items():
        print("\n".join(mutant_report_lines(name, list(judge_mutants(course, stem, name)))), flush=True)
    return 0
