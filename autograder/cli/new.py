"""Write the stubs of a new exercise: its cells, its file and its answer bank."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `new`."""
    parser.add_argument("name", metavar="NAME", help="the new exercise, such as column_range")
    parser.add_argument(
        "chapter",
        metavar="CHAPTER",
        nargs="?",
        help="the chapter, by the stem of its file; without one, the exercise is an assignment of its own, in one file",
    )


def run(args: argparse.Namespace) -> int:
    """Write the stubs, or the file of an own exercise, and print where they are and what to do next."""
    from autograder.authoring.custom_exercise import write_custom_exercise_template
    from autograder.authoring.exercise_file_checks import MARK
    from autograder.authoring.new_exercise import write_new_exercise
    from autograder.course.course_location import find_course

    if args.chapter is None:
        path = write_custom_exercise_template(find_course(args.root), args.name)
        print(f"wrote {path}, an exercise that works: write yours over it.")
        print(f"Then `autograder prove {args.name}` proves it, and lays it into the course.")
        return 0
    print("\n".join(write_new_exercise(find_course(args.root), args.name, args.chapter)))
    print(f"Write what is asked for behind {MARK}; `autograder prove {args.name}` says what is missing.")
    return 0
