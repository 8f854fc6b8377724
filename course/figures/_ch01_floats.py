"""The two halves of chapter 1's picture of floats: the numbers near 1, and the gaps between numbers of every size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from autograder.notebook.colors import BLUE, GREEN, GREY, INK, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (
    (torch.float32, BLUE, "-"),
    (torch.float16, VERMILION, "--"),
    (torch.bfloat16, GREEN, ":"),
)
REACH = 0.03  # how far from 1 numbers are drawn
_SIZES = torch.logspace(-8, 8, 161).tolist()


def ticks_near_one(ax: Axes) -> None:
    """Draw a row of ticks for each format, with the number after 1 written over it."""
    for row, (dtype, color, _) in enumerate(reversed(FORMATS)):
        low, high, words = row - 0.22, row + 0.22, "each tick is a number"
        if dtype == torch.float32:
            ax.fill_between([1 - REACH, 1 + REACH], low, high, color=color)
            words = "too many ticks to draw"
        else:
            ax.vlines(_neighbors_of_one(dtype, REACH), low, high, color=color, linewidth=1.1)
        words = f"{name_of(dtype)}: 1, then {1 + gap_after(1.0, dtype):.9g}  ({words})"
        ax.text(1 - REACH, row + 0.28, words, fontsize=10, va="bottom", color=INK)
    ax.set(ylim=(-0.45, len(FORMATS) - 0.4), yticks=[], xlabel="number")
    ax.set_xticks([0.97, 0.98, 0.99, 1.0, 1.01, 1.02, 1.03])
    ax.set_title("The numbers that each format has near 1", fontsize=12, loc="left", color=INK)
    ax.spines[["left", "right", "top"]].set_visible(False)


def dots_on_a_line(ax: Axes, first: int, last: int) -> None:
    """Draw a line with the whole numbers from first to last, and on it a dot for each number that bfloat16 has."""
    ax.hlines(0, first - 0.6, last + 0.6, color=GREY, linewidth=1)
    ax.vlines(range(first, last + 1), -0.1, 0.1, color=GREY, linewidth=1)
    there = [n for n in range(first, last + 1) if torch.tensor(float(n)).to(torch.bfloat16).item() == n]
    ax.plot(there, [0] * len(there), "o", color=GREEN, markersize=9, clip_on=False)
    ax.set(ylim=(-0.2, 0.3), yticks=[], xticks=range(first, last + 1), xlim=(first - 0.6, last + 0.6))
    ax.tick_params(axis="x", length=0)
    ax.spines[["left", "right", "top", "bottom"]].set_visible(False)


def gaps_by_size(ax: Axes) -> None:
    """Draw the gap to the next number for every size of number, a line for each format."""
    for dtype, color, line in FORMATS:
        points = [(value, gap) for value in _SIZES if (gap := gap_after(value, dtype)) < float("inf")]
        ax.loglog(*zip(*points, strict=True), line, color=color, linewidth=2.2)
        beside = (points[-1][0] * 1.6, points[-1][1])
        ax.text(*beside, name_of(dtype), va="center", fontsize=10, color=INK)
    ax.set(xlabel="number (each line is 10,000 times the one before)", ylabel="gap to the next number")
    ax.set_xticks([10.0**power for power in range(-8, 9, 4)])
    ax.set_title("Larger numbers stand farther apart", fontsize=12, loc="left", color=INK)
    ax.spines[["right", "top"]].set_visible(False)
    ax.grid(color=GREY, linewidth=0.5, alpha=0.5)


def _neighbors_of_one(dtype: torch.dtype, reach: float) -> list[float]:
    """Return every number of a format of 16 bits within reach of 1."""
    bits = torch.arange(2**15, dtype=torch.int32).to(torch.int16)
    values = bits.view(dtype).to(torch.float64)
    return values[(values - 1).abs() <= reach].tolist()


def gap_after(value: float, dtype: torch.dtype) -> float:
    """Return the distance from the number nearest to value to the next larger one, inf beyond the range."""
    here = torch.tensor([value], dtype=dtype)
    bits = here.view(torch.int32 if dtype == torch.float32 else torch.int16)
    after = (bits + 1).view(dtype)
    gap = float(after.double() - here.double())
    return float("inf") if math.isnan(gap) else gap


def name_of(dtype: torch.dtype) -> str:
    """Return `float32` for torch.float32."""
    return str(dtype).removeprefix("torch.")
