"""The README's pictures exist and agree with what a check shows; the examples of CONTRIBUTING run."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from autograder.course.chapter_judge import Judge
from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.exercises import exercise, observation, probe, seeded_draw
from autograder.exercises.probes import tensor_functions
from autograder.notebook import report_rendering
from tests.small_chapter import PROJECT

STEM, EXERCISE, MISTAKE = "ch04a_training_loop", "train_step", "zero-after-backward"
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


def test_the_exercise_in_the_guide_for_authors_runs() -> None:
    """Its requirements, cases and probe use names that are there, and see what the text says."""
    guide = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    blocks = [
        textwrap.dedent(block) for block in re.findall(r"^ *```python\n(.*?)^ *```$", guide, re.MULTILINE | re.DOTALL)
    ]
    names: dict[str, Any] = {"Iterator": Iterator}
    for module in (exercise, observation, probe, tensor_functions, seeded_draw):
        names |= vars(module)
    cases, own = (next(block for block in blocks if mark in block) for mark in ("@exercise(", "def kept_dtype"))
    exec(cases + own, names)

    def column_range(x: torch.Tensor) -> torch.Tensor:
        return x.amax(dim=0) - x.amin(dim=0)

    drawn = names["column_range"].cases(7)
    seen = names["column_range"].observe(column_range, drawn)
    assert len(drawn) == 2 and all("returned" in each for each in seen)
    assert names["kept_dtype"](column_range, drawn[0])["is_integer"] is False
    assert "raised" in names["kept_dtype"](lambda x: x[99], drawn[0])
