"""What the figures of all chapters share: a canvas of square cells with boxes and captions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from autograder.notebook.colors import DARK, GREY, INK, NO_COLOR, TINT, WHITE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from torch import Tensor


def new_figure(*grid: int, figsize: tuple[float, float], **ratios: Any) -> tuple[Figure, Any]:
    """Return a figure and its axes, closed already, so that a notebook shows it once: as the cell's result.

    `ratios` are the widths or heights of the grid's columns and rows, as `plt.subplots` takes them.
    """
    # Half a second to import, and those who run the setup cell to grade it draw nothing.
    from matplotlib import pyplot as plt

    from .sharp import Drawing

    fig, axes = plt.subplots(*grid, figsize=figsize, layout="constrained", FigureClass=Drawing, **ratios)
    plt.close(fig)
    return fig, axes


def blank(width: float, height: float) -> tuple[Figure, Axes]:
    """Return a figure without axes whose unit is one square cell, at most 9.5 inches wide."""
    scale = min(0.62, 9.5 / (width + 0.4))
    fig, ax = new_figure(figsize=((width + 0.4) * scale, (height + 0.9) * scale))
    ax.set(xlim=(-0.2, width + 0.2), ylim=(-0.4, height + 0.2), aspect="equal")
    ax.axis("off")
    return fig, ax


def box(ax: Axes, x: float, y: float, words: str, color: str, *, width: float = 1.0, hatched: bool = False) -> None:
    """Draw one cell with its text, which is dark on every color and of the page's ink where there is none."""
    hatch, edge = ("///", GREY + "70") if hatched else (None, INK)  # lines so faint that words stand on them
    corners = [(x, y), (x + width, y), (x + width, y + 1.0), (x, y + 1.0)]
    ax.fill(*zip(*corners, strict=True), facecolor=color, edgecolor=edge, hatch=hatch)
    ink = INK if color in (NO_COLOR, TINT) else DARK
    ax.text(x + width / 2, y + 0.5, words, ha="center", va="center", fontsize=11, color=ink)


def caption(ax: Axes, x: float, y: float, words: str, align: str = "left") -> None:
    """Write words beside the drawing."""
    ax.text(x, y, words, ha=align, va="center", fontsize=10, color=INK)


def paper(ax: Axes, picture: Tensor, title: str) -> None:
    """Draw a picture of numbers as ink on paper, without axes."""
    ax.imshow(picture.tolist(), cmap="Greys", vmin=0)
    ax.set(xticks=[], yticks=[], title=title)


def write_numbers(ax: Axes, picture: Tensor, size: float, *, zeros: bool = True) -> None:
    """Write the numbers of a picture into its places, white or dark, as is better read on each."""
    colors = ax.images[-1].to_rgba(picture.numpy())
    for row, numbers in enumerate(picture.tolist()):
        for column, number in enumerate(numbers):
            red, green, blue, _ = colors[row, column] ** 2.2
            ink = DARK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else WHITE
            if number or zeros:
                ax.text(column, row, f"{number:g}", ha="center", va="center", fontsize=size, color=ink)


def signed(ax: Axes, picture: Tensor, title: str = "", reach: float = 0.0) -> None:
    """Draw a picture of numbers, those below 0 in blue and those above in red, up to `reach` or their own largest."""
    largest = reach or picture.abs().max().item() or 1.0
    ax.imshow(picture.tolist(), cmap="RdBu_r", vmin=-largest, vmax=largest)
    ax.set(xticks=[], yticks=[])
    ax.set_title(title, fontsize=10)


def finish(fig: Figure, title: str, alt: str = "") -> Figure:
    """Set the title, and what is to be read where the figure cannot be seen."""
    ax = fig.axes[0]
    ax.set_title(title, fontsize=12, loc="left", color=INK)
    if not ax.axison:  # no empty band below what is drawn
        written = [y for text in ax.texts for y in (text.get_position()[1], getattr(text, "xy", (0, math.inf))[1])]
        ax.set_ylim(bottom=min([ax.dataLim.y0, *(y - 0.3 for y in written)]) - 0.1)
    return told(fig, alt)


def told(fig: Figure, alt: str) -> Figure:
    """Set what is to be read where the figure cannot be seen; "" leaves it to its titles."""
    fig.alt = alt  # type: ignore[attr-defined]  # a Drawing, which takes too long to import here
    return fig
