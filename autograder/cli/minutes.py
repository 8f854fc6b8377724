"""Say how long each chapter takes: its main path, its exercises and its side paths, in minutes and cells."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`minutes` has no options."""


def run(args: argparse.Namespace) -> int:
    """Print a line for each chapter."""
    from autograder.course.chapter_minutes import minutes_of_parts, tier_lookup
    from autograder.course.chapter_reader import read_all_chapters
    from autograder.course.course_location import find_course

    course = find_course(args.root)
    rows = {
        chapter.stem: minutes_of_parts(chapter, tier_lookup(course, chapter)) for chapter in read_all_chapters(course)
    }
    first = max(map(len, rows))
    print(" " * first, *(f"{part:20}" for part in next(iter(rows.values()))), sep="  ")
    for stem, found in rows.items():
        print(f"{stem:{first}}", *(f"{share!s:20}" for share in found.values()), sep="  ")
    return 0
