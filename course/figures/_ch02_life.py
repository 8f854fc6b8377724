"""The figure of chapter 2 that shows what a small graph holds, from the forward pass until nothing leads to it."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import torch

from autograder.notebook.colors import INK, NO_COLOR, SKY, TINT

from ..instruments import saved_tensors
from .drawing import blank, box, finish

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
