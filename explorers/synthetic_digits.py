"""Digits drawn by code to look like handwriting: one or two strokes, with random variation.

    drawings, labels = drawn_digits(120, seed=0)  # (120, 32, 32) of 0 and 1, and (120,)

A digit is one or two strokes on a unit square, and a stroke is a line through places (across, down), with 0 at the left
and at the top. Random size, position, slant, rotation, wobble and pen width imitate a hand.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

SIDE = 32  # pixels in each row and each column of a drawing
_FINE = 24  # points along an arc


def drawn_digits(n: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return n drawings (n, 32, 32) of 0 and 1, and their labels (n,), each digit equally often."""
    chance = torch.Generator().manual_seed(seed)
    labels = (torch.arange(n) % 10)[torch.randperm(n, generator=chance)]
    drawings = [_by_hand(digit, chance) for digit in labels.tolist()]
    return torch.stack(drawings) if drawings else torch.zeros(0, SIDE, SIDE), labels


def draw_strokes(
    strokes: Sequence[Tensor],
    *,
    height: float = 22.0,
    width: float = 14.0,
    center: tuple[float, float] = (SIDE / 2, SIDE / 2),
    slant: float = 0.0,
    turn: float = 0.0,
    pen: float = 1.5,
) -> Tensor:
    """Draw strokes on the unit square, each (places, 2), on paper of 32 by 32: 1 for ink and 0 for paper.

    Sizes are in pixels. `center` (across, down) is the center of the unit square. A `slant` of 0.2 moves the top to the
    right by a fifth of the height, relative to the foot. `turn` is an angle in radians. The pen blackens every pixel
    whose center is nearer than `pen` to a stroke.
    """
    cos, sin = math.cos(turn), math.sin(turn)
    ink = torch.zeros(SIDE, SIDE, dtype=torch.bool)
    for stroke in strokes:
        x, y = (stroke[:, 0] - 0.5) * width, (stroke[:, 1] - 0.5) * height
        x = x - slant * y
        ink |= (
            distances_to_line(torch.stack([cos * x - sin * y + center[0], sin * x + cos * y + center[1]], dim=1)) < pen
        )
    return ink.float()


def distances_to_line(places: Tensor) -> Tensor:
    """Return the distance of each pixel's center to the polyline through `places`, (n, 2), x before y.

    The result is (32, 32), in the precision of `places`. A single place counts as a line.
    """
    middles = torch.arange(SIDE, dtype=places.dtype) + 0.5
    down, across = torch.meshgrid(middles, middles, indexing="ij")
    paper = torch.stack([across, down], dim=-1)[:, :, None]  # (32, 32, 1, 2)
    ends = places[1:] if len(places) > 1 else places
    start, way = places[: len(ends)], ends - places[: len(ends)]
    share = ((paper - start) * way).sum(-1) / (way**2).sum(-1).clamp(min=1e-9)
    nearest = start + share.clamp(0, 1)[..., None] * way
    apart: Tensor = paper - nearest
    return apart.square().sum(-1).sqrt().amin(dim=2)


# --- a hand


def _by_hand(digit: int, chance: torch.Generator) -> Tensor:
    def between(low: float, high: float) -> float:
        return low + (high - low) * torch.rand((), generator=chance).item()

    way = int(between(0, len(_WAYS[digit])))
    height = between(13.0, 25.0)
    pen = between(1.2, 2.0)
    width = height * between(0.45, 0.72)
    room_across, room_down = ((SIDE - size) / 2 - pen for size in (width, height))
    return draw_strokes(
        [wobble_stroke(stroke, chance) for stroke in digit_strokes(digit, way)],
        height=height,
        width=width,
        center=(SIDE / 2 + between(-0.8, 0.8) * room_across, SIDE / 2 + between(-0.8, 0.8) * room_down),
        slant=between(-0.1, 0.3),
        turn=between(-0.12, 0.12),
        pen=pen,
    )


def wobble_stroke(stroke: Tensor, chance: torch.Generator, unsteady: float = 1.0) -> Tensor:
    """Return a stroke as an unsteady hand draws it: bent by two slow waves, and slightly moved."""
    along = torch.linspace(0, 1, len(stroke))[:, None]
    waves = torch.zeros_like(stroke)
    for frequency in (1, 2):
        size = 0.03 * torch.randn(2, generator=chance)
        waves += size * torch.sin(math.pi * (frequency * along + 2 * torch.rand(2, generator=chance)))
    return stroke + unsteady * (waves + 0.02 * torch.randn(2, generator=chance))


# --- ten digits


