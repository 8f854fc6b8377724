"""Figures of chapter 1: memory and strides, broadcasting, reductions, products, float spacing; and what is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from autograder.notebook.colors import GREEN, INK, NO_COLOR, ORANGE, SKY, TINT, YELLOW

from ._ch01_drawn import first_page as first_page
from ._ch01_drawn import nearest as nearest
from ._ch01_drawn import shrink as shrink
from ._ch01_floats import FORMATS, dots_on_a_line, gap_after, gaps_by_size, name_of, ticks_near_one
from .drawing import blank, box, caption, finish, new_figure, told

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW_COLORS = (YELLOW, SKY, ORANGE, GREEN)


def matrix_product(left: Tensor, right: Tensor, letters: Sequence[str] = ()) -> Figure:
    """Draw a product of matrices: the first row meets the first column, and the sum is written out.

    `letters` are einsum's for the rows of the first, the axis that both share, and the columns of the second.
    """
    (rows, inner), cols = left.shape, right.shape[1]
    fig, ax = blank(width=inner + cols + 9.5, height=rows + inner + 1.6)
    product = left @ right
    for i in range(rows):
        for k in range(inner):
            box(ax, k, rows - 1 - i, _number(left[i, k]), YELLOW if i == 0 else TINT)
        for j in range(cols):
            is_first = i == j == 0
            words = _number(product[i, j]) if is_first else ""
            box(ax, inner + 1 + j, rows - 1 - i, words, GREEN if is_first else NO_COLOR)
    for k in range(inner):
        for j in range(cols):
            box(ax, inner + 1 + j, rows + inner - k, _number(right[k, j]), SKY if j == 0 else TINT)
    terms = " + ".join(f"{_number(a)} * {_number(b)}" for a, b in zip(left[0], right[:, 0], strict=True))
    caption(ax, inner + cols + 1.6, rows - 0.5, f"{terms} = {_number(product[0, 0])}")
    title, words = f"{tuple(left.shape)} @ {tuple(right.shape)} gives {tuple(product.shape)}", _MEETING
    if letters:
        title, words = _letter_axes(ax, rows, inner, cols, letters)
    caption(ax, inner + cols + 1.6, rows + inner / 2 + 0.5, words)
    return finish(
        fig,
        f"{title}: each row meets each column",
        f"The left matrix stands at the left of an empty table, the right one above it. Their first row and first "
        f"column are colored, and where they meet stands {terms} = {_number(product[0, 0])}.",
    )


_MEETING = "the column comes down,\nthe row comes from the left"


def _letter_axes(ax: Axes, rows: int, inner: int, cols: int, letters: Sequence[str]) -> tuple[str, str]:
    """Write einsum's letters beside the axes of two matrices; return its formula, and words on what it sums over."""
    of_rows, shared, of_columns = letters
    caption(ax, -0.35, rows / 2, of_rows, "right")
    caption(ax, inner / 2, rows + 0.35, shared, "center")
    caption(ax, inner + 0.65, rows + 1 + inner / 2, shared, "right")
    caption(ax, inner + 1 + cols / 2, rows + inner + 1.35, of_columns, "center")
    formula = f"{of_rows}{shared},{shared}{of_columns}->{of_rows}{of_columns}"
    return formula, f"{shared} is in both, and not in the result:\nsum over {shared}"


def strides(x: Tensor) -> Figure:
    """Draw a 2-D tensor as a grid above the strip of memory it reads, with its strides as jumps."""
    rows, cols = x.shape
    memory = x.untyped_storage().nbytes() // x.element_size()
    fig, ax = blank(width=max(memory, cols + 6), height=rows + 3.2)
    for row in range(rows):
        for col in range(cols):
            box(ax, col, rows - row + 1.9, _number(x[row, col]), _row_color(row))
    caption(ax, cols + 0.4, rows + 2.4, _stride_words(x))
    owner = {_offset(x, row, col): row for row in reversed(range(rows)) for col in range(cols)}
    strip = torch.as_strided(x.detach(), (memory,), (1,), 0)
    for place in range(memory):
        color = _row_color(owner[place]) if place in owner else TINT
        box(ax, place, 0.6, _number(strip[place]), color)
        ax.text(place + 0.5, 0.35, str(place), ha="center", va="center", fontsize=8, color=INK)
    place = int(x.storage_offset())
    for step in sorted(set(x.stride()) - {0}, reverse=True):  # one after the other, as one walks
        _jump(ax, place, step, lift=0.35 if step == min(x.stride()) else 0.75)
        place += step
    caption(ax, 0, -0.15, "place in memory")
    return finish(
        fig,
        "The grid you see, and the line of memory it reads",
        f"Above, a grid of {rows} rows and {cols} columns, each row in a color of its own; below, the same numbers in "
        f"one line, as memory holds them, with arrows as long as the strides {tuple(x.stride())}.",
    )


