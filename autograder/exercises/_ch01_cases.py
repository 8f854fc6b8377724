"""Inputs of chapter 1 that are made to bring a mistake to light."""

from __future__ import annotations

import torch

from autograder.exercise import Draw


def shifted_columns(draw: Draw, *shape: int) -> torch.Tensor:
    """Numbers whose slices have means and spreads of their own along every dim; each size is at least 2.

    No mean is far above its spread, so that any formula for the variance keeps its digits.
    """
    noise, shift = draw.uniform(*shape, low=-0.5, high=0.5), torch.zeros(shape)
    for dim, size in enumerate(shape):
        steps = torch.linspace(0, 1, size).reshape(-1, *[1] * (len(shape) - dim - 1))
        noise, shift = noise * (1 + steps / 2), shift + 4 * steps - 2
    return noise + shift


def mask_with_both(draw: Draw, *shape: int) -> torch.Tensor:
    """A bool mask with True and False in every slice along each dim; each size is at least 3."""
    diagonal = torch.zeros(shape, dtype=torch.int64)
    for dim, size in enumerate(shape):
        diagonal += torch.arange(size).reshape(-1, *[1] * (len(shape) - dim - 1))
    diagonal %= min(shape)
    mask = draw.bools(*shape)
    mask[diagonal == 0] = True
    mask[diagonal == 1] = False
    return mask


def labels_with_all(draw: Draw, k: int) -> torch.Tensor:
    """Labels in a drawn order, each of 0..k-1 at least once."""
    labels = list(range(k)) + [draw.whole(0, k - 1) for _ in range(draw.whole(1, 3))]
    order = torch.argsort(draw.uniform(len(labels)))
    return torch.tensor(labels)[order]


def same_in_rows_and_columns(draw: Draw, size: int) -> torch.Tensor:
    """A (size, size) tensor each of whose rows and columns holds the same numbers in another order."""
    numbers = draw.normal(size) * 2 + torch.arange(size)
    index = torch.arange(size)
    return numbers[(index[:, None] + index) % size]
