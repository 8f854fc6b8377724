"""Regrading: which parts of an earlier verdict stay, and the preview of the changes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.errors import CourseNotFound
from autograder.grading.merge_regraded_verdicts import (
    BETTER_EARLIER_SCORE_MESSAGE,
    PointsChange,
    RegradeOptions,
    exercises_with_kept_score,
    render_changes,
    require_known_names,
)
from autograder.grading.submission_verdict import SubmissionVerdict

POINTS = {"halve": 2, "more": 0, "twice": 4}
EXTRA = {"halve": 0, "more": 3, "twice": 0}


def verdict(halve: float, more: float, twice: float, **about: Any) -> SubmissionVerdict:
    """Return a verdict; each exercise has two requirements, and passes this share of them."""
    shares = {"halve": halve, "more": more, "twice": twice}
    reports = tuple(
        Report(name, tuple(Verdict(f"{name} {i}", Status.PASS if i < 2 * share else Status.FAIL) for i in (0, 1)))
        for name, share in shares.items()
    )
    return replace(SubmissionVerdict("week", 1, "same file", reports, POINTS, EXTRA), **about)


def shares(found: SubmissionVerdict) -> list[float]:
    """Return the score of each exercise as a share."""
    return [report.score for report in found.reports]


class TestSettled:
    """The verdict that results from an earlier and a new one."""

    def test_without_a_word_the_new_one_stands(self) -> None:
        """Without options or without an earlier verdict, the new verdict counts, even if it is lower."""
        now = verdict(0, 0, 0.5)
        assert (
            now
            == RegradeOptions().merge_verdicts(verdict(1, 1, 1), now)
            == RegradeOptions(never_lower=True).merge_verdicts(None, now)
        )

    def test_only_one_exercise_is_new(self) -> None:
        """With `only`, other exercises and test cells keep their results, and the verdict gets the new key."""
        before = verdict(1, 0, 0.5, tests={"own": (1.0, 2.0)}, key="old")
        found = RegradeOptions(only=frozenset({"halve"})).merge_verdicts(
            before, verdict(0, 1, 1, tests={"own": (2.0, 2.0)}, key="new")
        )

        assert ([0, 0, 0.5], {"own": (1.0, 2.0)}, "new") == (shares(found), found.tests, found.key)

    def test_only_one_test_cell_is_new(self) -> None:
        """With `only`, a test cell can be named as well; exercises and other test cells keep their results."""
        before = verdict(1, 0, 0, tests={"a": (1.0, 2.0), "b": (1.0, 2.0)}, outputs={"a": [{"old": 1}], "#3": []})
        now = verdict(0, 1, 1, tests={"a": (0.0, 2.0), "b": (2.0, 2.0)}, outputs={"b": [{"new": 1}], "a": []})

        found = RegradeOptions(only=frozenset({"a", "b"}), never_lower=True).merge_verdicts(before, now)
        assert {"a": (1.0, 2.0), "b": (2.0, 2.0)} == found.tests and shares(found) == [1, 0, 0]
        assert {"a": [{"old": 1}], "#3": [], "b": [{"new": 1}]} == found.outputs
        assert {"a": (0.0, 2.0), "b": (1.0, 2.0)} == RegradeOptions(frozenset({"a"})).merge_verdicts(before, now).tests

    def test_the_better_score_stays(self) -> None:
        """With `never_lower`, each exercise keeps its better score, with a single note after any number of gradings."""
        keep = RegradeOptions(never_lower=True)
        once = keep.merge_verdicts(verdict(1, 0, 0.5), verdict(0.5, 1, 0.5))
        twice = keep.merge_verdicts(once, verdict(0, 0, 1))

        assert ([1, 1, 0.5], ("halve",)) == (shares(once), exercises_with_kept_score(once))
        assert ([1, 1, 1], ("halve", "more")) == (shares(twice), exercises_with_kept_score(twice))
        assert (BETTER_EARLIER_SCORE_MESSAGE,) == twice.reports[0].notes

    def test_test_cells_keep_the_better_score_too(self) -> None:
        """A test cell keeps its better score and output, unless its maximum has changed."""
        old = {"own": (2.0, 2.0), "other": (1.0, 1.0), "worth": (2.0, 2.0)}
        before = verdict(1, 0, 0, tests=old, outputs={name: [{"data": name}] for name in old})
        new = {"own": (1.0, 2.0), "other": (1.0, 1.0), "worth": (1.0, 3.0)}
        found = RegradeOptions(never_lower=True).merge_verdicts(before, verdict(1, 0, 0, tests=new, outputs={"#3": []}))

        assert {**new, "own": (2.0, 2.0)} == found.tests
        assert {"#3": [], "own": [{"data": "own"}]} == found.outputs

    def test_both_together(self) -> None:
        """With `only` and `never_lower`, the named exercises get their better score and others stay as they were."""
        keep = RegradeOptions(frozenset({"halve", "twice"}), never_lower=True)
        assert [1, 0, 1] == shares(keep.merge_verdicts(verdict(1, 0, 0.5), verdict(0.5, 1, 1)))

    @pytest.mark.parametrize("about", [{"digest": "a newer file"}, {"trouble": "It cannot be read."}])
    def test_another_file_is_graded_as_a_whole(self, about: dict[str, Any]) -> None:
        """A verdict on another file, or on an unreadable one, is replaced whatever the options."""
        now = verdict(0, 0, 0)
        for wanted in (RegradeOptions(frozenset({"halve"})), RegradeOptions(never_lower=True)):
            assert now == wanted.merge_verdicts(verdict(1, 1, 1, **about), now)

    def test_nobody_loses(self) -> None:
        """With `never_lower`, each score is the maximum of both, for all combinations of scores."""
        for one, other in product(product((0, 0.5, 1), repeat=3), repeat=2):
            found = RegradeOptions(never_lower=True).merge_verdicts(verdict(*one), verdict(*other))
            assert [max(pair) for pair in zip(one, other, strict=True)] == shares(found)


class TestTold:
    """The preview that is printed before anything changes."""

    def test_who_gains_and_who_loses(self) -> None:
        """Students who lose come first, with a note if a score by hand overrides the change."""
        before = verdict(1, 0, 0.5)
        changes = [
            PointsChange.between("ada", before, verdict(1, 1, 0.5)),
            PointsChange.between("bob", before, verdict(0, 0, 0.5)),
            PointsChange.between("cy", before, before),
            PointsChange.between("dan", before, verdict(0, 0, 1)),
            PointsChange.between("eve", None, before),
        ]

        assert [
            "1 student gains, 1 lose, 1 stay as now, 1 gain as much as they lose, 1 graded for the first time.",
            "  bob: halve 2 -> 0 (a score by hand counts)",
            "  dan: halve 2 -> 0, twice 2 -> 4",
            "  ada: more 0 -> 3",
        ] == list(render_changes(changes, {"bob": ("check_halve",), "ada": ("check_twice",)}))

    def test_points_that_changed_and_cells_that_came_or_went(self) -> None:
        """A change of points, and added or removed test cells, count as changes of an equal answer."""
        before = verdict(1, 0, 0, tests={"gone": (1.0, 1.0)})
        now = replace(verdict(1, 0, 0, tests={"own": (0.5, 1.0)}), points={"halve": 3, "more": 0, "twice": 4})

        found = PointsChange.between("ada", before, now)

        assert ({"halve": (2, 3), "gone": (1, 0), "own": (0, 0.5)}, 0.5) == (found.points, found.total)


def test_only_what_the_chapter_has() -> None:
    """An unknown exercise name raises an error that lists the chapter's exercises."""
    require_known_names(["halve"], ["halve", "twice"], "week")
    with pytest.raises(CourseNotFound, match=r"of week, found halv\. Nothing was graded\. It has halve, twice"):
        require_known_names(["halv"], ["halve", "twice"], "week")
