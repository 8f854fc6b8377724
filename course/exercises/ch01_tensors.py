"""The exercises of chapter 1: those that compute something; `_ch01_memory` holds the others.

The cases are chosen so that each known wrong answer shows something that no other answer shows: no square
shapes where a dim could be mistaken (and square ones where only a mistake gets through), dims from both ends,
batches of one, empty mask rows, nan under the mask, points far from the origin.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case
from autograder.watching.probe import calling, in_part
from autograder.watching.rules import no_loops

from . import _ch01_probes as probes
from ._ch01_cases import (
    far_points,
    mask_with_both,
    near_points,
    same_in_rows_and_columns,
    shifted_columns,
)
from ._ch01_hints import HINTS
from ._ch01_memory import EXERCISES

__all__ = ["EXERCISES"]

_UNCHANGED = "leaves x as it is"
_watching_x = in_part({_UNCHANGED: calling()}, otherwise=probes.result_only)


@EXERCISES.add("standardize", tier="core", hints=HINTS["standardize"], probe=_watching_x)
def standardize(draw: Draw) -> Iterator[Case]:
    """Center and scale along one dim."""
    n, d, k = draw.sizes(3, 3, 7)
    yield Case("works along dim 0", shifted_columns(draw, n, d), dim=0, eps=1e-5)
    yield Case("works along dim 1", shifted_columns(draw, n, d), dim=1, eps=1e-5)
    yield Case("works along dim 1", shifted_columns(draw, d, d), dim=1, eps=1e-5)
    for dim in (1, -2, -1):
        yield Case("works along any dim of a 3-D tensor", shifted_columns(draw, n, d, k), dim=dim, eps=1e-5)
    constant = shifted_columns(draw, n, d)
    constant[:, draw.whole(0, d - 1)] = 2.0
    yield Case("gives 0 where all numbers are equal", constant, dim=0, eps=1e-5)
    yield Case("adds eps to the variance", shifted_columns(draw, n, d), dim=0, eps=draw.real(0.5, 2.0))
    yield Case(_UNCHANGED, shifted_columns(draw, n, d), dim=0, eps=1e-5)


@EXERCISES.add("add_bias", tier="warm-up", hints=HINTS["add_bias"], probe=_watching_x, rules=(no_loops,))
def add_bias(draw: Draw) -> Iterator[Case]:
    """Give every channel its own bias."""
    batch, length, channels = draw.sizes(3, 4, 7)
    any_number, alike = "works for any number of channels", "works where batch, channels and length are equal"
    yield Case("adds to each channel its own bias", draw.normal(batch, 3, length), draw.normal(3))
    yield Case(any_number, draw.normal(batch, channels, length), draw.normal(channels))
    yield Case(alike, draw.normal(length, length, length), draw.normal(length))
    yield Case(_UNCHANGED, draw.normal(batch, 3, length), draw.normal(3))


_NOT_NEGATIVE = "gives no negative distance, equal rows or not"


@EXERCISES.add(
    "pairwise_sq_dists",
    tier="core",
    hints=HINTS["pairwise_sq_dists"],
    probe=in_part({_NOT_NEGATIVE: probes.negative}, otherwise=calling()),
    rules=(no_loops,),
    tells={"negative": "Some of your distances are below 0. What does your formula give for two equal rows?"},
)
def pairwise_sq_dists(draw: Draw) -> Iterator[Case]:
    """Measure every row of one set against every row of the other."""
    n, m, d = draw.sizes(3, 2, 6)
    yield Case("compares every row of a with every row of b", draw.normal(n, d), draw.normal(m, d))
    yield Case("works for equally many rows", draw.normal(n, d), draw.normal(n, d))
    yield Case("stays accurate far from the origin", *far_points(draw, 9, 8))
    # From 26 points on, torch.cdist uses the expanded square unless it is told not to.
    yield Case("stays accurate far from the origin for many points", *far_points(draw, 30, 28))
    # Of so many, an expanded square is sure to put some below 0.
    yield Case(_NOT_NEGATIVE, *near_points(draw, 200, 7))


@EXERCISES.add("masked_mean", tier="core", hints=HINTS["masked_mean"], probe=_watching_x)
def masked_mean(draw: Draw) -> Iterator[Case]:
    """Average what a mask keeps."""
    n, d, k = draw.sizes(3, 3, 7)
    x, mask = shifted_columns(draw, n, d), mask_with_both(draw, n, d)
    yield Case("averages the entries that the mask keeps", x, mask, dim=1)
    yield Case("works along any dim", shifted_columns(draw, n, d), mask_with_both(draw, n, d), dim=0)
    for dim in (1, -1, -3):
        yield Case("works along any dim", shifted_columns(draw, n, d, k), mask_with_both(draw, n, d, k), dim=dim)
    empty = mask_with_both(draw, n, d)
    empty[draw.whole(0, n - 1)] = False
    yield Case("gives 0 where nothing is kept", x, empty, dim=1)
    for unwanted in (torch.nan, torch.inf):
        spoiled = torch.where(mask, x, unwanted)
        yield Case("does not mind nan or inf in what is left out", spoiled, mask, dim=1)
    yield Case(_UNCHANGED, x, mask, dim=1)


_PRODUCTS = {
    "product": "product: each a times its b",
    "gram": "gram: each a times its own transpose",
    "applied": "applied: each a times its v",
    "total": "total: the sum of the products over the batch",
}


@EXERCISES.add(
    "batched_einsum",
    tier="core",
    hints=HINTS["batched_einsum"],
    probe=in_part(
        {requirement: probes.entry(key) for key, requirement in _PRODUCTS.items()},
        otherwise=probes.flat_entries,
    ),
)
def batched_einsum(draw: Draw) -> Iterator[Case]:
    """Multiply batches of matrices and vectors."""
    for _ in range(2):
        yield Case("returns the four entries, right for 1 by 1 matrices", *_operands(draw, 1, 1, 1, 1))
    for requirement in _PRODUCTS.values():
        batch, n, k, m = draw.sizes(4, 2, 6)
        yield Case(requirement, *_operands(draw, batch, n, k, m))
        yield Case(requirement, *_operands(draw, 1, n, k, m))


def _operands(draw: Draw, batch: int, n: int, k: int, m: int) -> tuple[torch.Tensor, ...]:
    return draw.normal(batch, n, k), draw.normal(batch, k, m), draw.normal(batch, k)


_FINITE = "stays finite for large numbers and for rows far apart"
_GRADIENT = "lets the gradient through"


@EXERCISES.add(
    "softmax_stable",
    tier="stretch",
    hints=HINTS["softmax_stable"],
    probe=in_part({_UNCHANGED: calling(), _GRADIENT: calling(grad=True)}, otherwise=probes.result_only),
    rules=(probes.no_softmax,),
)
def softmax_stable(draw: Draw) -> Iterator[Case]:
    """Write a softmax that cannot overflow."""
    n, d, k = draw.sizes(3, 4, 7)
    yield Case("gives shares that add up to 1 along dim 1", draw.normal(n, d), dim=1)
    for x, dim in ((draw.normal(n, d), 0), (draw.normal(k, n, d), 1), (draw.normal(k, n, d), -2)):
        yield Case("works along any dim", x, dim=dim)
    yield Case("works along any dim", draw.normal(d, d), dim=-1)
    large = draw.normal(n, d)
    large[:, :2] += 1000.0
    large[:, 2] -= 1000.0
    yield Case(_FINITE, large, dim=1)
    apart = draw.normal(n, d)
    apart[draw.whole(0, n - 1)] -= 500.0
    yield Case(_FINITE, apart, dim=1)
    yield Case(_GRADIENT, draw.normal(n, d), dim=1)
    # So small that the weights of the gradient, 1, 2, 3, ..., lose no digits against one another along another dim.
    yield Case(_GRADIENT, draw.normal(*draw.sizes(3, 2, 4)), dim=0)
    yield Case(_UNCHANGED, draw.normal(n, d), dim=1)


_PRECISION = {
    "moves": "moves: does 1 + step differ from 1 in bfloat16?",
    "survives": "survives: is tiny other than 0 in float16?",
    "counted": "counted: 0 plus 1, count times, in bfloat16",
    "averaged": "averaged: (n,) meets (n, 1)",
}


@EXERCISES.add(
    "precision_lab",
    tier="core",
    hints=HINTS["precision_lab"],
    probe=in_part(
        {requirement: probes.entry(key) for key, requirement in _PRECISION.items()},
        otherwise=probes.entry(*_PRECISION),
    ),
)
def precision_lab(draw: Draw) -> Iterator[Case]:
    """Find out what 16 bits can hold, and what a loss averages."""
    easy = "returns the four facts, right for easy numbers"
    yield Case(easy, draw.real(0.5, 2.0), 0.5, draw.whole(2, 9), 1)
    yield Case(easy, 0.0, 0.0, draw.whole(10, 99), 1)
    # Steps on both sides of what bfloat16, float16 and half an eps can tell apart, away from the ties.
    for low, high in ((2.2e-3, 3.5e-3), (4.5e-3, 7e-3), (2e-5, 3e-4), (0.01, 0.5)):
        yield Case(_PRECISION["moves"], draw.real(low, high), 1.0, 3, 2)
    for low, high in ((1e-9, 2e-8), (1e-7, 5e-5), (3.5e-8, 5.5e-8), (1e-4, 1e-2)):
        yield Case(_PRECISION["survives"], 1.0, draw.real(low, high), 3, 2)
    # Odd counts: below 256, below 512 and beyond what float16 can count.
    for least, most in ((5, 99), (150, 250), (1050, 1490)):
        yield Case(_PRECISION["counted"], 1.0, 1.0, 2 * draw.whole(least, most) + 1, 2)
    for n in draw.sizes(2, 3, 9):
        yield Case(_PRECISION["averaged"], 1.0, 1.0, 3, n)


@EXERCISES.add("linear_mse", tier="core", hints=HINTS["linear_mse"], probe=_watching_x)
def linear_mse(draw: Draw) -> Iterator[Case]:
    """Find three bugs."""
    n, d = draw.sizes(2, 4, 7)
    # One bug at a time: where rows and columns hold the same numbers the wrong dim does no harm, and where
    # all targets are equal comparing each prediction with all of them does none.
    for size in (n, d):
        x = same_in_rows_and_columns(draw, size)
        yield Case("compares each prediction with its own target", x, draw.normal(size, 1), draw.normal(size))
    level = draw.real(1.0, 3.0)
    for rows, cols in ((n, d), (d, n)):
        x, targets = shifted_columns(draw, rows, cols), torch.full((rows,), level)
        yield Case("standardizes each column", x, draw.normal(cols, 1), targets)
    yield Case(_UNCHANGED, same_in_rows_and_columns(draw, n), draw.normal(n, 1), torch.full((n,), level))
    for rows in (n, 3 * n):
        x = shifted_columns(draw, rows, d)
        yield Case("gives the loss of any data", x, draw.normal(d, 1), draw.normal(rows))
