"""A figure of chapter 4: the gradient of two parameters, and what clipping leaves of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from autograder.notebook.colors import BLUE, GREY, INK, VERMILION

from .drawing import new_figure, told

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def clipped(gradient: tuple[float, float], max_norm: float) -> Figure:
    """Draw the gradient of two parameters as an arrow, and the part of it that clipping to `max_norm` leaves."""
    norm = math.hypot(*gradient)
    a, b = (each * min(1.0, max_norm / norm) for each in gradient)
    fig, ax = new_figure(figsize=(4.6, 4.0))
    turns = [2 * math.pi * step / 200 for step in range(201)]
    ax.plot([max_norm * math.cos(t) for t in turns], [max_norm * math.sin(t) for t in turns], color=GREY)
    _arrow(ax, gradient, BLUE, f"before: length {norm:g}")
    _arrow(ax, (a, b), VERMILION, f"clipped: length {math.hypot(a, b):g}")
    reach = 1.15 * max(*gradient, max_norm)
    ax.set(xlabel="gradient of a", ylabel="gradient of b", aspect="equal")
    ax.set(xlim=(-1.3 * max_norm, reach), ylim=(-1.3 * max_norm, reach))
    ax.legend(fontsize=9, loc="upper left")
    return told(
        fig,
        f"An arrow from 0 to ({gradient[0]:g}, {gradient[1]:g}), and in the same direction a shorter one to "
        f"({a:.2g}, {b:.2g}), which ends on a circle of radius {max_norm:g}.",
    )


def _arrow(ax: Axes, to: tuple[float, float], color: str, words: str) -> None:
    ax.plot([0, to[0]], [0, to[1]], color=color, linewidth=2.5, label=words)
    ax.plot([to[0]], [to[1]], marker="o", color=color, markeredgecolor=INK, markersize=7)
