"""How each exercise went, and whether it tells strong answers from weak ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.judging.verdict import Report, Status
from autograder.reporting.results import Results

ENOUGH = 10  # submissions, below which a correlation says next to nothing
SEPARATES, HARDLY = 0.3, 0.1


@dataclass(frozen=True)
class Item:
    """One exercise in one class. `separation` is None where there are too few answers, or no two that differ."""

    exercise: str
    passed: int
    wrong: int
    not_attempted: int
    worth: str
    separation: float | None

    @property
    def total(self) -> int:
        """How many submissions could be read."""
        return self.passed + self.wrong + self.not_attempted


def is_attempted(report: Report) -> bool:
    """Whether the answer is more than the starter."""
    return report.verdicts[0].status is not Status.NOT_ATTEMPTED


def has_attempted(verdict: SubmissionVerdict) -> bool:
    """Whether a submission answers anything."""
    return any(map(is_attempted, verdict.reports))


def items(results: Results) -> list[Item]:
    """The exercises of a chapter, in its order."""
    verdicts = list(results.verdicts.values())
    if not verdicts:
        return []
    return [_item(report.exercise, verdicts) for report in verdicts[0].reports]


def _item(exercise: str, verdicts: Sequence[SubmissionVerdict]) -> Item:
    reports = [verdict.report(exercise) for verdict in verdicts]
    passed, tried = sum(report.passed for report in reports), sum(map(is_attempted, reports))
    return Item(
        exercise,
        passed,
        tried - passed,
        len(reports) - tried,
        _worth(verdicts[0], exercise),
        separation(exercise, verdicts),
    )


def _worth(verdict: SubmissionVerdict, exercise: str) -> str:
    return f"+{verdict.extra[exercise]}" if verdict.extra[exercise] else str(verdict.points[exercise])


def separation(exercise: str, verdicts: Sequence[SubmissionVerdict]) -> float | None:
    """The corrected item-total correlation: of the share earned in this exercise with the points in all others.

    From -1 to 1. Submissions that answer nothing are left out: they would make every exercise separate.
    Classical test theory; for instance Ebel and Frisbie, "Essentials of Educational Measurement" (1991), chapter 13.
    """
    answered = [verdict for verdict in verdicts if has_attempted(verdict)]
    if len(answered) < ENOUGH:
        return None
    own = [verdict.report(exercise).score for verdict in answered]
    rest = [_rest(verdict, exercise) for verdict in answered]
    return correlation(own, rest)


def _rest(verdict: SubmissionVerdict, exercise: str) -> float:
    everything = verdict.score + verdict.extra_credit
    return everything - verdict.earned(exercise) - verdict.earned_extra(exercise)


def correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Pearson's correlation; None where one side does not vary."""
    mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    away_x, away_y = [value - mean_x for value in x], [value - mean_y for value in y]
    spread = math.sqrt(math.fsum(a * a for a in away_x)) * math.sqrt(math.fsum(b * b for b in away_y))
    if spread < 1e-9:
        return None
    return math.fsum(a * b for a, b in zip(away_x, away_y, strict=True)) / spread
