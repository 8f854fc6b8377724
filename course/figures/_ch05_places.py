"""The figure of chapter 5 that shows two devices: each with a memory of its own, and arrows between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.notebook.colors import INK, NO_COLOR, ORANGE, SKY

from .drawing import blank, box, caption, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 6.0, 4.2  # of a device


def places() -> Figure:
    """Draw the CPU with its memory, a card with its own, and what goes from one to the other."""
    fig, ax = blank(width=17.0, height=4.8)
    _device(ax, 0.2, "the CPU, and its memory", SKY, ("your program", "all the data"))
    _device(ax, 10.8, "the card, and its memory", ORANGE, ("the model", "one batch"))
    for y, words, start, end in ((2.7, ".to(device)", 6.3, 10.7), (1.2, ".cpu()", 10.7, 6.3)):
        ax.annotate("", (end, y), (start, y), arrowprops={"arrowstyle": "-|>", "color": INK})
        caption(ax, 8.5, y + 0.45, words, align="center")
    return finish(
        fig,
        "Two devices: each computes with what lies in its own memory",
        "Two large boxes with two arrows between them. On the left the CPU, with the program and all the data in its "
        "memory; on the right a card, with the model and one batch in a memory of its own. What goes to the card goes "
        "by .to(device), and what comes back by .cpu().",
    )


def _device(ax: Axes, left: float, name: str, color: str, held: tuple[str, ...]) -> None:
    """Draw a device as a frame, with what lies in its memory."""
    corners = [(left, 0.2), (left + WIDTH, 0.2), (left + WIDTH, 0.2 + HEIGHT), (left, 0.2 + HEIGHT)]
    ax.fill(*zip(*corners, strict=True), facecolor=NO_COLOR, edgecolor=INK)
    caption(ax, left + WIDTH / 2, HEIGHT - 0.4, name, align="center")
    for row, words in enumerate(held):
        box(ax, left + 0.8, 2.1 - 1.4 * row, words, color, width=WIDTH - 1.6)
