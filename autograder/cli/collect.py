"""Copy the submissions in a zip from Canvas, Moodle or Brightspace into the students' folders, for grading."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path
from zoneinfo import ZoneInfo


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `collect`."""
    parser.add_argument("file", type=Path, help="the zip, as the learning system's `Download submissions` gives it")
    parser.add_argument("chapter", help="the chapter or assignment, by the stem of its file")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and change nothing")
    parser.add_argument("--times", action="store_true", help="the times in the zip are those of handing in: note them")
    parser.add_argument("--zone", type=_zone, help="the zone of the zip's clock, such as Europe/Berlin (default: here)")


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):  # ZoneInfoNotFoundError is a KeyError
        raise argparse.ArgumentTypeError(f"expected a time zone such as Europe/Berlin, found {name!r}") from None


def run(args: argparse.Namespace) -> int:
    """Collect the submissions, and print what was done with each file; return 1 if a person has to handle some."""
    from autograder.course.course_location import find_course
    from autograder.nbgrader_plugin.course_lock import lock_course

    course = find_course(args.root)
    with nullcontext() if args.dry_run else lock_course(course, f"collect {args.chapter}"):
        return _collected(args, course)


def _collected(args: argparse.Namespace, course: Path) -> int:
    from autograder.lms import collection_report_text
    from autograder.lms.collection_result import CollectOptions
    from autograder.lms.import_submissions_zip import import_submissions
    from autograder.nbgrader_plugin import gradebook_scores, kept_roster_columns, preflight_checks
    from autograder.nbgrader_plugin.open_nbgrader import course_directory, open_gradebook
    from autograder.nbgrader_plugin.roster_import import Roster

    database = course_directory(course).db_url
    preflight_checks.check_that_grading_can_run(course, database)
    people: list[gradebook_scores.GradebookStudent] = []
    if preflight_checks.gradebook_exists(database):  # opening a missing gradebook would create it
        with open_gradebook(course) as gradebook:
            people = gradebook_scores.read_students(gradebook)
    wanted = CollectOptions(args.dry_run, args.times, args.zone)
    done = import_submissions(
        course, args.chapter, args.file, Roster(people, kept_roster_columns.load_columns(course)), wanted
    )
    print("\n".join(collection_report_text.collection_report_lines(done, args.chapter, args.dry_run)))
    return 1 if done.left else 0
