"""Compute for each exercise how often it was passed, and how well it separates strong from weak submissions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.diagnosis.verdict import Report, Status
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.reports.class_results import ClassResults

MIN_STUDENTS_FOR_SEPARATION = 10  # submissions; with fewer, a correlation is mostly noise
SEPARATES, HARDLY = 0.3, 0.1  # bounds of the correlation: separates well from here on, hardly at all below


@dataclass(frozen=True)
class ItemResults:
    """The results of one exercise or test cell in one class.

    `separation` is None if there are too few answers, or all are alike. A test cell does not show whether a student
    attempted it, so a result below full points counts as wrong.
    """

    exercise: str
    passed: int
    wrong: int
    not_attempted: int
    points: float
    extra: int
    separation: float | None

    @property
    def worth(self) -> str:
        """The points for a full solution, as text; extra credit has a plus sign."""
        return f"+{self.extra}" if self.extra else f"{self.points:g}"

    @property
    def total(self) -> int:
        """The number of submissions that could be read."""
        return self.passed + self.wrong + self.not_attempted


def is_attempted(report: Report) -> bool:
    """Whether the student changed the starter code."""
    return report.verdicts[0].status is not Status.NOT_ATTEMPTED


def has_attempted_anything(verdict: SubmissionVerdict) -> bool:
    """Whether a submission attempts an exercise, or has points in a test cell."""
    return any(map(is_attempted, verdict.reports)) or any(earned > 0 for earned, _ in verdict.tests.values())


def analyse_items(results: ClassResults) -> list[ItemResults]:
    """Return the results of the exercises in the chapter's order, followed by those of nbgrader's other test cells."""
    verdicts = list(results.verdicts.values())
    if not verdicts:
        return []
    found = [_item(report.exercise, verdicts) for report in verdicts[0].reports]
    return found + [_test_item(name, verdicts) for name in verdicts[0].tests]


def _item(exercise: str, verdicts: Sequence[SubmissionVerdict]) -> ItemResults:
    reports = [verdict.report(exercise) for verdict in verdicts]
    passed, tried = sum(report.passed for report in reports), sum(map(is_attempted, reports))
    return ItemResults(
        exercise,
        passed,
        tried - passed,
        len(reports) - tried,
        verdicts[0].points[exercise],
        verdicts[0].extra[exercise],
        separation(exercise, verdicts),
    )


def _test_item(name: str, verdicts: Sequence[SubmissionVerdict]) -> ItemResults:
    found = [verdict.tests.get(name, (0.0, 1.0)) for verdict in verdicts]
    passed = sum(earned >= most for earned, most in found)
    return ItemResults(name, passed, len(found) - passed, 0, verdicts[0].tests[name][1], 0, separation(name, verdicts))


def separation(exercise: str, verdicts: Sequence[SubmissionVerdict]) -> float | None:
    """Return the corrected item-total correlation of an exercise or test cell, from -1 to 1, or None.

    It correlates the share earned in the exercise with the points earned in all others. Submissions that answer
    nothing are left out, since they would raise it for every exercise. None means too few submissions, or no variation.
    Classical test theory; for instance Ebel and Frisbie, "Essentials of Educational Measurement" (1991), chapter 13.
    """
    answered = [verdict for verdict in verdicts if has_attempted_anything(verdict)]
    if len(answered) < MIN_STUDENTS_FOR_SEPARATION:
        return None
    own, rest = zip(*(_split(verdict, exercise) for verdict in answered), strict=True)
    return correlation(own, rest)


def _split(verdict: SubmissionVerdict, name: str) -> tuple[float, float]:
    """Return the share earned in an exercise or test cell, and the points earned in all others."""
    everything = verdict.score + verdict.extra_credit
    if name in verdict.points:
        return verdict.report(name).score, everything - verdict.earned(name) - verdict.earned_extra(name)
    earned, most = verdict.tests.get(name, (0.0, 1.0))
    return earned / most if most else 0.0, everything - earned


def correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Return Pearson's correlation of `x` and `y`; None if one of them does not vary."""
    mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    away_x, away_y = [value - mean_x for value in x], [value - mean_y for value in y]
    spread = math.sqrt(math.fsum(a * a for a in away_x)) * math.sqrt(math.fsum(b * b for b in away_y))
    if spread < 1e-9:
        return None
    return math.fsum(a * b for a, b in zip(away_x, away_y, strict=True)) / spread