def view_or_copy(base: Tensor, view: Tensor, copy: Tensor) -> Figure:
    """Draw the memory of a base tensor, the part of it a view reads, and the memory of a copy."""
    memory = base.untyped_storage().nbytes() // base.element_size()
    fig, ax = blank(width=memory + 4, height=4.6)
    seen = set(range(view.storage_offset(), view.storage_offset() + view.numel()))
    for place, value in enumerate(base.reshape(-1)):
        box(ax, place + 4, 2.6, _number(value), SKY if place in seen else TINT)
    for place, value in enumerate(copy.reshape(-1)):
        box(ax, place + 4, 0.3, _number(value), ORANGE)
    left, right = min(seen) + 4, max(seen) + 5
    ax.annotate("", (left, 3.9), (right, 3.9), arrowprops={"arrowstyle": "|-|", "color": INK})
    caption(ax, (left + right) / 2, 4.2, "the view reads this part", align="center")
    caption(ax, 0, 3.1, "memory of the table")
    caption(ax, 0, 0.8, "memory of the copy")
    return finish(
        fig,
        "A view reads the table's memory, a copy has its own",
        "Two strips of numbers. The upper one is the memory of the table, in which the part that the view reads is "
        "marked; the lower one is the copy's own memory.",
    )


def broadcasting(first: Sequence[int], second: Sequence[int]) -> Figure:
    """Draw two shapes lined up at the right, the stretched axes hatched, and the shape they give."""
    width = max(len(first), len(second))
    fig, ax = blank(width=width * 1.6 + 5.5, height=4.4)
    rows = [(0,) * (width - len(shape)) + tuple(shape) for shape in (first, second)]
    sizes = [_joined(pair) for pair in zip(*rows, strict=True)]
    for y, shape, name in ((3.1, rows[0], first), (1.8, rows[1], second)):
        caption(ax, 0, y + 0.5, f"shape {tuple(name)}")
        for axis, size in enumerate(shape):
            _axis_box(ax, 3.4 + 1.6 * axis, y, size, sizes[axis])
    caption(ax, 0, 0.7, "result" if all(sizes) else "no result")
    for axis, size in enumerate(sizes):
        box(ax, 3.4 + 1.6 * axis, 0.2, str(size) if size else "?", YELLOW if size else NO_COLOR, width=1.5)
    return finish(
        fig,
        "Shapes line up at the right; hatched axes are stretched",
        f"The shapes {tuple(first)} and {tuple(second)} one below the other, lined up at the right; below each column "
        "the length of the result. Lengths of 1, and missing ones, are hatched, with an arrow to the length they get.",
    )


def stretched(column: Tensor, row: Tensor) -> Figure:
    """Draw column (n, 1) plus row (m,) as grids: the real numbers solid, the repeated ones hatched."""
    n, m = column.shape[0], row.shape[0]
    fig, ax = blank(width=3 * m + 3, height=n + 0.9)
    grids = ((0.0, column.expand(n, m)), (m + 1.5, row.expand(n, m)), (2 * m + 3.0, column + row))
    for which, (left, grid) in enumerate(grids):
        for i in range(n):
            for j in range(m):
                real = which == 2 or (j == 0 if which == 0 else i == 0)
                color = (SKY, ORANGE, YELLOW)[which] if real else NO_COLOR
                box(ax, left + j, n - 1 - i + 0.1, _number(grid[i, j]), color, hatched=not real)
    middle = n / 2 + 0.1
    ax.text(m + 0.75, middle, "+", ha="center", va="center", fontsize=18, color=INK)
    ax.text(2 * m + 2.25, middle, "=", ha="center", va="center", fontsize=18, color=INK)
    return finish(
        fig,
        f"{tuple(column.shape)} + {tuple(row.shape)} gives {(n, m)}",
        "Three grids: the column repeated to the right, plus the row repeated downwards, gives a whole table. "
        "What is only repeated is hatched.",
    )


