"""The state of the drawing pad: strokes, the 32 x 32 pixels that they blacken, and saved drawings."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any
from uuid import uuid4

import torch
from torch import Tensor

from explorers.explorer_controls import Control, InvalidChoice
from explorers.synthetic_digits import (
    SIDE as SIDE,  # pixels on a side; coordinates are in pixels from the upper left corner
)
from explorers.synthetic_digits import distances_to_line

BRUSHES = {"thin": 2.0, "medium": 3.0, "thick": 4.0}  # pixels
MOST_POINTS = 1000  # points in one stroke
MOST_STROKES = 100
MOST_KEPT = 1000
_TIE = 1e-4  # pixels; keeps a pixel whose center is on the brush's edge black despite rounding

_NO_STROKE = "The page sent something that is not a stroke: run the cell again."


@dataclass(frozen=True)
class PenStroke:
    """A line through points (x, y), drawn with a round brush `width` pixels wide. `key` stays the same as it grows."""

    key: str
    points: tuple[tuple[float, float], ...]
    width: float


@dataclass(frozen=True)
class KeptDrawing:
    """A saved drawing and its digit. `key` identifies it, also in a file."""

    strokes: tuple[PenStroke, ...]
    digit: int
    key: str = field(default_factory=lambda: uuid4().hex)


@dataclass(frozen=True)
class Pad:
    """The strokes on the pad, and the saved drawings. On an empty pad, Undo restores `cleared`."""

    strokes: tuple[PenStroke, ...] = ()
    cleared: tuple[PenStroke, ...] = ()
    kept: tuple[KeptDrawing, ...] = ()

    def drawn(self, stroke: PenStroke) -> Pad:
        """Return the pad with one more stroke, or with its last one grown; raise Refused if there are too many."""
        before = self.strokes
        if before and before[-1].key == stroke.key:
            before = before[:-1]
        if len(before) >= MOST_STROKES:
            raise InvalidChoice(f"The pad holds {MOST_STROKES} strokes at most: undo some, or clear it.")
        return replace(self, strokes=(*before, stroke))

    def undone(self) -> Pad:
        """Return the pad without its last stroke, or as it was before it was cleared; raise Refused if it is empty."""
        if self.strokes:
            return replace(self, strokes=self.strokes[:-1])
        if not self.cleared:
            raise InvalidChoice("There is nothing to undo: the pad is empty.")
        return replace(self, strokes=self.cleared, cleared=())

    def emptied(self) -> Pad:
        """Return the pad without strokes; Undo can restore them."""
        return replace(self, strokes=(), cleared=self.strokes or self.cleared)

    def saved(self, digit: int) -> Pad:
        """Return an empty pad, with the drawing saved as this digit."""
        if len(self.kept) >= MOST_KEPT:
            raise InvalidChoice(f"The pad keeps {MOST_KEPT:,} drawings at most: take `pad.kept`, and make a new pad.")
        return replace(self.emptied(), kept=(*self.kept, KeptDrawing(self.strokes, digit)))

    def brought_back(self, earlier: Iterable[KeptDrawing]) -> Pad:
        """Return the pad with earlier drawings before the others, each once; only the latest if there is no room."""
        known = {each.key for each in self.kept}
        new = [each for each in earlier if each.key not in known]
        room = MOST_KEPT - len(self.kept)
        if room == 0:
            raise InvalidChoice(f"The pad keeps {MOST_KEPT:,} drawings at most: take `pad.kept`, and make a new pad.")
        return replace(self, kept=(*new[-room:], *self.kept))

    def taken_back(self) -> Pad:
        """Return the pad with the last saved drawing on it again, no longer saved."""
        if not self.kept:
            raise InvalidChoice("No drawing is kept yet.")
        return replace(self.emptied(), strokes=self.kept[-1].strokes, kept=self.kept[:-1])


def rasterize_strokes(strokes: tuple[PenStroke, ...]) -> Tensor:
    """Return strokes as a float tensor (32, 32): 1 where the center of a pixel was under the brush, 0 elsewhere."""
    black = torch.zeros(SIDE, SIDE, dtype=torch.bool)
    for stroke in strokes:
        black |= _under_brush(stroke)
    return black.float()


@lru_cache(maxsize=2 * MOST_STROKES)
def _under_brush(stroke: PenStroke) -> Tensor:
    """Return the pixels whose centers are at most half the brush's width from the line."""
    line = torch.tensor(stroke.points, dtype=torch.float64)
    return distances_to_line(line) <= stroke.width / 2 + _TIE


@dataclass(frozen=True)
class DrawingCanvas(Control):
    """The drawing control: the page shows the strokes, and sends the stroke that the reader is drawing."""

    strokes: tuple[PenStroke, ...] = ()
    width: float = BRUSHES["medium"]
    side: int = field(default=SIDE, init=False)
    most_points: int = field(default=MOST_POINTS, init=False)

    def check(self, value: object) -> Any:
        """Return the stroke that the page sent, and whether it has ended; raise Refused for anything else."""
        if not isinstance(value, dict) or not isinstance(value.get("ended"), bool):
            raise InvalidChoice(_NO_STROKE)
        return parse_stroke(value.get("key"), value.get("points"), value.get("width")), value["ended"]


def parse_stroke(key: object, points: object, width: object) -> PenStroke:
    """Return the stroke that a page or a file describes; raise Refused if it describes none."""
    if not isinstance(key, str) or len(key) > 40 or not isinstance(points, list) or not points:
        raise InvalidChoice(_NO_STROKE)
    if not isinstance(width, int | float) or width not in BRUSHES.values():
        raise InvalidChoice(_NO_STROKE)
    if len(points) > MOST_POINTS:
        raise InvalidChoice(f"A stroke has {MOST_POINTS:,} points at most; this one was left out.")
    return PenStroke(key, tuple(map(_point, points)), float(width))


def _point(value: object) -> tuple[float, float]:
    """Return a point on the pad or near it, since a line may leave the pad and come back."""
    if not isinstance(value, list) or len(value) != 2:
        raise InvalidChoice(_NO_STROKE)
    x, y = value
    return _coordinate(x), _coordinate(y)


def _coordinate(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidChoice(_NO_STROKE)
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidChoice(_NO_STROKE)
    return round(float(min(max(value, -SIDE), 2 * SIDE)), 2)
