"""What a grade cell shows after grading: nbgrader takes the score from it, the student reads the rest."""

from __future__ import annotations

from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.feedback import headline, html, text
from autograder.grading.grade import SubmissionVerdict


def grade_cell_outputs(verdict: SubmissionVerdict, exercise: str) -> list[NotebookNode]:
    """A line of text, the report, and the score as a float, in the order that nbgrader reads them.

    Never on stderr: nbgrader takes any text there for a failure.
    """
    report = verdict.report(exercise)
    told = {"text/html": html(report), "text/plain": text(report)}
    score = {"text/plain": repr(verdict.earned(exercise))}
    return [
        new_output("stream", name="stdout", text=f"{headline(report)}. {points(verdict, exercise)}\n"),
        new_output("display_data", data=told),
        new_output("execute_result", data=score, execution_count=None),
    ]


def points(verdict: SubmissionVerdict, exercise: str) -> str:
    """`2 of 3 points`, or for a stretch exercise `3 of 3 points of extra credit`."""
    if verdict.extra[exercise]:
        return f"{verdict.earned_extra(exercise):g} of {verdict.extra[exercise]} points of extra credit"
    most = verdict.points[exercise]
    return f"{verdict.earned(exercise):g} of {most} point{'' if most == 1 else 's'}"
