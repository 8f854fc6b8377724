"""Four sets of points in the plane, in two classes, computed from a fixed seed."""

from __future__ import annotations

import math

import torch
from torch import Tensor

POINTS = 200  # of both classes together
Cloud = tuple[Tensor, Tensor]


def make_points(name: str) -> Cloud:
    """Return points, floats (200, 2) between about -1 and 1, and their classes, int64 (200,).

    Raises KeyError for a name that is not in NAMES.
    """
    chance = torch.Generator().manual_seed(0)
    share = torch.linspace(0, 1, POINTS // 2)
    noise = torch.randn(POINTS, 2, generator=chance)
    x, y = _SETS[name](share, noise)
    return torch.stack([x, y], dim=1), torch.arange(2).repeat_interleave(POINTS // 2)


def _moons(share: Tensor, noise: Tensor) -> Cloud:
    """Return two half circles that interlock."""
    angle = math.pi * share
    x = torch.cat([angle.cos() - 0.5, 0.5 - angle.cos()]) * 0.65
    y = torch.cat([angle.sin() - 0.25, 0.25 - angle.sin()]) * 0.8
    return x + 0.05 * noise[:, 0], y + 0.05 * noise[:, 1]


def _circles(share: Tensor, noise: Tensor) -> Cloud:
    """Return a ring around a smaller one."""
    angle = 2 * math.pi * share.repeat(2)
    reach = torch.tensor([0.4, 0.95]).repeat_interleave(len(share)) + 0.05 * noise[:, 0]
    return reach * angle.cos(), reach * angle.sin()


def _spiral(share: Tensor, noise: Tensor) -> Cloud:
    """Return two arms that wind once around each other."""
    reach = (0.1 + 0.9 * share).repeat(2)
    angle = 2.2 * math.pi * share.repeat(2) + torch.tensor([0.0, math.pi]).repeat_interleave(len(share))
    return reach * angle.cos() + 0.02 * noise[:, 0], reach * angle.sin() + 0.02 * noise[:, 1]


def _blobs(share: Tensor, noise: Tensor) -> Cloud:
    """Return two round clouds."""
    middle = torch.tensor([-0.45, 0.45]).repeat_interleave(len(share))
    return middle + 0.18 * noise[:, 0], middle + 0.18 * noise[:, 1]


_SETS = {"two moons": _moons, "circles": _circles, "spiral": _spiral, "blobs": _blobs}
NAMES = tuple(_SETS)
