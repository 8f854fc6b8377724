"""Figures of chapter 2 that show what a small graph holds, and for how long."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import torch

from autograder.notebook.colors import INK, NO_COLOR, ORANGE, SKY, TINT

from ..instruments import saved_tensors
from .drawing import blank, box, caption, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINES = ("y = x ** 2", "y.backward()", "y = 0")


def life() -> Figure:
    """Draw whether the graph of a square is there, and how much it has saved, after each of three lines."""
    width, between = 4.2, 1.2
    fig, ax = blank(width=3 * width + 2 * between, height=3.2)
    for number, (line, (is_there, saved)) in enumerate(zip(LINES, _states(), strict=True)):
        left = number * (width + between)
        ax.text(left + width / 2, 3.0, line, ha="center", va="center", fontsize=12, family="monospace", color=INK)
        box(ax, left, 1.4, "the square" if is_there else "gone", TINT if is_there else NO_COLOR, width=width)
        words = f"saved: x = {saved[0]:g}" if saved else "nothing saved"
        box(ax, left, 0.4, words, SKY if saved else NO_COLOR, width=width)
    return finish(
        fig,
        "What is left of a graph after each line",
        "Three stages. After y = x ** 2 there is a node, the square, and it has saved x, which is 2. After backward "
        "the node is there and holds nothing. After y has become something else, the node is gone too.",
    )


def saved_by() -> Figure:
    """Draw which tensor a square and an exponential save, and what `y += 1` does to it."""
    fig, ax = blank(width=17.5, height=4.6)
    no_harm, an_error = "y += 1 does no harm:\nx is saved, not y", "y += 1 changes what\nis saved: an error"
    for line, saved, color, words, y in (
        ("y = x ** 2", "x", SKY, no_harm, 2.6),
        ("y = x.exp()", "y", ORANGE, an_error, 0.4),
    ):
        ax.text(0.0, y + 0.5, line, va="center", fontsize=12, family="monospace", color=INK)
        box(ax, 4.6, y, "x", SKY, width=1.6)
        box(ax, 7.4, y, f"saved: {saved}", color, width=3.2)
        box(ax, 11.8, y, "y", ORANGE, width=1.6)
        for start, end in ((6.2, 7.4), (10.6, 11.8)):
            ax.annotate("", (end, y + 0.5), (start, y + 0.5), arrowprops={"arrowstyle": "->", "color": INK})
        caption(ax, 13.8, y + 0.5, words)
    return finish(
        fig,
        "The square saves its x, exp saves its y",
        "Two rows. In the upper one a square has saved x, and adding to y in place does no harm. In the lower one exp "
        "has saved its own result y, and adding to y in place changes it, which is an error.",
    )


def _states() -> list[tuple[bool, list[float]]]:
    """After each line: is the graph there, and which numbers has it saved? The graph alone holds the leaf."""
    with saved_tensors() as alive:
        x = torch.tensor(2.0, requires_grad=True)
        leaf, kept = weakref.ref(x), [x**2]
        del x

        def state() -> tuple[bool, list[float]]:
            return leaf() is not None, [each.tensor.item() for each in alive]

        forward = state()
        torch.autograd.backward(kept)
        backward = state()
        kept.clear()
        return [forward, backward, state()]
