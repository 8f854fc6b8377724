"""Inputs of chapter 1 that are made to bring a mistake to light."""

from __future__ import annotations

import torch

from autograder.watching.draw import Draw


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


def far_points(draw: Draw, n: int, m: int) -> tuple[torch.Tensor, torch.Tensor]:
    """n and m points far from the origin, whose squared distances an expanded square gets wrong, everywhere alike.

    In units: a = (8192 + k, 4p, 4q) and b = (8192, 4r, 4s). For these k, float32 rounds (8192 + k)**2, which is
    2**26 + 16384k + k*k, down to a multiple of 16; every other number of the expanded square is one already and below
    2**28, so no processor, in whatever order it adds, rounds again. k*k is 1, 4, 36 or 49, and comes out as 0, 0, 32 or
    48; what p, q, r and s contribute is right.
    """
    a, b = (4.0 * draw.ints(-1, 2, count, 3).float() for count in (n, m))
    a[:, 0] = 8192.0 + torch.tensor([1.0, 2.0, 6.0, 7.0])[draw.ints(0, 4, n)]
    b[:, 0] = 8192.0
    unit = draw.choice([-1, 1]) * 2.0 ** draw.whole(-2, 2)
    return unit * a, unit * b


def near_points(draw: Draw, n: int, d: int) -> tuple[torch.Tensor, torch.Tensor]:
    """n points, and the same in another order, every other one moved by less than float32 holds of its square."""
    points = draw.normal(n, d)
    moved = points.flip(0)
    moved[::2] += 1e-5 * draw.normal(*moved[::2].shape)
    return points, moved
