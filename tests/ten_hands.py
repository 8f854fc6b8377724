"""Ten hands for the tests of chapter 6's drawing pad, drawn by a program, and how many of their digits each pad reads.

    python -m tests.ten_hands [SEED]  # prints each hand's counts of 10, as the lesson's three pads read it

Whoever changes how the lesson makes copies chooses by the hands in CHOSEN_ON, and measures with those in MEASURED_ON.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from autograder.authoring.run_lesson_until import run_lesson_until
from explorers.synthetic_digits import SIDE, digit_strokes, draw_strokes, wobble_stroke
from tests.small_chapter import PROJECT

STAGES = ("as drawn", "cut to its box", "with copies")
LAST_CELL = "train-on-copies"
TIMES = 4  # how often each hand draws the ten digits


@dataclass(frozen=True)
class Hand:
    """A way of writing: sizes are in pixels of the pad, the rest as in `draw_strokes`; 0 is a steady hand."""

    name: str
    height: float = 20.0
    width: float = 12.0
    pen: float = 1.5
    slant: float = 0.0
    turn: float = 0.0
    center: tuple[float, float] = (SIDE / 2, SIDE / 2)
    unsteady: float = 1.0
    is_european: bool = False

    def digits(self, seed: int) -> Tensor:
        """Return the ten digits in order, (10, 32, 32) of 0 and 1; another seed draws them a little differently."""
        chance = torch.Generator().manual_seed(seed)
        return torch.stack([self._drawn(digit, chance) for digit in range(10)])

    def _drawn(self, digit: int, chance: torch.Generator) -> Tensor:
        strokes = EUROPEAN.get(digit) if self.is_european else None
        if strokes is None:
            is_tidy = self.unsteady <= 0.5
            strokes = digit_strokes(digit, 0 if is_tidy else int(torch.randint(2, (), generator=chance)))
        return draw_strokes(
            [wobble_stroke(stroke, chance, self.unsteady) for stroke in strokes],
            height=self.height,
            width=self.width,
            center=self.center,
            slant=self.slant,
            turn=self.turn,
            pen=self.pen,
        )


def _line(*corners: tuple[float, float]) -> Tensor:
    """Return a line through corners, with points close enough together to be bent."""
    steps = torch.linspace(0, 1, 12)[:, None]
    return torch.cat([start + steps * (end - start) for start, end in pairwise(torch.tensor(corners))])


# A 1 with a long upstroke, an open 4, a 7 with a bar, a 9 with a curved foot.
EUROPEAN: Mapping[int, list[Tensor]] = {
    1: [_line((0.0, 0.5), (0.75, 0.0), (0.75, 1.0))],
    4: [_line((0.45, 0.0), (0.0, 0.62), (1.0, 0.62)), _line((0.62, 0.35), (0.62, 1.0))],
    7: digit_strokes(7, 1),
    9: digit_strokes(9, 1),
}
_HANDS = (
    Hand("large and neat", height=27.0, width=17.0, unsteady=0.3),
    Hand("small, in a corner", height=11.0, width=7.0, center=(7.5, 9.0), unsteady=0.8),
    Hand("thin", pen=1.0),
    Hand("thick", width=13.0, pen=2.0),
    Hand("slanted", slant=0.4),
    Hand("European", height=22.0, width=13.0, is_european=True),
    Hand("hasty", height=18.0, width=11.0, slant=0.2, turn=0.1, unsteady=1.8),
    Hand("left-leaning", slant=-0.3),
    Hand("wide", height=16.0, width=19.0),
    Hand("tiny", height=8.0, width=5.0, pen=1.0, center=(18.0, 20.0), unsteady=0.5),
)
CHOSEN_ON, MEASURED_ON = _HANDS[::2], _HANDS[1::2]


def lesson(seed: int, last: str = LAST_CELL) -> dict[str, Any]:
    """Return the variables of chapter 6a, with its own training, after the cell with this name."""
    return run_lesson_until(PROJECT / "course" / "chapters" / "ch06a_your_handwriting.py", last, seed)


def all_drawings() -> Tensor:
    """Return what the ten hands draw, `TIMES` ten digits of each in order: (400, 32, 32)."""
    return torch.cat([hand.digits(seed) for hand in _HANDS for seed in range(TIMES)])


def counts(variables: Mapping[str, Any], stages: int = len(STAGES)) -> dict[str, tuple[float, ...]]:
    """Return how many of ten digits of each hand the first stages of a lesson read, on average over `TIMES`."""
    models = (variables["model"], variables["model"], variables.get("well_read"))[:stages]
    prepares = (variables["count_blocks"], variables["boxed"], variables["boxed"])[:stages]
    labels = torch.arange(10).repeat(TIMES)
    found = {}
    for hand, drawings in zip(_HANDS, all_drawings().split(10 * TIMES), strict=True):
        found[hand.name] = tuple(
            10 * variables["share_right"](model, torch.stack([prepare(each) for each in drawings]), labels)
            for model, prepare in zip(models, prepares, strict=True)
        )
    return found


if __name__ == "__main__":
    print(f"{'':20}" + "".join(f"{stage:>16}" for stage in STAGES))
    for name, read in counts(lesson(int(sys.argv[1]) if len(sys.argv) > 1 else 0)).items():
        print(f"{name:20}" + "".join(f"{count:16.1f}" for count in read))