def reductions(x: Tensor) -> Figure:
    """Draw a 2-D tensor with its sums along dim 0 (below) and along dim 1 (at the right)."""
    rows, cols = x.shape
    fig, ax = blank(width=cols + 6.5, height=rows + 2.6)
    for i in range(rows):
        for j in range(cols):
            box(ax, j, rows - i + 1.2, _number(x[i, j]), TINT)
        box(ax, cols + 1.4, rows - i + 1.2, _number(x.sum(dim=1)[i]), SKY)
    for j in range(cols):
        box(ax, j, 0.1, _number(x.sum(dim=0)[j]), ORANGE)
    arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 2}
    ax.annotate("", (cols / 2, 1.2), (cols / 2, 2.15), arrowprops=arrow)
    ax.annotate("", (cols + 1.35, rows / 2 + 2.2), (cols + 0.1, rows / 2 + 2.2), arrowprops=arrow)
    caption(ax, cols + 0.4, 0.6, f"dim=0 disappears: shape {tuple(x.sum(dim=0).shape)}")
    caption(ax, cols + 2.6, rows / 2 + 2.2, f"dim=1 disappears:\nshape {tuple(x.sum(dim=1).shape)}")
    return finish(
        fig,
        f"Sums of a tensor of shape {tuple(x.shape)}",
        "A table of numbers, with the sum of each column below it (dim 0 disappears) and the sum of each row at its "
        "right (dim 1 disappears).",
    )


def number_line() -> Figure:
    """Draw the whole numbers around 256, with a dot on each that bfloat16 has."""
    fig, ax = new_figure(figsize=(9.5, 1.2))
    dots_on_a_line(ax, 250, 266)
    return finish(
        fig,
        "A dot for each number that bfloat16 has",
        "The whole numbers from 250 to 266 on a line. Up to 256 each has a dot, and from there on every second one.",
    )


def float_spacing() -> Figure:
    """Draw the numbers each float format has next to 1, and the gap to the next number by magnitude."""
    fig, (near_one, gaps) = new_figure(1, 2, figsize=(9.5, 3.9))
    ticks_near_one(near_one)
    gaps_by_size(gaps)
    after_one = ", ".join(f"{gap_after(1.0, dtype):.2g} in {name_of(dtype)}" for dtype, *_ in FORMATS)
    return told(
        fig,
        "Left, ticks for the numbers near 1 that float32, float16 and bfloat16 have: a solid band, a fine comb, a "
        f"coarse comb; the gap after 1 is {after_one}. Right, three rising lines: the gap to the next number grows "
        "with the number; that of bfloat16 is the widest, that of float16 ends at 65,504.",
    )


def _joined(pair: tuple[int, ...]) -> int:
    """Return the length two broadcast axes share, 0 if they do not fit; 0 in the pair is a missing axis."""
    fits = 1 in pair or 0 in pair or len(set(pair)) == 1
    return max(pair) if fits else 0


def _axis_box(ax: Axes, x: float, y: float, size: int, result: int) -> None:
    """Draw one axis of a shape: its length, or how it is stretched; a missing axis (0) is dashed."""
    is_stretched = size in (0, 1) and result > 1
    between = "\n" if result > 99 else " "  # two lines, where one is wider than the box
    words = f"{size or 'none'} →{between}{result}" if is_stretched else str(size or "none")
    color = SKY if not is_stretched else NO_COLOR
    box(ax, x, y, words, color if result else ORANGE, width=1.5, hatched=is_stretched)


def _jump(ax: Axes, start: int, step: int, lift: float) -> None:
    """Draw an arc over the memory strip, one step long, with the step written at its top."""
    # matplotlib bends an arc by a share of its length, so a fixed height needs rad ~ 1 / length
    bend = {
        "arrowstyle": "-|>",
        "connectionstyle": f"arc3,rad={-2 * lift / step}",
        "color": INK,
        "linewidth": 1.5,
    }
    ax.annotate("", (start + step + 0.5, 1.62), (start + 0.5, 1.62), arrowprops=bend)
    ax.text(start + step / 2 + 0.5, 1.66 + lift, f"+{step}", ha="center", va="bottom", fontsize=10, color=INK)


def _offset(x: Tensor, row: int, col: int) -> int:
    """Return the place in memory of x[row, col], in elements."""
    return int(x.storage_offset()) + row * x.stride(0) + col * x.stride(1)


def _stride_words(x: Tensor) -> str:
    down, right = x.stride()
    steps = f"one row down: {_places(down)}\none column right: {_places(right)}"
    return f"shape {tuple(x.shape)}\nstride {tuple(x.stride())}\n{steps}"


def _places(step: int) -> str:
    return f"{step:+d} place{'' if abs(step) == 1 else 's'}"


def _row_color(row: int) -> str:
    return ROW_COLORS[row % len(ROW_COLORS)]


def _number(value: Tensor) -> str:
    return f"{value.item():g}"
