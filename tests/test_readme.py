"""The README's pictures exist and agree with what a check shows."""

from __future__ import annotations

import re

import pytest

from autograder.course.answer_keys import VISIBLE_SEED
from autograder.course.judge import Judge
from autograder.notebook import report_rendering
from tests.small_chapter import PROJECT

STEM, EXERCISE, MISTAKE = "ch04_training", "train_step", "zero-after-backward"
README = (PROJECT / "README.md").read_text(encoding="utf-8")
PICTURES = dict(re.findall(r'<img src="docs/pictures/(\w+)\.png" width="\d+" alt="([^"]+)">', README))


def test_feedback_in_the_readme_is_what_is_told() -> None:
    """The picture's text begins like the real report (remake it with tests/browser/readme_pictures)."""
    judge = Judge(PROJECT / "course", STEM, only=EXERCISE)
    answer, observations = next(pair for pair in judge.keys.bank_observations(EXERCISE) if pair[0].tag == MISTAKE)
    told = report_rendering.text(judge.judge(EXERCISE, VISIBLE_SEED, observations, answer.source)).splitlines()

    first, check, sentence = map(str.strip, told[:3])
    assert PICTURES["feedback"].startswith(f"{first}. {check}. {sentence} ")


@pytest.mark.parametrize("name", ["pad", "feedback", "report"])
def test_pictures(name: str) -> None:
    """Each picture is shown, has a text alternative, and is small."""
    assert len(PICTURES) == README.count("<img ") == 3 and len(PICTURES[name]) > 100
    assert 10_000 < (PROJECT / "docs" / "pictures" / f"{name}.png").stat().st_size < 100_000
