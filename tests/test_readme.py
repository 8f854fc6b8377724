"""What the README shows of a check is what a check shows."""

from __future__ import annotations

from autograder.course.answer_keys import VISIBLE_SEED
from autograder.notebook import report_rendering
from tests.small_chapter import PROJECT
from tests.test_bank import judge_of

EXERCISE, MISTAKE = "standardize", "dim-0-always"


def test_feedback_in_the_readme_is_what_is_told() -> None:
    """Line by line from the top, each up to where the README cuts it off."""
    judge = judge_of("ch01_tensors")
    answer, observations = next(pair for pair in judge.keys.bank_observations(EXERCISE) if pair[0].tag == MISTAKE)
    told = report_rendering.text(judge.judge(EXERCISE, VISIBLE_SEED, observations, answer.source)).splitlines()
    sample = (PROJECT / "README.md").read_text().split("```\n")
    shown = next(each for each in sample if each.startswith(f"{EXERCISE}: ")).splitlines()

    assert len(shown) > 5
    both = zip(told, shown, strict=False)  # what comes further down is not shown
    assert shown == [line[: len(cut) - 1] + "…" if cut.endswith("…") else line for line, cut in both]
