"""The figure of chapter 5 that shows what one training step costs: the memory it holds, and the time of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import torch
from torch import nn

from autograder.notebook.colors import BLUE, GREEN, GREY, INK, ORANGE, SKY, VERMILION, YELLOW
from course.instruments import milliseconds, saved_bytes

from .drawing import new_figure, told

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# parts of the memory of a step, with Adam -> the color, and how many numbers for each weight
PARTS = {"parameters": (BLUE, 1), "gradients": (SKY, 1), "Adam's state": (GREEN, 2)}
TIMES = {"forward": YELLOW, "backward": VERMILION, "update": GREY}


def memory(sizes: Sequence[int], batches: Sequence[int]) -> Figure:
    """Draw what a step with Adam takes, part by part, for several batch sizes: bytes, and time for each row."""
    model, rows = _network(sizes), list(reversed(batches))
    fig, (left, right) = new_figure(1, 2, figsize=(10.5, 0.5 * len(rows) + 2.0), sharey=True)
    for row, batch in enumerate(rows):
        _bar(left, row, _bytes(model, batch), [*(color for color, _ in PARTS.values()), ORANGE])
        each = [1000 * took / batch for took in step_times(sizes, batch)]
        _bar(right, row, each, list(TIMES.values()))
    left.set(yticks=range(len(rows)), yticklabels=[f"batch of {batch}" for batch in rows], xlabel="MiB held at most")
    right.set_xlabel("microseconds for each row of the batch")
    for ax, title, colors in (
        (left, "where the memory goes", {**{part: color for part, (color, _) in PARTS.items()}, "activations": ORANGE}),
        (right, "where the time goes, on this CPU", TIMES),
    ):
        ax.set_title(title, fontsize=11, loc="left", color=INK)
        ax.set_xlim(right=1.2 * ax.get_xlim()[1])
        _legend(ax, colors)
    return told(
        fig,
        "Two bars for each size of the batch. Left the memory: parameters, gradients and Adam's state are as long in "
        "each bar, and the activations grow with the batch, from a sliver to the longest part. Right the time for "
        "each row, of forward, backward and update: with a small batch the update is a large part of it, and with "
        "a large one it nearly disappears.",
    )


def time_by_batch(sizes: Sequence[int], seconds: Sequence[float]) -> Figure:
    """Draw how long one call took for each size of its batch, beside what it would take at a fixed time for each row.

    Both axes are logarithmic, so that twice as much is the same distance everywhere.
    """
    took = [1e6 * each for each in seconds]
    fig, ax = new_figure(figsize=(6.5, 3.2))
    ax.loglog(
        sizes, [took[-1] * size / sizes[-1] for size in sizes], "--", color=GREY, label="twice the rows, twice the time"
    )
    ax.loglog(sizes, took, "o-", color=VERMILION, label="measured")
    ax.set(xlabel="rows in the batch", ylabel="microseconds for one call", xticks=sizes, xticklabels=sizes)
    ax.minorticks_off()
    ax.legend(frameon=False)
    return told(
        fig,
        "How long one call takes, by the rows in its batch: "
        + ", ".join(f"{size} rows {each:.0f} microseconds" for size, each in zip(sizes, took, strict=True))
        + ". The line is nearly flat at first and bends upward to a straight line on which twice the rows take twice "
        "the time.",
    )


def step_times(sizes: Sequence[int], batch: int) -> tuple[float, float, float]:
    """Milliseconds of the forward pass, the backward pass and Adam's update, of one step on this CPU, at best."""
    model = _network(sizes)
    x = torch.zeros(batch, sizes[0])
    optimizer = torch.optim.Adam(model.parameters())

    def loss() -> torch.Tensor:
        result: torch.Tensor = model(x).sum()
        return result

    torch.autograd.backward(loss())
    forward = milliseconds(loss, rounds=3)
    both = milliseconds(lambda: torch.autograd.backward(loss()), rounds=3)
    return forward, max(both - forward, 0.0), milliseconds(optimizer.step, rounds=3)


def _network(sizes: Sequence[int]) -> nn.Sequential:
    """A network of layers with these sizes; the global generator stays as it was."""
    with torch.random.fork_rng(devices=[]):
        layers = [layer for n, m in pairwise(sizes) for layer in (nn.Linear(n, m), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def _bytes(model: nn.Sequential, batch: int) -> list[float]:
    """Return the MiB of each part of the memory."""
    weights = sum(p.numel() for p in model.parameters())
    return [weights * 4 * count / 2**20 for _, count in PARTS.values()] + [_activations(model, batch) / 2**20]


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
    ax.legend(handles=handles, loc="best", fontsize=8)
