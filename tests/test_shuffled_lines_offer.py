"""After two failed checks in a row, `check` offers the lines of a right program, shuffled, and not before."""

from __future__ import annotations

from typing import Any

import pytest
from torch import nn

from autograder import check
from autograder.notebook import call_answer_on_cases, progress_log, shuffled_lines_offer
from explorers import arrange
from tests.our_course import answer_in

NAME = "train_step"
OFFER = f'from explorers import arrange; arrange("{NAME}")'


@pytest.fixture(autouse=True)
def _a_new_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffled_lines_offer, "_failed_in_a_row", {})
    monkeypatch.setenv(progress_log.PROGRESS_VARIABLE, "off")
    monkeypatch.setattr(call_answer_on_cases, "_LEAST", 600.0)  # for a busy machine
    monkeypatch.setattr(call_answer_on_cases, "_MOST", 600.0)


@pytest.fixture(scope="module")
def right() -> Any:
    """Return a right answer."""
    rows = ("optimizer.zero_grad()", "loss = criterion(model(x_batch), y_batch)", "loss.backward()", "optimizer.step()")
    body = "\n    ".join([*rows, "return loss.item()"])
    return answer_in(NAME, f"def {NAME}(model, optimizer, criterion, x_batch, y_batch):\n    {body}\n")


def wrong(*_: object) -> float:
    """Return a number without a step."""
    return 0.0


def begun_not(*_: object) -> float:
    """Do as the starter does."""
    raise NotImplementedError


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that checks an answer, and returns whether the offer is made."""

    def check_once(answer: object, name: str = NAME) -> bool:
        capsys.readouterr()
        check(name, answer)
        return "Stuck?" in capsys.readouterr().out

    return check_once


def test_at_the_second_failure_and_not_again(said: Any) -> None:
    """The first failure is the reader's own to mend; the second brings the offer, the third none."""
    assert [False, True, False] == [said(wrong) for _ in range(3)]


def test_a_pass_ends_the_row(said: Any, right: Any) -> None:
    """Failures before and after a pass do not count together; an answer that is not begun does not count."""
    assert [False, False, False, True] == [said(each) for each in (wrong, right, wrong, wrong)]
    assert not said(right) and not said(begun_not) and not said(wrong) and not said(begun_not) and said(wrong)


def test_only_where_there_are_lines(said: Any) -> None:
    """An exercise without lines to arrange has no offer."""
    assert not any(said(nn.Identity(), "describe") for _ in range(3))


def test_the_offer_can_be_run(capsys: pytest.CaptureFixture[str]) -> None:
    """The offered line shows the lines."""
    check(NAME, wrong)
    check(NAME, wrong)

    assert OFFER in capsys.readouterr().out.splitlines()
    assert "Lines to put in order" in arrange(NAME).title
