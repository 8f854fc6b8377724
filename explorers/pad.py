"""The drawing pad's state: strokes, what they blacken of 32 x 32 pixels, and the drawings that were kept."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any
from uuid import uuid4

import torch
from torch import Tensor

from explorers.controls import Control, Refused
from explorers.synthetic_digits import (
    SIDE as SIDE,  # pixels; coordinates are counted in them, from the upper left corner
)
from explorers.synthetic_digits import distances

BRUSHES = {"thin": 2.0, "medium": 3.0, "thick": 4.0}  # pixels
MOST_POINTS = 1000  # of a stroke
MOST_STROKES = 100
MOST_KEPT = 1000
_TIE = 1e-4  # a pixel whose center lies on the edge of the brush is black, whatever the last digit says

_NO_STROKE = "The page sent something that is not a stroke: run the cell again."


@dataclass(frozen=True)
class PenStroke:
    """A line through points (x, y), drawn with a round brush `width` pixels wide. `key` is the same while it grows."""

    key: str
    points: tuple[tuple[float, float], ...]
    width: float


@dataclass(frozen=True)
class KeptDrawing:
    """A drawing that was kept, and the digit that it is. `key` tells it from the others, also in a file."""

    strokes: tuple[PenStroke, ...]
    digit: int
    key: str = field(default_factory=lambda: uuid4().hex)


@dataclass(frozen=True)
class Pad:
    """What stands on the pad, and what was kept. `cleared` is what Undo brings back to an empty pad."""

    strokes: tuple[PenStroke, ...] = ()
    cleared: tuple[PenStroke, ...] = ()
    kept: tuple[KeptDrawing, ...] = ()

    def drawn(self, stroke: PenStroke) -> Pad:
        """The pad with one more stroke, or with its last one grown; Refused where there are too many."""
        before = self.strokes
        if before and before[-1].key == stroke.key:
            before = before[:-1]
        if len(before) >= MOST_STROKES:
            raise Refused(f"The pad holds {MOST_STROKES} strokes at most: undo some, or clear it.")
        return replace(self, strokes=(*before, stroke))

    def undone(self) -> Pad:
        """Without the last stroke, or as it was before it was cleared; Refused where neither can be."""
        if self.strokes:
            return replace(self, strokes=self.strokes[:-1])
        if not self.cleared:
            raise Refused("There is nothing to undo: the pad is empty.")
        return replace(self, strokes=self.cleared, cleared=())

    def emptied(self) -> Pad:
        """Without strokes, until they are brought back."""
        return replace(self, strokes=(), cleared=self.strokes or self.cleared)

    def saved(self, digit: int) -> Pad:
        """The drawing is kept as this digit, and the pad is free for the next."""
        if len(self.kept) >= MOST_KEPT:
            raise Refused(f"The pad keeps {MOST_KEPT:,} drawings at most: take `pad.kept`, and make a new pad.")
        return replace(self.emptied(), kept=(*self.kept, KeptDrawing(self.strokes, digit)))

    def brought_back(self, earlier: Iterable[KeptDrawing]) -> Pad:
        """With drawings of an earlier day before the others, each once; the latest of them where there is no room."""
        known = {each.key for each in self.kept}
        new = [each for each in earlier if each.key not in known]
        room = MOST_KEPT - len(self.kept)
        if room == 0:
            raise Refused(f"The pad keeps {MOST_KEPT:,} drawings at most: take `pad.kept`, and make a new pad.")
        return replace(self, kept=(*new[-room:], *self.kept))

    def taken_back(self) -> Pad:
        """The drawing that was kept last stands on the pad again, and is kept no longer; Undo has the one before it."""
        if not self.kept:
            raise Refused("No drawing is kept yet.")
        return replace(self.emptied(), strokes=self.kept[-1].strokes, kept=self.kept[:-1])


def drawing_of(strokes: tuple[PenStroke, ...]) -> Tensor:
    """Strokes as a float tensor (32, 32): 1 where the center of a pixel was under the brush, 0 elsewhere."""
    black = torch.zeros(SIDE, SIDE, dtype=torch.bool)
    for stroke in strokes:
        black |= _under_brush(stroke)
    return black.float()


@lru_cache(maxsize=2 * MOST_STROKES)
def _under_brush(stroke: PenStroke) -> Tensor:
    """The pixels whose centers are no further from the line than half the brush's width."""
    line = torch.tensor(stroke.points, dtype=torch.float64)
    return distances(line) <= stroke.width / 2 + _TIE


@dataclass(frozen=True)
class Surface(Control):
    """The control to draw on: the page shows the strokes, and sends the one that is being drawn."""

    strokes: tuple[PenStroke, ...] = ()
    width: float = BRUSHES["medium"]
    side: int = field(default=SIDE, init=False)
    most_points: int = field(default=MOST_POINTS, init=False)

    def check(self, value: object) -> Any:
        """The stroke that the page sent, and whether it has come to its end; or Refused."""
        if not isinstance(value, dict) or not isinstance(value.get("ended"), bool):
            raise Refused(_NO_STROKE)
        return stroke_of(value.get("key"), value.get("points"), value.get("width")), value["ended"]


def stroke_of(key: object, points: object, width: object) -> PenStroke:
    """A stroke of what a page or a file says; Refused where it is none."""
    if not isinstance(key, str) or len(key) > 40 or not isinstance(points, list) or not points:
        raise Refused(_NO_STROKE)
    if not isinstance(width, int | float) or width not in BRUSHES.values():
        raise Refused(_NO_STROKE)
    if len(points) > MOST_POINTS:
        raise Refused(f"A stroke has {MOST_POINTS:,} points at most; this one was left out.")
    return PenStroke(key, tuple(map(_point, points)), float(width))


def _point(value: object) -> tuple[float, float]:
    """A point on the pad or near it: a line may leave the pad and come back."""
    if not isinstance(value, list) or len(value) != 2:
        raise Refused(_NO_STROKE)
    x, y = value
    return _coordinate(x), _coordinate(y)


def _coordinate(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused(_NO_STROKE)
    if isinstance(value, float) and not math.isfinite(value):
        raise Refused(_NO_STROKE)
    return round(float(min(max(value, -SIDE), 2 * SIDE)), 2)