@dataclass(frozen=True)
class _Arc:
    """A part of an ellipse; angles in degrees from 0 at the right, growing clockwise, so that 270 is the top."""

    across: float
    down: float
    wide: float
    high: float
    start: float
    end: float

    def places(self) -> list[tuple[float, float]]:
        """Return points along the arc, from its start to its end."""
        turns = [math.radians(self.start + (self.end - self.start) * i / (_FINE - 1)) for i in range(_FINE)]
        return [(self.across + self.wide * math.cos(t), self.down + self.high * math.sin(t)) for t in turns]


_Part = tuple[float, float] | _Arc
_RING = _Arc(0.5, 0.5, 0.5, 0.5, 270, 630)
# For each digit, the ways in which people write it, as strokes of places and arcs. The first way is the tidiest.
_WAYS: tuple[tuple[tuple[tuple[_Part, ...], ...], ...], ...] = (
    (((_RING,),), ((_Arc(0.5, 0.5, 0.5, 0.5, 250, 600),),)),
    ((((0.15, 0.3), (0.55, 0.0), (0.55, 1.0)),), (((0.5, 0.0), (0.5, 1.0)),)),
    (
        ((_Arc(0.5, 0.29, 0.42, 0.29, 190, 390), (0.05, 1.0), (0.95, 1.0)),),
        ((_Arc(0.5, 0.27, 0.4, 0.27, 200, 405), (0.1, 0.95), (0.35, 0.88), (0.95, 1.0)),),
    ),
    (
        ((_Arc(0.45, 0.25, 0.4, 0.25, 200, 450), _Arc(0.45, 0.75, 0.46, 0.25, 270, 520)),),
        (((0.05, 0.0), (0.85, 0.0), (0.4, 0.4), _Arc(0.42, 0.7, 0.48, 0.3, 270, 510)),),
    ),
    (
        (((0.3, 0.0), (0.05, 0.6), (0.95, 0.6)), ((0.7, 0.25), (0.7, 1.0))),
        (((0.7, 1.0), (0.7, 0.0), (0.0, 0.68), (1.0, 0.68)),),
    ),
    (
        (((0.2, 0.0), (0.12, 0.45), _Arc(0.42, 0.68, 0.46, 0.32, 225, 510)), ((0.2, 0.0), (0.9, 0.0))),
        (((0.9, 0.0), (0.2, 0.0), (0.15, 0.42), _Arc(0.42, 0.69, 0.46, 0.31, 230, 505)),),
    ),
    (
        ((_Arc(0.75, 0.62, 0.68, 0.62, 270, 185), _Arc(0.5, 0.7, 0.43, 0.3, 180, -180)),),
        (((0.6, 0.0), (0.2, 0.45), _Arc(0.5, 0.72, 0.42, 0.28, 190, -150)),),
    ),
    (
        (((0.05, 0.0), (0.95, 0.0), (0.4, 1.0)),),
        (((0.05, 0.05), (0.95, 0.0), (0.45, 1.0)), ((0.3, 0.52), (0.95, 0.5))),
    ),
    (
        ((_Arc(0.5, 0.24, 0.36, 0.24, 90, 450), _Arc(0.5, 0.74, 0.46, 0.26, 270, -90)),),
        ((_Arc(0.5, 0.25, 0.38, 0.25, 315, 90), _Arc(0.5, 0.75, 0.45, 0.25, 270, 585), (0.75, 0.08)),),
    ),
    (
        ((_Arc(0.48, 0.29, 0.43, 0.29, 0, -360), (0.8, 1.0)),),
        ((_Arc(0.48, 0.29, 0.42, 0.29, 330, 0), _Arc(0.25, 0.4, 0.66, 0.6, 0, 80)),),
    ),
)


def digit_strokes(digit: int, way: int) -> list[Tensor]:
    """Return the strokes of a digit on the unit square, each as points (places, 2) along a line."""
    return [_finer([place for part in stroke for place in _places(part)]) for stroke in _WAYS[digit][way]]


def _places(part: _Part) -> list[tuple[float, float]]:
    return part.places() if isinstance(part, _Arc) else [part]


def _finer(places: list[tuple[float, float]]) -> Tensor:
    """Return the same line with points close enough together to be bent."""
    fine = [places[0]]
    for start, end in itertools.pairwise(places):
        steps = max(1, round(math.dist(start, end) / 0.08))
        fine += [
            (start[0] + (end[0] - start[0]) * i / steps, start[1] + (end[1] - start[1]) * i / steps)
            for i in range(1, steps + 1)
        ]
    return torch.tensor(fine)
