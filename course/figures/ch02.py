"""Figures of chapter 2: a graph with its derivatives, accumulation, saved tensors, versions, spellings of ReLU."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from autograder.notebook.colors import BLUE, DARK, INK, NO_COLOR, ORANGE, SKY, TINT, VERMILION, YELLOW

from ._ch02_at_zero import nan_at_zero as nan_at_zero
from ._ch02_at_zero import relus as relus
from ._ch02_cost import cost_of_a_share as cost_of_a_share
from ._ch02_life import life as life
from ._ch02_life import saved_by as saved_by
from .digits import known_digits
from .drawing import blank, box, caption, finish, new_figure, signed, told

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Operation = Callable[[Tensor, Tensor], Tensor]

# name of an operation on x and y -> the operation, for the figure of saved bytes
OPERATIONS: dict[str, Operation] = {
    "x + y": lambda x, y: x + y,
    "3 * x": lambda x, y: 3 * x,
    "x ** 2": lambda x, y: x**2,
    "sin(x)": lambda x, y: torch.sin(x),
    "x * y": lambda x, y: x * y,
    "x @ y": lambda x, y: x @ y,
    "exp(x)": lambda x, y: torch.exp(x),
    "relu(x)": lambda x, y: torch.relu(x),
}

# four ways to keep what a pass gives, by the line that does it: what was kept before, and a loss, give what is kept now
KEEPS: dict[str, Callable[[Any, Tensor], Any]] = {
    "loss = f(x)": lambda kept, loss: loss,
    "history.append(f(x))": lambda kept, loss: [*(kept or ()), loss],
    "total = total + f(x)": lambda kept, loss: loss if kept is None else kept + loss,
    "history.append(f(x).item())": lambda kept, loss: [*(kept or ()), loss.item()],
}


def first_page() -> Figure:
    """Draw ten pictures that learn to read digits, from zeros, after 0, 1, 20 and 200 steps of descent."""
    rows, labels = known_digits()
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))  # as the lesson draws it
    ink, known, unseen = rows / 16, order[:1400], order[1400:]
    fig, grid = new_figure(4, 10, figsize=(9.5, 4.6))
    pictures, done = torch.zeros(64, 10), 0
    for row, steps in zip(grid, (0, 1, 20, 200), strict=True):
        pictures, done = _learned(pictures, ink[known], labels[known], steps - done), steps
        right = ((ink[unseen] @ pictures).argmax(dim=1) == labels[unseen]).float().mean().item()
        reach = pictures.abs().max().item()
        for digit, (ax, picture) in enumerate(zip(row, pictures.T, strict=True)):
            signed(ax, picture.reshape(8, 8), "" if steps else str(digit), reach=reach)
        row[0].set_ylabel(
            f"{steps} step{'' if steps == 1 else 's'}\n{right:.0%} right",
            fontsize=9,
            color=INK,
            rotation=0,
            ha="right",
            va="center",
        )
    return told(
        fig,
        "Four rows of ten pictures of 8 by 8 numbers, red for positive and blue for negative. The first row is empty. "
        "From row to row more unseen digits are read correctly, and the shapes of the digits 0 to 9, clear at first, "
        "become rougher.",
    )


def _learned(pictures: Tensor, ink: Tensor, labels: Tensor, steps: int) -> Tensor:
    """The pictures after so many steps of gradient descent on the cross-entropy, with rate 1."""
    for _ in range(steps):
        pictures = pictures.detach().requires_grad_()
        loss = torch.nn.functional.cross_entropy(ink @ pictures, labels)
        pictures = pictures - torch.autograd.grad(loss, pictures)[0]
    return pictures.detach()


def graph(x: float, y: float) -> Figure:
    """Draw ((x * y) + x) ** 2 as a graph: each value, and below it the derivative of the loss with respect to it."""
    a, b = (torch.tensor(value, requires_grad=True) for value in (x, y))
    through_product, direct = a * 1, a * 1  # the two uses of x, so that each arrow has its own derivative
    z = through_product * b
    s = z + direct
    loss = s**2
    for middle in (through_product, direct, z, s, loss):
        middle.retain_grad()
    torch.autograd.backward(loss)
    fig, ax = blank(width=15.2, height=5.0)
    _node(ax, 0, 3.0, "x", a)
    _node(ax, 0, 0.2, "y", b)
    _node(ax, 4.6, 0.2, "z = x * y", z)
    _node(ax, 9.0, 1.9, "s = z + x", s)
    _node(ax, 12.9, 1.9, "loss = s ** 2", loss)
    for start, end, via in (
        ((2.1, 3.4), (4.5, 1.5), through_product),
        ((2.1, 4.1), (8.9, 3.1), direct),
        ((2.1, 1.0), (4.5, 1.0), b),
        ((6.7, 1.2), (8.9, 2.5), z),
        ((11.1, 2.7), (12.8, 2.7), s),
    ):
        _arrow(ax, start, end, via)
    return finish(
        fig,
        "Values (blue) go right, derivatives of the loss (orange) come back left",
        f"A graph from left to right: x = {x:g} and y = {y:g}; z = {z:g}; s = {s:g}; loss = {loss:g}. Below the values "
        f"the derivatives: 1 at the loss, {s.grad:g} at s and at z, {b.grad:g} at y, and two arrows with "
        f"{through_product.grad:g} and {direct.grad:g} that add up to {a.grad:g} at x.",
    )


def accumulation(passes: int) -> Figure:
    """Draw what stands in .grad after each of some passes over x ** 2 at x = 2, cleared or not."""
    fig, ax = blank(width=2 * passes + 5.4, height=passes + 1.7)
    for left, words, clears in ((0.0, "never cleared", False), (passes + 3.0, "cleared before each pass", True)):
        x = torch.tensor(2.0, requires_grad=True)
        for number in range(passes):
            if clears:
                x.grad = None
            torch.autograd.backward(x**2)
            assert x.grad is not None
            _stack(ax, left + number * 1.15, x.grad.item(), each=4.0)
            caption(ax, left + number * 1.15 + 0.5, 0.65, f"pass {number + 1}", align="center")
        caption(ax, left, 0.05, words)
    return finish(
        fig,
        "What stands in x.grad; each pass brings 4 (the new part is orange)",
        "Two groups of towers. Never cleared, they grow from pass to pass: 4, 8, 12, 16. Cleared before each pass, "
        "each of them is 4.",
    )


def saved_bytes(n: int) -> Figure:
    """Draw how much memory each operation on (n, n) tensors makes its graph hold on to."""
    fig, ax = new_figure(figsize=(8.5, 3.6))
    names = list(OPERATIONS)[::-1]
    for kind, color in (("operand", ORANGE), ("result", BLUE)):
        widths = [_saved(OPERATIONS[name], n)[kind] / 1024 for name in names]
        lefts = [_saved(OPERATIONS[name], n)["operand"] / 1024 if kind == "result" else 0 for name in names]
        ax.barh(names, widths, left=lefts, color=color, edgecolor=INK, label=f"the {kind}s, by reference")
    for row, name in enumerate(names):
        total = sum(_saved(OPERATIONS[name], n).values()) / 1024
        ax.text(total + 6, row, f"{total:g}", va="center", fontsize=10, color=INK)
    ax.set(xlabel="KiB held until backward", title=f"What a step saves, for x and y of shape ({n}, {n})")
    ax.set_xlim(right=2.35 * n * n * 4 / 1024)
    ax.legend(title="saved", loc="lower right")
    return told(
        fig,
        "Bars: how many KiB each operation keeps until backward. A sum and a multiple keep nothing, a square, a sine "
        "and relu one tensor, exp its result, a product and a matrix product both operands.",
    )


def kept_graphs(passes: int) -> Figure:
    """Draw which graphs are still held after some passes, for four ways to keep the loss."""
    width, left = 2.1, 7.4
    fig, ax = blank(width=left + passes * (width + 0.3), height=1.3 * len(KEEPS) + 0.5)
    for row, (words, keep) in enumerate(reversed(KEEPS.items())):
        ax.text(left - 0.5, 1.3 * row + 0.5, words, ha="right", va="center", fontsize=11, color=INK, family="monospace")
        for number, is_held in enumerate(_held(keep, passes)):
            x = left + number * (width + 0.3)
            box(ax, x, 1.3 * row, "held" if is_held else "gone", SKY if is_held else NO_COLOR, width=width)
    for number in range(passes):
        caption(ax, left + number * (width + 0.3) + width / 2, 1.3 * len(KEEPS) + 0.1, f"graph {number + 1}", "center")
    return finish(
        fig,
        f"After {passes} passes: which graphs are still held?",
        "A table. Where the name loss goes to the newest, its graph alone is held. A list of losses holds all graphs, "
        "and so does a running sum; a list of numbers holds none.",
    )


def _held(keep: Callable[[Any, Tensor], Any], passes: int) -> list[bool]:
    """Whether each pass's graph is still there after the last; a graph holds its leaf, which nothing else does."""
    leaves, kept = [], None
    for _ in range(passes):
        x = torch.ones(1, requires_grad=True)
        leaves.append(weakref.ref(x))
        kept = keep(kept, x.exp().sin().sum())
        del x
    held = [leaf() is not None for leaf in leaves]
    del kept
    return held


