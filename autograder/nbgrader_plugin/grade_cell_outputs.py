"""What a grade cell shows after grading: nbgrader takes the score from it, the student reads the rest."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from nbformat import NotebookNode, from_dict

from autograder.diagnosis.verdict import Report
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.notebook.report_rendering import headline, html, text


def grade_cell_outputs(verdict: SubmissionVerdict, exercise: str, hints: tuple[str, ...] = ()) -> list[NotebookNode]:
    """A line of text, the report with its hints, and the score as a float, in the order that nbgrader reads them.

    Never on stderr: nbgrader takes any text there for a failure. They are validated with the whole notebook.
    """
    report = verdict.report(exercise)
    line = f"{headline(report)}. {points(verdict, exercise)}\n"
    told = _told(report, hints)
    score = {"text/plain": repr(verdict.earned(exercise))}
    return [
        from_dict({"output_type": "stream", "name": "stdout", "text": line}),
        from_dict({"output_type": "display_data", "metadata": {}, "data": told}),
        from_dict({"output_type": "execute_result", "metadata": {}, "data": score, "execution_count": None}),
    ]


@lru_cache(maxsize=512)  # the reports on what is right, or not begun, are many students'
def _told(report: Report, hints: tuple[str, ...]) -> Mapping[str, str]:
    return {"text/html": html(report, hints), "text/plain": text(report)}


def points(verdict: SubmissionVerdict, exercise: str) -> str:
    """`2 of 3 points`, or for a stretch exercise `3 of 3 points of extra credit`."""
    if verdict.extra[exercise]:
        return f"{verdict.earned_extra(exercise):g} of {verdict.extra[exercise]} points of extra credit"
    most = verdict.points[exercise]
    return f"{verdict.earned(exercise):g} of {most} point{'' if most == 1 else 's'}"
