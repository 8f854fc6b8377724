"""Inputs that are made to bring a mistake to light, for exercises of several chapters."""

from __future__ import annotations

import torch

from autograder.exercises.seeded_draw import Draw


def shifted_columns(draw: Draw, *shape: int) -> torch.Tensor:
    """Numbers whose slices have means and spreads of their own along every dim; each size is at least 2.

    No mean is far above its spread, so that any formula for the variance keeps its digits.
    """
    noise, shift = draw.uniform(*shape, low=-0.5, high=0.5), torch.zeros(shape)
    for dim, size in enumerate(shape):
        steps = torch.linspace(0, 1, size).reshape(-1, *[1] * (len(shape) - dim - 1))
        noise, shift = noise * (1 + steps / 2), shift + 4 * steps - 2
    return noise + shift
