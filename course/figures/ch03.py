"""Figures of chapter 3: a convolution, what a module holds, activations by first weights, train against eval mode."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from autograder.notebook.colors import BLUE, GREY, INK, NO_COLOR, ORANGE, SKY, TINT, VERMILION, YELLOW

from .digits import known_digits
from .drawing import blank, box, caption, finish, new_figure, paper, signed, told, write_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# kind of a row in the figure of a module -> its color and what the legend says
KINDS = {
    "module": (TINT, "module"),
    "parameter": (ORANGE, "parameter: learns"),
    "buffer": (SKY, "buffer: saved, moved"),
    "plain": (NO_COLOR, "plain attribute: not seen"),
}
INDENT = 2.4  # how far a row stands to the right of the one that holds it
WIDTH = 64  # units of each layer in the figure of activations, as in the lesson

Row = tuple[int, str, str]  # depth, words, kind


def first_page() -> Figure:
    """Draw a digit, and what four kernels of 3 by 3 find in it."""
    kernels = {
        "ink begins, from the left": torch.tensor([[-1.0, 0, 1]] * 3),
        "ink begins, from above": torch.tensor([[-1.0, 0, 1]] * 3).T,
        "a falling stroke": torch.eye(3) * 3 - 1,
        "a rising stroke": torch.eye(3).flip(1) * 3 - 1,
    }
    digit = known_digits()[0][0].reshape(8, 8)
    fig, row = new_figure(1, 5, figsize=(9.5, 2.6))
    paper(row[0], digit, "a digit")
    for ax, (words, kernel) in zip(row[1:], kernels.items(), strict=True):
        signed(ax, nn.functional.conv2d(digit[None, None], kernel[None, None])[0, 0], words)
    return told(
        fig,
        "A handwritten zero, and beside it four pictures of 6 by 6 numbers in red and blue: where ink begins from the "
        "left, where it begins from above, and where strokes fall and rise.",
    )


def two_layers(looks: int, answers: int, asked: Sequence[str] = ()) -> Figure:
    """Draw the way of a digit through a layer that looks and a layer that judges; `asked` is what each judge asks."""
    asked = asked or [f"is it {'an' if number == 8 else 'a'} {number}?" for number in range(answers)]
    digit = known_digits()[0][0].reshape(8, 8)
    fig, (left, right) = new_figure(1, 2, figsize=(9.5, 3.0), gridspec_kw={"width_ratios": [1, 2.6]})
    paper(left, digit, "64 pixels")
    right.set(xlim=(-0.6, 2.9), ylim=(-0.08, 1.14))
    right.axis("off")
    shown = 8
    heights = [[(place + 0.5) / count for place in range(count)] for count in (shown, answers)]
    for above in heights[0]:
        right.plot([-0.5, 1.0], [0.5, above], color=GREY, linewidth=0.6, zorder=0)
        for below in heights[1]:
            right.plot([1.0, 2.0], [above, below], color=GREY, linewidth=0.4, zorder=0)
    for x, ys, color in ((1.0, heights[0], SKY), (2.0, heights[1], ORANGE)):
        right.scatter([x] * len(ys), ys, s=110, color=color, edgecolors=INK, linewidths=0.8)
    for words, y in zip(asked, reversed(heights[1]), strict=True):
        caption(right, 2.12, y, words)
    caption(right, 1.0, 1.08, f"{looks} pictures look ({shown} drawn)", "center")
    caption(right, 2.0, 1.08, f"{answers} judges", "center")
    return told(
        fig,
        f"A digit of 64 pixels on the left. Lines lead from it to {shown} of {looks} circles, the pictures that look, "
        f"and from each of these to all {answers} judges. They ask: {' '.join(asked)}.",
    )


def convolution(picture: Tensor, kernel: Tensor, row: int, col: int) -> Figure:
    """Draw one step of a convolution: the patch of the picture, the kernel, the sum of products, and where it goes."""
    height, width = kernel.shape
    patch = picture[row : row + height, col : col + width]
    result = nn.functional.conv2d(picture[None, None], kernel[None, None])[0, 0]
    fig, (left, middle, right) = new_figure(1, 3, figsize=(9.5, 3.4))
    paper(left, picture, "the picture, with the window on it")
    write_numbers(left, picture, 8)
    _window(left, row, col, height, width)
    signed(middle, kernel, "the kernel")
    write_numbers(middle, kernel, 8)
    signed(right, result, f"the result; the marked place: {(patch * kernel).sum().item():g}")
    write_numbers(right, result, 8)
    _window(right, row, col, 1, 1)
    return told(
        fig,
        f"Left, the picture with a window of {height} by {width} on it; in the middle the kernel; right the result, "
        f"where the place of the window holds the sum of the products, {result[row, col].item():g}.",
    )


def pooling(seen: Tensor, size: int) -> Figure:
    """Draw what a kernel saw, cut into blocks, beside the largest number of each block."""
    height, width = seen.shape
    fig, (left, right) = new_figure(1, 2, figsize=(7.5, 3.4))
    signed(left, seen, f"what the kernel saw, in blocks of {size} by {size}")
    write_numbers(left, seen, 10)
    for row in range(0, height, size):
        for col in range(0, width, size):
            _window(left, row, col, size, size)
    pooled = nn.functional.max_pool2d(seen[None, None], size)[0, 0]
    signed(right, pooled, "the largest of each block", reach=seen.abs().max().item())
    write_numbers(right, pooled, 14)
    for place in range(pooled.numel()):
        _window(right, *divmod(place, pooled.shape[1]), 1, 1)
    return told(
        fig,
        f"Left, {height} by {width} numbers in red and blue, cut into blocks of {size} by {size}; right, one number "
        f"for each block, its largest: {', '.join(f'{number:g}' for number in pooled.flatten().tolist())}.",
    )


def _window(ax: Axes, row: int, col: int, height: int, width: int) -> None:
    """Draw a frame around some places of a picture."""
    left, top = col - 0.5, row - 0.5
    corners = [(left, top), (left + width, top), (left + width, top + height), (left, top + height), (left, top)]
    ax.plot(*zip(*corners, strict=True), color=VERMILION, linewidth=3)


def tree(module: nn.Module) -> Figure:
    """Draw what a module holds, line by line as in a table of contents, colored by kind."""
    rows = list(_rows(type(module).__name__, module, 0))
    deepest = max(depth for depth, _, _ in rows)
    right = deepest * INDENT + 14.0
    height = max(len(rows) * 1.2, 5.0)
    fig, ax = blank(width=right + 11.0, height=height)
    for number, (depth, words, kind) in enumerate(rows):
        y = height - 1.2 * (number + 1)
        if depth:
            parent = max(above for above in range(number) if rows[above][0] < depth)
            _branch(ax, INDENT * depth, y, height - 1.2 * (parent + 1))
        box(ax, INDENT * depth, y, words, KINDS[kind][0], width=12.0, hatched=kind == "plain")
    for number, (kind, (color, words)) in enumerate(KINDS.items()):
        y = height - 1.2 * (number + 1)
        box(ax, right, y, "", color, width=2.0, hatched=kind == "plain")
        caption(ax, right + 2.4, y + 0.5, words)
    listed = "; ".join(f"{words} ({kind})" for _, words, kind in rows)
    return finish(fig, "What the module holds, and what it knows of it", f"A list of what the module holds: {listed}.")


def activations(depth: int) -> Figure:
    """Draw what some layers of deep networks make of digits, before ReLU, when they begin with different weights."""
    shown = sorted({1, (depth + 2) // 3, (2 * depth + 1) // 3, depth})
    starts = {
        "too small": 0.01,
        "as in nn.Linear": 1 / math.sqrt(3 * WIDTH),
        "He": math.sqrt(2 / WIDTH),
        "too large": 1.0,
    }
    fig, grid = new_figure(len(starts), len(shown), figsize=(9.5, 6.2))
    for row, (name, std) in zip(grid, starts.items(), strict=True):
        sums = _sums(std, depth)
        for ax, layer in zip(row, shown, strict=True):
            _histogram(ax, sums[layer - 1])
        row[0].set_ylabel(f"{name}\nstd {std:.2g}", color=INK)
    for ax, layer in zip(grid[0], shown, strict=True):
        ax.set_title(f"layer {layer}\n{ax.get_title()}", fontsize=10, color=INK)
    fig.suptitle("What each layer adds up for digits, before ReLU; above each, the size of the numbers", fontsize=12)
    return told(
        fig,
        "A table of histograms of what digits become, a row for each size of the first weights, a column for a layer. "
        "Too small and as in nn.Linear: the numbers gather at 0. He: they keep their spread. Too large: they leave the "
        "picture.",
    )


def fading(depth: int) -> Figure:
    """Draw what is left of a zero after some layers, whose weights begin too small or of the right size."""
    shown = (1, 4, 7, depth)
    fig, grid = new_figure(2, 1 + len(shown), figsize=(9.5, 4.2))
    for row, (name, std) in zip(grid, {"too small": 0.1, "right": math.sqrt(2 / WIDTH)}.items(), strict=True):
        pictures = [known_digits()[0][0] / 16, *(sums[0].relu() for sums in _sums(std, depth))]
        row[0].set_ylabel(f"{name}\nstd {std:.2g}", color=INK)
        for ax, layer in zip(row, (0, *shown), strict=True):
            paper(ax, pictures[layer].reshape(8, 8), f"layer {layer}" if layer else "a zero")
            ax.images[-1].set_clim(0, 1)  # one scale for all: what fades is seen to fade
    return told(
        fig,
        f"A zero, and what layers 1, 4, 7 and {depth} make of it, as pictures of 64 numbers. With first weights that "
        "are too small the pictures fade to white paper; with the right ones there is ink in the last too.",
    )


def modes() -> Figure:
    """Draw Dropout and BatchNorm in both modes: kept cells, and where the numbers of a batch end up."""
    fig, (cells, lines) = new_figure(1, 2, figsize=(9.5, 3.9))
    _dropout_cells(cells)
    batch = torch.randn(2000, 1, generator=torch.Generator().manual_seed(0)) + 5
    norm = nn.BatchNorm1d(1)
    with torch.no_grad():
        results = {"input": batch, "train mode": norm(batch), "eval mode, after it": norm.eval()(batch)}
    for (name, values), color in zip(results.items(), (GREY, BLUE, VERMILION), strict=True):
        shape = "stepfilled" if name == "input" else "step"
        label = f"{name}: mean {abs(values.mean().item()):.1f}"
        lines.hist(values.flatten().tolist(), bins=60, range=(-4, 12), histtype=shape, color=color, lw=2, label=label)
    lines.set(yticks=[], xlabel="number", title="BatchNorm1d on a batch")
    lines.set_ylim(top=lines.get_ylim()[1] * 1.5)
    lines.legend(loc="upper right")
    return told(
        fig,
        "Left, Dropout on ones: in train mode about half are 0 and the others 2, other ones at each call; in eval mode "
        "all are 1. Right, BatchNorm: in train mode the batch's mean goes to 0, in eval mode it stays near 4.5.",
    )


def _rows(name: str, module: nn.Module, depth: int, hidden: bool = False) -> Iterator[Row]:
    """List a module and all it holds; what stands in a plain list is hidden, and so is all inside it."""
    yield depth, name, "plain" if hidden else "module"
    kinds = (("parameter", module._parameters), ("buffer", module._buffers))
    for kind, entries in kinds:
        for key, value in entries.items():
            if value is not None:
                yield depth + 1, _shaped(key, value), "plain" if hidden else kind
    for key, child in module.named_children():
        yield from _rows(f"{key}: {type(child).__name__}", child, depth + 1, hidden)
    for key, value in vars(module).items():
        if isinstance(value, Tensor):
            yield depth + 1, _shaped(key, value), "plain"
        if isinstance(value, list) and value and isinstance(value[0], nn.Module):
            yield depth + 1, f"{key}: list", "plain"
            for place, part in enumerate(value):
                yield from _rows(f"{place}: {type(part).__name__}", part, depth + 2, hidden=True)


def _shaped(name: str, value: Tensor) -> str:
    return f"{name} {tuple(value.shape)}"


def _branch(ax: Axes, x: float, y: float, parent: float) -> None:
    """Draw the line from a parent's row to a row below it."""
    ax.plot([x - INDENT / 2, x - INDENT / 2, x], [parent, y + 0.5, y + 0.5], color=INK, linewidth=1)


