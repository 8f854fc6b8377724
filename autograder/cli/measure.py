"""Measure what a class learns: write a pre-test and a post-test of twelve questions each; score them anonymously."""

from __future__ import annotations

import argparse
from pathlib import Path

_SEED = 112  # draws forms whose questions ask for the usual mistakes, not for their harmless neighbors


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `measure`."""
    parser.add_argument("action", choices=("write", "score"), help="write the two forms, or score what came back")
    parser.add_argument("--folder", type=Path, help="where forms, key and tables lie (default: measure/ in the course)")
    parser.add_argument("--answers", type=Path, help="the table of answers (default: answers.csv in that folder)")
    parser.add_argument("--seed", type=int, default=_SEED, help=f"other forms for another class (default: {_SEED})")


def run(args: argparse.Namespace) -> int:
    """Write the forms, or the anonymous table; raise WorkFailed or BadAnswers."""
    from autograder.course.course import course_in
    from autograder.course.course_location import find_course
    from autograder.nbgrader_plugin.csv_escaping import write_csv
    from autograder.reports import measure_forms, pre_post_test_scores

    course = find_course(args.root).resolve()
    folder = args.folder or course / "measure"
    if args.action == "write":
        for path in measure_forms.write_measure(
            measure_forms.sample_measure_forms(course_in(course), args.seed), folder
        ):
            print(f"wrote {path}")
        return 0
    measure = measure_forms.read_measure(folder)
    people = pre_post_test_scores.read_answers(args.answers or folder / measure_forms.ANSWERS, measure)
    write_csv(folder / pre_post_test_scores.TABLE, pre_post_test_scores.anonymous_rows(people, measure))
    print(
        *pre_post_test_scores.summary_lines(people, measure), f"wrote {folder / pre_post_test_scores.TABLE}", sep="\n"
    )
    return 0
