"""Turn a verdict into the rows that a grading platform shows: one for each exercise, with points and plain text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from autograder.diagnosis.verdict import NOT_GRADED
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.notebook.report_rendering import text
from autograder.terminal_text import replace_unprintable


@dataclass(frozen=True)
class ExerciseRow:
    """One exercise: the points earned out of `most`, whether every check passed, and what the student reads.

    An exercise whose points are extra credit has `most` 0. The text has no control characters but ends of lines.
    """

    name: str
    earned: float
    most: float
    passed: bool
    text: str


def exercise_rows(verdict: SubmissionVerdict) -> Iterator[ExerciseRow]:
    """Yield a row for each exercise, for students to read.

    It leaves out what is for teachers alone: tags of mistakes, seed, digests and remarks on suspicious files
    (`eye`).
    """
    for report in verdict.reports:
        name = report.exercise
        earned = round(verdict.earned(name) + verdict.earned_extra(name), 4)
        yield ExerciseRow(name, earned, verdict.points[name], report.passed, replace_unprintable(text(report)))


def unreadable_submission_message(verdict: SubmissionVerdict) -> str:
    """Return what the student reads about a file that could not be read; "" for one that could."""
    return replace_unprintable(f"{NOT_GRADED}: {verdict.trouble}") if verdict.trouble else ""
