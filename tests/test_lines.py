"""Verdicts per requirement: each depends on its own facets and waits for others; a slip of form costs one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from autograder.diagnosis.expected_observations import ExpectedObservations, KnownMistake
from autograder.diagnosis.judge_answer import judge
from autograder.diagnosis.verdict import Report, Status
from autograder.exercises.exercise import Case, Exercise, Requirement
from autograder.exercises.exercise import exercise as exercise_of
from autograder.exercises.observation import Observation
from autograder.exercises.probes.tensor_functions import make_call_probe, observe_result_only
from autograder.exercises.representation_mismatch import ROUNDED_MESSAGE, are_rounded, are_rounded_shares
from autograder.exercises.seeded_draw import Draw
from autograder.notebook import report_rendering

PASS, FAIL, WAITS = Status.PASS, Status.FAIL, Status.SKIPPED

sums = Requirement("gives sum and mean, as a tuple", observe_result_only)
weighs = Requirement("weighs the numbers", observe_result_only)
stays = Requirement("leaves x as it is", make_call_probe(), given=("returned",))
negative = Requirement("takes negative weights", observe_result_only, needs=(weighs,))


@exercise_of(tier="core", hints=("Add.", "Divide."))
def sum_and_mean(draw: Draw) -> Iterator[Case]:
    """Give the weighted sum and mean."""
    yield sums(draw.normal(4), 1.0)
    yield weighs(draw.normal(4), 2.0)
    yield stays(draw.normal(3), 3.0)
    yield negative(draw.normal(3), -1.0)


@exercise_of(tier="core", hints=("Add.", "Divide."))
def watches_all(draw: Draw) -> Iterator[Case]:
    """Give the weighted sum and mean; each line watches what is given."""
    yield Requirement("gives sum and mean", make_call_probe())(draw.normal(4), 2.0)
    yield Requirement("takes negative weights", make_call_probe())(draw.normal(4), -1.0)


def right(x: torch.Tensor, w: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The reference."""
    return (w * x).sum(), (w * x).mean()


def graded(answer: Callable[..., Any], mistakes: tuple[KnownMistake, ...] = (), of: Exercise = sum_and_mean) -> Report:
    """Return the report on an answer."""
    cases = of.cases(0)
    return judge(
        of, ExpectedObservations(of.name, cases, of.observe(right, cases), mistakes), of.observe(answer, cases), ""
    )


def statuses(answer: Callable[..., Any], of: Exercise = sum_and_mean) -> list[Status]:
    """Return the status of each requirement."""
    return [verdict.status for verdict in graded(answer, of=of).verdicts]


