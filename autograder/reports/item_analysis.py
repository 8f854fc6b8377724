"""How each exercise went, and whether it tells strong answers from weak ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.diagnosis.verdict import Report, Status
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.reports.class_results import Results

ENOUGH = 10  # submissions, below which a correlation says next to nothing
SEPARATES, HARDLY = 0.3, 0.1


@dataclass(frozen=True)
class Item:
    """One exercise or test cell in one class. `separation` is None for too few answers, or where no two differ.

    Of a test cell, nobody knows who has tried: without full points it is wrong.
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
        """What full marks in it give."""
        return f"+{self.extra}" if self.extra else f"{self.points:g}"

    @property
    def total(self) -> int:
        """How many submissions could be read."""
        return self.passed + self.wrong + self.not_attempted


def is_attempted(report: Report) -> bool:
    """Whether the answer is more than the starter."""
    return report.verdicts[0].status is not Status.NOT_ATTEMPTED


def has_attempted(verdict: SubmissionVerdict) -> bool:
    """Whether a submission answers anything; of test cells, only points can tell."""
    return any(map(is_attempted, verdict.reports)) or any(earned > 0 for earned, _ in verdict.tests.values())


def items(results: Results) -> list[Item]:
    """The exercises of a chapter, in its order, and behind them the test cells that are none."""
    verdicts = list(results.verdicts.values())
    if not verdicts:
        return []
    found = [_item(report.exercise, verdicts) for report in verdicts[0].reports]
    return found + [_test_item(name, verdicts) for name in verdicts[0].tests]


def _item(exercise: str, verdicts: Sequence[SubmissionVerdict]) -> Item:
    reports = [verdict.report(exercise) for verdict in verdicts]
    passed, tried = sum(report.passed for report in reports), sum(map(is_attempted, reports))
    return Item(
        exercise,
        passed,
        tried - passed,
        len(reports) - tried,
        verdicts[0].points[exercise],
        verdicts[0].extra[exercise],
        separation(exercise, verdicts),
    )


def _test_item(name: str, verdicts: Sequence[SubmissionVerdict]) -> Item:
    found = [verdict.tests.get(name, (0.0, 1.0)) for verdict in verdicts]
    passed = sum(earned >= most for earned, most in found)
    return Item(name, passed, len(found) - passed, 0, verdicts[0].tests[name][1], 0, separation(name, verdicts))


def separation(exercise: str, verdicts: Sequence[SubmissionVerdict]) -> float | None:
    """The corrected item-total correlation: of the share earned in this exercise or test cell with all other points.

    From -1 to 1. Submissions that answer nothing are left out: they would make every exercise separate.
    Classical test theory; for instance Ebel and Frisbie, "Essentials of Educational Measurement" (1991), chapter 13.
    """
    answered = [verdict for verdict in verdicts if has_attempted(verdict)]
    if len(answered) < ENOUGH:
        return None
    own, rest = zip(*(_split(verdict, exercise) for verdict in answered), strict=True)
    return correlation(own, rest)


def _split(verdict: SubmissionVerdict, name: str) -> tuple[float, float]:
    """The share earned in an exercise or test cell, and the points in all others."""
    everything = verdict.score + verdict.extra_credit
    if name in verdict.points:
        return verdict.report(name).score, everything - verdict.earned(name) - verdict.earned_extra(name)
    earned, most = verdict.tests.get(name, (0.0, 1.0))
    return earned / most if most else 0.0, everything - earned


def correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Pearson's correlation; None where one side does not vary."""
    mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    away_x, away_y = [value - mean_x for value in x], [value - mean_y for value in y]
    spread = math.sqrt(math.fsum(a * a for a in away_x)) * math.sqrt(math.fsum(b * b for b in away_y))
    if spread < 1e-9:
        return None
    return math.fsum(a * b for a, b in zip(away_x, away_y, strict=True)) / spread