def _sums(std: float, depth: int) -> list[Tensor]:
    """Return what each layer of a ReLU network with normal weights of this std adds up, on digits."""
    draw = torch.Generator().manual_seed(0)
    x, sums = known_digits()[0][:200] / 16, []
    for _ in range(depth):
        sums.append(x @ (torch.randn(WIDTH, WIDTH, generator=draw) * std))
        x = torch.relu(sums[-1])
    return sums


def _histogram(ax: Axes, values: Tensor) -> None:
    counts = torch.histc(values, bins=61, min=-3, max=3)
    ax.stairs(counts.tolist(), torch.linspace(-3, 3, 62).tolist(), fill=True, color=BLUE)
    ax.set(yticks=[], xticks=[-3, 0, 3])
    ax.set_title(f"{values.square().mean().sqrt():.2g}", fontsize=10, color=INK)
    if not counts.any():
        ax.text(0.5, 0.5, "all farther out", transform=ax.transAxes, ha="center", va="center", fontsize=9, color=INK)


def _dropout_cells(ax: Axes) -> None:
    """Draw two calls of Dropout in train mode and one in eval mode, on 5 by 6 ones."""
    drop = nn.Dropout(0.5)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        results = [drop(torch.ones(5, 6)), drop(torch.ones(5, 6)), drop.eval()(torch.ones(5, 6))]
    for which, (words, values) in enumerate(zip(("train", "train again", "eval"), results, strict=True)):
        for place, value in enumerate(values.flatten().tolist()):
            row, column = divmod(place, 6)
            color = {0.0: NO_COLOR, 1.0: SKY, 2.0: YELLOW}[value]
            box(ax, 7.0 * which + column, 5 - row, f"{value:g}", color)
        caption(ax, 7.0 * which + 3, 0.3, words, align="center")
    ax.set(xlim=(-0.3, 20.3), ylim=(-0.3, 6.4), aspect="equal", title="Dropout(0.5) on ones")
    ax.axis("off")