def forgets(x: torch.Tensor, w: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Leave out the weights."""
    return x.sum(), x.mean()


def halves(x: torch.Tensor, w: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Halve both results."""
    return (w * x).sum() / 2, (w * x).mean() / 2


def writes(x: torch.Tensor, w: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the right results, but change x."""
    x *= w
    return x.sum(), x.mean()


def test_a_fault_that_another_line_shows_is_no_cross_here() -> None:
    """A requirement whose result cannot be judged waits for another one, and earns no point."""
    report = graded(forgets)

    assert [PASS, FAIL, WAITS, WAITS] == [verdict.status for verdict in report.verdicts]
    assert ["", "", weighs.sentence, weighs.sentence] == [verdict.after for verdict in report.verdicts]
    assert f"– {stays.sentence} (waits for “{weighs.sentence}”)" in report_rendering.text(report)


def test_a_line_fails_by_what_it_is_about() -> None:
    """A fault in one facet fails only the requirement about it."""
    assert [PASS, PASS, FAIL, PASS] == statuses(writes)


def test_what_is_given_is_told_where_no_other_line_shows_it() -> None:
    """A wrong result on the cases of one requirement fails that one."""

    def wrong_for_three(x: torch.Tensor, w: float) -> tuple[torch.Tensor, torch.Tensor]:
        return right(x if w != 3 else x + 1, w)

    report = graded(wrong_for_three)
    assert [PASS, PASS, FAIL, PASS] == [verdict.status for verdict in report.verdicts]
    assert "values are not" in report.verdicts[2].sentence


@pytest.mark.parametrize(
    "slip",
    [
        lambda x, w: list(right(x, w)),
        lambda x, w: tuple(each.to(torch.float64) for each in right(x, w)),
        lambda x, w: tuple(each.item() for each in right(x, w)),
    ],
)
def test_a_slip_of_form_costs_one_line(slip: Callable[..., Any]) -> None:
    """Right values in a wrong form fail one requirement."""
    assert [FAIL, PASS, PASS, PASS] == statuses(slip)


@pytest.mark.parametrize(("values", "others"), [(right, PASS), (forgets, WAITS)])
def test_changing_what_is_given_costs_one_line(values: Callable[..., Any], others: Status) -> None:
    """Changing the input fails only the first requirement if the values are right."""

    def clears(x: torch.Tensor, w: float) -> Any:
        result = values(x, w)
        x.zero_()
        return result

    assert [FAIL, others] == statuses(clears, watches_all)


@pytest.mark.parametrize(
    ("shares", "rounded"),
    [([0.73, 0.45], True), ([8 / 11, 0.82], True), ([8 / 11, 1.0], False), ([0.8], False), ([0.73, 0.8], False)],
)
def test_a_share_with_few_decimals_need_not_be_rounded(shares: list[float], rounded: bool) -> None:
    """Shares of 11 are rounded if each is k / 11, or that with few decimals; 0.8 is a share of something else."""
    assert rounded is are_rounded_shares(shares, 11)


@pytest.mark.parametrize(("decimals", "last"), [(2, PASS), (4, PASS), (0, WAITS)])
def test_rounding_costs_one_line(decimals: int, last: Status) -> None:
    """Numbers that a probe finds rounded are right in all lines but the first, however few their decimals are."""

    def means(answer: Callable[..., Any], case: Case) -> Observation:
        mean = answer(*case.args)
        return {"rounded": are_rounded([mean]), "returned": mean}

    @exercise_of(tier="core", hints=("Add.", "Divide."))
    def mean(draw: Draw) -> Iterator[Case]:
        """Give the mean."""
        yield Requirement("gives the mean", means, {"rounded": ROUNDED_MESSAGE})(draw.normal(4), 1.0)
        yield Requirement("weighs the numbers", means)(draw.normal(4), -2.0)

    cases = mean.cases(0)
    seen = [mean.observe(answer, cases) for answer in (_mean, lambda x, w: round(_mean(x, w), decimals))]
    first, second = judge(mean, ExpectedObservations("mean", cases, seen[0], ()), seen[1], "").verdicts
    assert (FAIL, last) == (first.status, second.status)
    assert (first.sentence == ROUNDED_MESSAGE) is bool(decimals)


def _mean(x: torch.Tensor, w: float) -> float:
    return (w * x).mean().item()


def test_a_slip_beside_a_fault_excuses_nothing() -> None:
    """A wrong form with wrong values fails the first requirement, and the others wait."""
    assert [FAIL, WAITS, WAITS, WAITS] == statuses(lambda x, w: [x.sum(), x.sum()])


def test_independent_parts_do_not_wait_for_the_first() -> None:
    """Independent requirements do not wait for the first one."""

    def first_wrong(x: torch.Tensor, w: float) -> tuple[torch.Tensor, torch.Tensor]:
        return right(x, w if w != 1 else 5.0)

    parts = exercise_of(tier="core", hints=("Add.", "Divide."), independent=True)(sum_and_mean.draw_cases)
    assert [FAIL, PASS, PASS, PASS] == statuses(first_wrong, parts)
    assert [FAIL, WAITS, WAITS, WAITS] == statuses(first_wrong)


class TestSlip:
    """A known slip, such as one wrong factor, costs one requirement although it changes all numbers."""

    def graded(self, answer: Callable[..., Any]) -> list[Status]:
        """Return the status of each requirement if halving is a known slip."""
        shown = sum_and_mean.observe(halves, sum_and_mean.cases(0))
        return [each.status for each in graded(answer, (KnownMistake("halved", "Halved.", shown, slip=True),)).verdicts]

    def test_it_costs_its_own_line(self) -> None:
        """A slip fails one requirement, and the others pass."""
        assert [FAIL, PASS, PASS, PASS] == self.graded(halves)
        assert [FAIL, WAITS, WAITS, WAITS] == statuses(halves)

    def test_another_factor_is_another_mistake(self) -> None:
        """Other numbers than those of the slip are not excused."""
        assert [FAIL, WAITS, WAITS, WAITS] == self.graded(lambda x, w: tuple(v / 3 for v in right(x, w)))

    def test_a_fault_beside_it_costs_its_line_too(self) -> None:
        """A further fault fails its own requirement too."""
        assert [FAIL, PASS, PASS, FAIL] == self.graded(lambda x, w: halves(x, abs(w)))

    def test_who_avoids_its_line_is_not_excused(self) -> None:
        """An answer that passes the slip's requirement is not excused elsewhere."""
        assert [PASS, FAIL, WAITS, WAITS] == self.graded(lambda x, w: right(x, w) if w == 1 else halves(x, w))


class TestExplaining:
    """A known mistake explains an answer only if no observation contradicts it."""

    def mistake(self, answer: Callable[..., Any], **more: Any) -> KnownMistake:
        """Return a known mistake as the bank has it."""
        return KnownMistake("known", "You forget.", sum_and_mean.observe(answer, sum_and_mean.cases(0)), **more)

    def test_it_explains_what_shows_the_same(self) -> None:
        """An answer with the same observations gets the mistake."""
        assert ("known",) == graded(forgets, (self.mistake(forgets),)).mistakes

    def test_what_is_right_where_the_mistake_is_wrong_refutes_it(self) -> None:
        """An answer that is right where the mistake is wrong does not get it."""

        def forgets_positive(x: torch.Tensor, w: float) -> tuple[torch.Tensor, torch.Tensor]:
            return forgets(x, w) if w > 0 else right(x, w)

        assert () == graded(forgets_positive, (self.mistake(forgets),)).mistakes

    def test_another_fault_in_another_facet_refutes_nothing(self) -> None:
        """An additional fault in another facet does not prevent it."""

        def both(x: torch.Tensor, w: float) -> tuple[torch.Tensor, torch.Tensor]:
            found = x.sum(), x.mean()
            x += 1
            return found

        assert "known" in graded(both, (self.mistake(forgets),)).mistakes

    def test_code_that_holds_what_the_sentence_denies_is_told_otherwise(self) -> None:
        """An answer whose code matches `unless` does not get the mistake."""
        cases = sum_and_mean.cases(0)
        key = ExpectedObservations(
            "sum_and_mean", cases, sum_and_mean.observe(right, cases), (self.mistake(forgets, unless=r"\bw\b"),)
        )
        seen = sum_and_mean.observe(forgets, cases)

        assert ("known",) == judge(sum_and_mean, key, seen, "x.sum()").mistakes
        assert () == judge(sum_and_mean, key, seen, "x.sum() * w").mistakes

    @pytest.mark.parametrize("comment", ["", "# a comment"])
    def test_a_text_without_end_is_not_searched(self, comment: str) -> None:
        """If searching for `unless` takes too long, the mistake is not given."""
        pattern, long = r"(?s)x.*y", "x " * 60_000 + comment
        mistake, cases = self.mistake(forgets, unless=pattern), sum_and_mean.cases(0)
        key, begun = (
            ExpectedObservations("sum_and_mean", cases, sum_and_mean.observe(right, cases), (mistake,)),
            time.process_time(),
        )

        assert () == judge(sum_and_mean, key, sum_and_mean.observe(forgets, cases), long).mistakes
        assert time.process_time() - begun < 1

    def test_a_comment_proves_nothing(self) -> None:
        """`unless` ignores comments."""
        cases = sum_and_mean.cases(0)
        key = ExpectedObservations(
            "sum_and_mean", cases, sum_and_mean.observe(right, cases), (self.mistake(forgets, unless=r"\bw\b"),)
        )

        for text in ("x.sum()  # times w", "# w\nx.sum()", f"# w\nx.sum() + {'0' * 9000}"):
            assert ("known",) == judge(sum_and_mean, key, sum_and_mean.observe(forgets, cases), text).mistakes
        assert () == judge(sum_and_mean, key, sum_and_mean.observe(forgets, cases), "'# ' + w").mistakes


class TestOneBool:
    """A single bool has too many possible causes to identify a mistake."""

    flag = Requirement("is positive", lambda answer, case: {"positive": bool(answer(*case.args) > 0)})

    def told(self, answers: list[bool], known: list[bool]) -> tuple[str, ...]:
        """Return the mistakes that are given for these flags, where the right ones are all True but the last."""
        of = exercise_of(tier="core", hints=("Ask.", "Compare."))(self.draw)
        cases = of.cases(0)
        rights, seen, shown = ([{"positive": flag} for flag in each] for each in ([True] * 3 + [False], answers, known))
        key = ExpectedObservations(
            "is_positive", cases, tuple(rights), (KnownMistake("known", "You forget.", tuple(shown)),)
        )
        return judge(of, key, seen, "").mistakes

    def draw(self, draw: Draw) -> Iterator[Case]:
        """Ask for the sign."""
        for _ in range(4):
            yield self.flag(1)

    def test_one_is_too_little(self) -> None:
        """A bool that is wrong in one way does not identify a mistake."""
        assert () == self.told([True, False, True, False], [True, False, True, False])

    def test_the_same_on_every_case_is_no_more(self) -> None:
        """A bool that is always inverted does not identify a mistake."""
        assert () == self.told([False, False, False, True], [False, False, False, True])

    def test_a_pattern_is_enough(self) -> None:
        """A pattern of two wrong and two right cases identifies the mistake."""
        assert ("known",) == self.told([False, False, True, False], [False, False, True, False])
