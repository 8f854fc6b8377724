"""Merge an earlier verdict with a new one by the options of a regrade, and preview how points would change."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from autograder.diagnosis.verdict import Report
from autograder.errors import CourseNotFound
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.ipython_syntax import CHECK

BETTER_EARLIER_SCORE_MESSAGE = "This is the score of an earlier grading of the same file, which was better."


@dataclass(frozen=True)
class RegradeOptions:
    """The options of regrading an unchanged submission; a newer file is graded as a whole.

    `only` names the exercises and test cells that may change (empty: all). With `never_lower`, each of them keeps the
    result of the earlier grading if that gave more points.
    """

    only: frozenset[str] = frozenset()
    never_lower: bool = False

    def merge_verdicts(self, before: SubmissionVerdict | None, now: SubmissionVerdict) -> SubmissionVerdict:
        """Combine the earlier verdict with the new one, and return the verdict to store."""
        if before is None or before.digest != now.digest or before.trouble is not None or now.trouble is not None:
            return now
        known = {report.exercise: report for report in before.reports}
        reports = tuple(self._report(known.get(report.exercise), report) for report in now.reports)
        better = _better_tests(before, now) if self.never_lower else ()
        if self.only:
            new = self.only.intersection(now.tests).difference(better)
            tests = {**before.tests, **{name: now.tests[name] for name in new}}
            outputs = {**before.outputs, **{name: now.outputs[name] for name in new if name in now.outputs}}
        else:
            tests = {**now.tests, **{name: before.tests[name] for name in better}}
            outputs = {**now.outputs, **{name: before.outputs[name] for name in better}}
        return replace(now, reports=reports, tests=tests, outputs=outputs)

    def _report(self, before: Report | None, now: Report) -> Report:
        if before is None or not (self.only or self.never_lower):
            return now
        if self.only and now.exercise not in self.only:
            return before
        if not self.never_lower or before.score <= now.score:
            return now
        return replace(before, notes=tuple(dict.fromkeys((*before.notes, BETTER_EARLIER_SCORE_MESSAGE))))


def _better_tests(before: SubmissionVerdict, now: SubmissionVerdict) -> list[str]:
    """Return the test cells that earned more points before, out of the same maximum."""
    both = [(name, before.tests[name], each) for name, each in now.tests.items() if name in before.tests]
    return [name for name, old, new in both if old[1] == new[1] and old[0] > new[0] and name in before.outputs]


def require_known_names(only: Collection[str], known: Sequence[str], stem: str) -> None:
    """Raise CourseNotFound if one of these names is not known: those of the assignment's exercises and test cells."""
    unknown = sorted(set(only).difference(known))
    if unknown:
        raise CourseNotFound(
            f"expected an exercise or a test cell of {stem}, found {', '.join(unknown)}. Nothing was graded. It has "
            f"{', '.join(known) or 'none'}."
        )


def exercises_with_kept_score(verdict: SubmissionVerdict) -> tuple[str, ...]:
    """Return the exercises whose score is kept from an earlier grading."""
    return tuple(report.exercise for report in verdict.reports if BETTER_EARLIER_SCORE_MESSAGE in report.notes)


@dataclass(frozen=True)
class PointsChange:
    """The effect of a grading on one student: the points before and after of each exercise or test cell that changes.

    `total` is the sum of the changes. `is_first` means that there was no verdict before; then `points` is empty, and
    `total` is the sum of the points earned.
    """

    student: str
    points: Mapping[str, tuple[float, float]]
    total: float
    is_first: bool = False

    @classmethod
    def between(cls, student: str, before: SubmissionVerdict | None, now: SubmissionVerdict) -> PointsChange:
        """Return the change from one verdict to the next, extra credit included."""
        if before is None:
            return cls(student, {}, round(now.score + now.extra_credit, 4), is_first=True)
        old, new = _points(before), _points(now)
        points = {name: (old.get(name, 0.0), new.get(name, 0.0)) for name in {**old, **new}}
        changed = {name: pair for name, pair in points.items() if pair[0] != pair[1]}
        return cls(student, changed, round(sum(after - was for was, after in changed.values()), 4))


def _points(verdict: SubmissionVerdict) -> dict[str, float]:
    earned = {
        report.exercise: round(verdict.earned(report.exercise) + verdict.earned_extra(report.exercise), 4)
        for report in verdict.reports
    }
    return {**earned, **{name: points for name, (points, _) in verdict.tests.items()}}


def render_changes(changes: Sequence[PointsChange], by_hand: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a preview: a summary, then each student whose points change, beginning with those who lose.

    `by_hand` maps each student to the cells that a person scored: their manual scores continue to count.
    """
    new = [change for change in changes if change.is_first]
    gain = [change for change in changes if not change.is_first and change.total > 0]
    lose = [change for change in changes if not change.is_first and change.total < 0]
    even = [change for change in changes if not change.is_first and change.points and not change.total]
    same = len(changes) - len(new) - len(gain) - len(lose) - len(even)
    counts = [f"{_students(gain)} {'gains' if len(gain) == 1 else 'gain'}", f"{len(lose)} lose", f"{same} stay as now"]
    counts += [f"{len(even)} gain as much as they lose"] if even else []
    counts += [f"{len(new)} graded for the first time"] if new else []
    yield f"{', '.join(counts)}."
    for change in (*lose, *even, *gain):
        yield f"  {change.student}: {', '.join(_moves(change, by_hand.get(change.student, ())))}"


def _students(changes: Sequence[PointsChange]) -> str:
    return f"{len(changes)} {'student' if len(changes) == 1 else 'students'}"


def _moves(change: PointsChange, by_hand: Sequence[str]) -> Iterator[str]:
    for name, (was, after) in change.points.items():
        check = f"{CHECK}{name}"
        is_by_hand = any(each in (name, check) or each.endswith(f"/{check}") for each in by_hand)
        counts = " (a score by hand counts)" if is_by_hand else ""
        yield f"{name} {was:g} -> {after:g}{counts}"
