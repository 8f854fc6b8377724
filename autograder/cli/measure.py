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
    """Write the forms, or the anonymous table; raise WorkFailed or UnreadableAnswerTable."""
    from autograder.course.course import course_in
    from autograder.course.course_location import find_course
    from autograder.nbgrader_plugin.csv_escaping import write_csv
    from autograder.reports import parallel_test_forms, score_parallel_test_forms

    course = find_course(args.root).resolve()
    folder = args.folder or course / "measure"
    if args.action == "write":
        for path in parallel_test_forms.write_parallel_test_forms(
            parallel_test_forms.draw_parallel_test_forms(course_in(course), args.seed), folder
        ):
            print(f"wrote {path}")
        return 0
    measure = parallel_test_forms.read_parallel_test_forms(folder)
    people = score_parallel_test_forms.score_answer_table(args.answers or folder / parallel_test_forms.ANSWERS, measure)
    write_csv(
        folder / score_parallel_test_forms.SCORES_TABLE_FILE, score_parallel_test_forms.anonymous_rows(people, measure)
    )
    print(
        *score_parallel_test_forms.summary_lines(people, measure),
        f"wrote {folder / score_parallel_test_forms.SCORES_TABLE_FILE}",
        sep="\n",
    )
    return 0
