"""Make the outputs of a grade cell: the report for the student, and the score that nbgrader reads."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from nbformat import NotebookNode, from_dict

from autograder.diagnosis.verdict import Report
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.notebook.report_rendering import report_as_html, report_headline, text
from autograder.questions.own_code_question_part import waits_for_person


def make_grade_cell_outputs(
    verdict: SubmissionVerdict, exercise: str, hints: tuple[str, ...] = ()
) -> list[NotebookNode]:
    """Return a line of text, the report with its hints, and the score as a float, in the order that nbgrader expects.

    None of them is on stderr, where nbgrader takes any text for a failure. They are validated with the whole notebook.
    """
    report = verdict.report(exercise)
    line = f"{report_headline(report)}.{'' if waits_for_person(report) else f' {points_text(verdict, exercise)}'}\n"
    rendered = _rendered(report, hints)
    score = {"text/plain": repr(verdict.earned(exercise))}
    return [
        from_dict({"output_type": "stream", "name": "stdout", "text": line}),
        from_dict({"output_type": "display_data", "metadata": {}, "data": rendered}),
        from_dict({"output_type": "execute_result", "metadata": {}, "data": score, "execution_count": None}),
    ]


@lru_cache(maxsize=512)  # many students share the same report on a right answer, or one not begun
def _rendered(report: Report, hints: tuple[str, ...]) -> Mapping[str, str]:
    return {"text/html": report_as_html(report, hints), "text/plain": text(report)}


def points_text(verdict: SubmissionVerdict, exercise: str) -> str:
    """Return `2 of 3 points`, or for a stretch exercise `3 of 3 points of extra credit`."""
    if verdict.extra[exercise]:
        return f"{verdict.earned_extra(exercise):g} of {verdict.extra[exercise]} points of extra credit"
    most = verdict.points[exercise]
    return f"{verdict.earned(exercise):g} of {most} point{'' if most == 1 else 's'}"
