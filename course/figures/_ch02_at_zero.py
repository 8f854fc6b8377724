"""The figures of chapter 2 that show gradients at 0: one that is nan, and those of five ways to write relu."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from autograder.notebook.colors import BLUE, INK, ORANGE

from .drawing import new_figure, told

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# five ways to write max(x, 0), by what torch says is their gradient at 0
RELUS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu(x)": torch.relu,
    "where(x > 0, x, 0)": lambda x: torch.where(x > 0, x, 0.0),
    "maximum(x, 0)": lambda x: torch.maximum(x, torch.zeros_like(x)),
    "(x + |x|) / 2": lambda x: (x + x.abs()) / 2,
    "clamp(x, min=0)": lambda x: x.clamp(min=0),
}


def nan_at_zero() -> Figure:
    """Draw sqrt(x) * 0, which is 0 everywhere, and its gradient, which is nan at 0."""
    fig, row = new_figure(1, 2, figsize=(8.5, 2.3))
    x = torch.linspace(0, 1, 21, requires_grad=True)
    y = torch.sqrt(x) * 0
    (gradient,) = torch.autograd.grad(y.sum(), x)
    for ax, name, numbers in zip(row, ("y = sqrt(x) * 0", "its gradient"), (y, gradient), strict=True):
        at_zero = numbers[0].item()
        ax.plot(x.tolist(), numbers.tolist(), color=BLUE, linewidth=2.5)  # leaves a gap at nan
        ax.text(0, 0.35, f"{at_zero:g}", ha="center", fontsize=11, color=INK)
        ax.plot([0], [0], "X" if math.isnan(at_zero) else "o", color=ORANGE, markeredgecolor=INK, markersize=10)
        ax.set(xlim=(-0.1, 1.05), ylim=(-1, 1), xticks=[0, 0.5, 1], yticks=[-1, 0, 1], xlabel="x")
        ax.set_title(name, fontsize=10, color=INK)
    return told(
        fig,
        "Two plots, flat lines at 0. The left one, of the function, begins at x = 0; the right one, of its gradient, "
        "has a cross there, which says nan.",
    )


def relus() -> Figure:
    """Draw the gradient of five spellings of max(x, 0), each with its value at 0."""
    fig, row = new_figure(1, len(RELUS), figsize=(10.5, 2.5))
    for ax, (name, f) in zip(row, RELUS.items(), strict=True):
        for low, high in ((-1.0, -0.01), (0.01, 1.0)):
            x = torch.linspace(low, high, 20, requires_grad=True)
            ax.plot(x.tolist(), torch.autograd.grad(f(x).sum(), x)[0].tolist(), color=BLUE, linewidth=2.5)
        zero = torch.zeros(1, requires_grad=True)
        at_zero = torch.autograd.grad(f(zero).sum(), zero)[0].item()
        ax.plot([0], [at_zero], "o", color=ORANGE, markeredgecolor=INK, markersize=10)
        ax.set(xlim=(-1, 1), ylim=(-0.2, 1.2), xticks=[-1, 0, 1], yticks=[0, 0.5, 1], xlabel="x")
        ax.set_title(f"{name}\nat 0: {at_zero:g}", fontsize=10, color=INK)
    row[0].set_ylabel("gradient")
    return told(
        fig,
        "Five plots of a gradient that is 0 below x = 0 and 1 above. At 0 a dot: 0 for relu and where, one half for "
        "maximum and for (x + |x|) / 2, 1 for clamp.",
    )
