"""Figures of chapter 5 that show what training costs by the size of the batch: memory, and time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import torch
from torch import nn

from autograder.notebook.colors import BLUE, GREEN, GREY, INK, ORANGE, SKY
from course.instruments import saved_bytes

from .drawing import new_figure, told

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# parts of the memory of a step, with Adam -> the color, and how many numbers for each weight
PARTS = {"weights": (BLUE, 1), "gradients": (SKY, 1), "Adam's state": (GREEN, 2)}


def memory(sizes: Sequence[int], batches: Sequence[int]) -> Figure:
    """Draw what a training step with Adam holds in memory, part by part, for several sizes of the batch."""
    model, rows = _network(sizes), list(reversed(batches))
    colors = {part: color for part, (color, _) in PARTS.items()} | {"activations": ORANGE}
    fig, ax = new_figure(figsize=(8.5, 0.5 * len(rows) + 1.6))
    for row, batch in enumerate(rows):
        _bar(ax, row, _bytes(model, batch), list(colors.values()))
    ax.set(yticks=range(len(rows)), yticklabels=[f"batch of {batch}" for batch in rows])
    ax.set_xlabel("megabytes held at most")
    ax.set_xlim(right=1.2 * ax.get_xlim()[1])
    _legend(ax, colors)
    return told(
        fig,
        "One bar for each size of the batch. Weights, gradients and Adam's state are as long in each bar, and the "
        "activations grow with the batch, from a sliver to the longest part.",
    )


def time_by_batch(batches: Sequence[int], seconds: Sequence[float]) -> Figure:
    """Draw how long an epoch takes for each size of its batches. Both axes are logarithmic."""
    fig, ax = new_figure(figsize=(6.5, 3.2))
    ax.loglog(batches, [1000 * each for each in seconds], "o-", color=BLUE)
    ax.set(xlabel="digits in a batch", ylabel="milliseconds for an epoch", xticks=batches, xticklabels=batches)
    ax.grid(axis="y", color=GREY, linewidth=0.5)
    ax.minorticks_off()
    took = ", ".join(f"{batch}: {1000 * each:.1f}" for batch, each in zip(batches, seconds, strict=True))
    return told(fig, f"Milliseconds for an epoch by the digits in a batch; it falls, and then flattens. {took}.")


def _network(sizes: Sequence[int]) -> nn.Sequential:
    """A network of layers with these sizes; the global generator stays as it was."""
    with torch.random.fork_rng(devices=[]):
        layers = [layer for n, m in pairwise(sizes) for layer in (nn.Linear(n, m), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def _bytes(model: nn.Sequential, batch: int) -> list[float]:
    """Return the megabytes of each part of the memory."""
    weights = sum(p.numel() for p in model.parameters())
    return [weights * 4 * count / 1e6 for _, count in PARTS.values()] + [_activations(model, batch) / 1e6]


def _activations(model: nn.Sequential, batch: int) -> int:
    """Return the bytes that a batch saves for backward, without the weights, which are there anyway."""
    first = next(layer for layer in model if isinstance(layer, nn.Linear))
    return saved_bytes(lambda: model(torch.zeros(batch, first.in_features)), without=model.parameters())


def _bar(ax: Axes, row: int, parts: Sequence[float], colors: Sequence[str]) -> None:
    """Draw one bar of several parts, with their sum behind it."""
    end = 0.0
    for part, color in zip(parts, colors, strict=True):
        ax.barh(row, part, left=end, color=color, edgecolor=INK)
        end += part
    ax.text(end, row, f" {end:.1f}", va="center", fontsize=10, color=INK)


def _legend(ax: Axes, colors: dict[str, str]) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=color, edgecolor=INK, label=part) for part, color in colors.items()]
    ax.legend(handles=handles, loc="upper right", frameon=False)