def versions() -> Figure:
    """Draw what exp and the square saved, and the version numbers that backward compares after y += 1."""
    fig, ax = blank(width=15.4, height=4.4)
    for row, words, f in ((2.0, "y = exp(x)", torch.exp), (0.2, "y = x ** 2", torch.square)):
        x = torch.tensor(2.0, requires_grad=True)
        y = f(x)
        saved, name = (y, "y") if f is torch.exp else (x, "x")
        noted = saved._version
        y += 1
        box(ax, 0, row + 0.5, words, TINT, width=2.6)
        box(ax, 3.1, row + 0.5, f"saves {name}, version {noted}", SKY, width=4.0)
        box(ax, 7.6, row + 0.5, f"y += 1: y has version {y._version}", YELLOW, width=4.6)
        agrees = saved._version == noted
        verdict = f"{name}: {noted} and {saved._version}, " + ("fine" if agrees else "error")
        box(ax, 12.7, row + 0.5, verdict, NO_COLOR if agrees else ORANGE, width=2.8)
        for left, right in ((2.6, 3.1), (7.1, 7.6), (12.2, 12.7)):
            ax.annotate("", (right, row + 1.0), (left, row + 1.0), arrowprops={"arrowstyle": "-|>", "color": INK})
    for left, words in ((0, "forward"), (3.1, "the node"), (7.6, "change in place"), (12.7, "backward compares")):
        caption(ax, left, 4.0, words)
    return finish(
        fig,
        "The counter of the tensor that was saved decides",
        "Two rows of four boxes. y = exp(x) saves y at version 0; after y += 1 that is version 1: error. "
        "y = x ** 2 saves x at version 0, which is still version 0: fine.",
    )


