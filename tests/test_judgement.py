"""Judging: from observations and a key to a report."""

from dataclasses import replace

import pytest
import torch

from autograder.diagnosis.difference_messages import difference_message
from autograder.diagnosis.expected_observations import KnownMistake
from autograder.diagnosis.judge_answer import UNTOUCHED_TAG, judge, make_report_with_one_cause
from autograder.diagnosis.verdict import Status
from autograder.exercises.compare_observations import Difference
from tests import made


def statuses(answer: object) -> list[Status]:
    """Return the statuses of a report on an answer to the made exercise."""
    return [verdict.status for verdict in made.report(answer).verdicts]  # type: ignore[arg-type]


def test_the_reference_passes_every_check() -> None:
    """The reference has one passed verdict for each requirement and rule."""
    assert [Status.PASS] * 3 == statuses(made.reference)


def test_the_starter_is_not_attempted() -> None:
    """A stub that raises NotImplementedError counts as not attempted, and earns nothing."""

    def stub(x: torch.Tensor, plus: float) -> None:
        raise NotImplementedError

    assert [Status.NOT_ATTEMPTED] * 3 == statuses(stub)
    assert 0 == made.report(stub).score


def test_an_error_of_torch_is_no_starter() -> None:
    """A NotImplementedError that torch raises, with a message, is an error of a written answer."""

    def written(x: torch.Tensor, plus: float) -> torch.Tensor:
        leaf = x.clone().requires_grad_()
        return torch.autograd.grad(leaf.unique().sum(), leaf)[0]

    first = made.report(written).first
    assert first is not None and Status.ERROR is first.status and "NotImplementedError" in first.sentence


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("answer", made.MISTAKES, ids=lambda answer: answer.__name__)
def test_a_known_mistake_gets_its_own_sentence(answer: object, seed: int) -> None:
    """Each known mistake gets its own message on any cases."""
    report = made.report(answer, seed)  # type: ignore[arg-type]
    tag, sentence = made.MISTAKES[answer]  # type: ignore[index]

    assert (tag,) == report.mistakes
    assert report.first is not None
    assert sentence == report.first.sentence


def test_a_failed_first_check_skips_the_rest() -> None:
    """If the first requirement fails, the others are skipped and earn nothing."""
    assert [Status.FAIL, Status.SKIPPED, Status.SKIPPED] == statuses(made.square)
    assert 0 == made.report(made.square).score


def test_a_later_failure_keeps_what_was_passed() -> None:
    """If a later requirement fails, the passed ones still count."""
    assert [Status.PASS, Status.FAIL, Status.PASS] == statuses(made.forgets)
    assert pytest.approx(2 / 3) == made.report(made.forgets).score


def test_an_unknown_mistake_gets_the_first_difference() -> None:
    """An unknown mistake gets a message about the first difference, with both values."""
    first = made.report(lambda x, plus: torch.zeros(1)).first

    assert first is not None
    assert (None, Status.FAIL) == (first.mistake, first.status)
    assert "shape (2, 3), got (1,)" in first.sentence


@pytest.mark.parametrize(
    ("path", "place"), [(("returned",), "the result"), (("returned", 0, "loss"), "entry [0]['loss'] of the result")]
)
def test_what_is_told_names_the_place(path: tuple[str | int, ...], place: str) -> None:
    """The message names the place of the difference in words."""
    told = difference_message(made.exercise(), {}, Difference(path, "type", 1.5, "much"), {}, {})

    assert f"Expected {place} to be a float, got a str." == told.sentence


def test_a_fact_may_say_which_form() -> None:
    """If a result has another form than its probe expects, the message of a differing fact is used."""
    right, seen = {"is_list": True, "entries": 1}, {"is_list": False, "returned": {}}
    told = difference_message(
        made.exercise(), {"is_list": "No list."}, Difference((), "keys", [*right], [*seen]), right, seen
    )

    assert ("No list.", "{}") == (told.sentence, told.got)


@pytest.mark.parametrize(
    ("source", "status"),
    [("first = mended", Status.FAIL), ("first = second = broken", Status.NOT_ATTEMPTED), ("", Status.FAIL)],
)
def test_what_was_changed_is_an_attempt(source: str, status: Status) -> None:
    """Code with the same observations as the untouched starter counts as an attempt if it was changed."""
    cases = made.exercise().cases(0)
    seen = made.exercise().observe(made.square, cases)
    untouched = KnownMistake(UNTOUCHED_TAG, "It still stops.", tuple(seen), unless="mended")
    key = replace(made.key(), mistakes=(untouched,))

    assert status is judge(made.exercise(), key, seen, source).verdicts[0].status


def test_a_crash_is_an_error_with_its_message() -> None:
    """Code that raises gets a message with the type and text of the error."""
    first = made.report(lambda x, plus: x.reshape(5, 5)).first

    assert first is not None
    assert Status.ERROR is first.status
    assert "RuntimeError: shape '[5, 5]' is invalid" in first.sentence


def test_a_whole_report_says_it_once() -> None:
    """A uniform report has its message at the first requirement, and skips the others."""
    report = make_report_with_one_cause(made.exercise(), made.key().cases, Status.TIMEOUT, "Too slow.")

    assert [Status.TIMEOUT, Status.SKIPPED, Status.SKIPPED] == [verdict.status for verdict in report.verdicts]
    assert "Too slow." == report.verdicts[0].sentence


def test_a_note_is_for_right_answers() -> None:
    """A note on style appears only for right answers, and costs no points."""
    assert (made.NOTE,) == made.report(made.roundabout).notes
    assert () == made.report(made.reference).notes
    assert () == made.report(made.roundabout_and_wrong).notes
    assert made.report(made.roundabout).score == 1