def _saved(operation: Operation, n: int) -> dict[str, int]:
    """Return the bytes that an operation saves, those of its operands and those of its result."""
    x, y = torch.rand(n, n, requires_grad=True), torch.rand(n, n, requires_grad=True)
    held: dict[int, int] = {}

    def pack(saved: Tensor) -> Tensor:
        held[saved.data_ptr()] = saved.nbytes
        return saved.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
        result = operation(x, y)
    of_result = held.pop(result.data_ptr(), 0)
    return {"operand": sum(held.values()), "result": of_result}


def _node(ax: Axes, x: float, y: float, name: str, value: Tensor) -> None:
    """Draw one tensor of a graph: its name, its value, its derivative."""
    assert value.grad is not None
    caption(ax, x, y + 2.05, name)
    box(ax, x, y + 0.8, f"{value.item():g}", SKY, width=2.0)
    box(ax, x, y - 0.2, f"{value.grad.item():g}", ORANGE, width=2.0)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], via: Tensor) -> None:
    """Draw an edge of a graph: forward, and below it the way back, with the derivative that comes along it."""
    assert via.grad is not None
    (left, low), (right, high) = start, end
    ax.annotate("", (right, high + 0.2), (left, low + 0.2), arrowprops=_of_color(BLUE))
    ax.annotate("", (left, low - 0.2), (right, high - 0.2), arrowprops=_of_color(VERMILION))
    middle = ((left + right) / 2, (low + high) / 2 - 0.2)
    back = {"facecolor": ORANGE, "edgecolor": "none", "boxstyle": "round,pad=0.15"}
    ax.text(*middle, f"{via.grad.item():g}", ha="center", va="center", fontsize=10, color=DARK, bbox=back)


def _of_color(color: str) -> dict[str, Any]:
    return {"arrowstyle": "-|>", "color": color, "linewidth": 1.5}


def _stack(ax: Axes, left: float, total: float, each: float) -> None:
    """Draw a sum as boxes on top of each other, the newest in another color, and the sum above them."""
    count = round(total / each)
    for level in range(count):
        box(ax, left, 1.0 + level, f"{each:g}", ORANGE if level == count - 1 else SKY)
    ax.text(left + 0.5, 1.2 + count, f"= {total:g}", ha="center", va="bottom", fontsize=11, color=INK)
