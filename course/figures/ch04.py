"""Figures of chapter 4: the first page, learning rates on a parabola, the five lines, losses, fits, optimizers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from autograder.notebook.colors import BLUE, GREEN, GREY, INK, ORANGE, SKY, TINT, VERMILION, YELLOW

from . import _ch04_by_heart as by_heart
from . import _ch04_clipping as clipping
from . import _ch04_runs as runs
from . import _ch04_sine as sine
from .drawing import blank, box, caption, finish, new_figure, paper, told

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Losses = Sequence[float]

# The chapter calls these.
sin_runs = runs.sin_runs
fit_of, fits_of, many_fits = sine.fit_of, sine.fits_of, sine.many_fits
ten_points = by_heart.ten_points
clipped = clipping.clipped

LOW, HIGH = 1e-3, 30.0  # the losses that a plot shows

# what happens in a step -> the color of its box
COLORS = {"zero_grad": YELLOW, "forward": SKY, "criterion": GREEN, "backward": ORANGE, "step": TINT}


def first_page() -> Figure:
    """Draw how a network learns to read digits: its two losses, the share it reads, and digits that it gets wrong."""
    seen, wrong = runs.on_digits()
    fig, row = new_figure(1, 5, figsize=(10.5, 2.6), width_ratios=(2.2, 2.2, 1, 1, 1))
    epochs = range(len(seen))
    row[0].plot(epochs, [one[0] for one in seen], color=BLUE, label="what it learns from")
    row[0].plot(epochs, [one[1] for one in seen], color=VERMILION, label="never seen")
    row[0].set(xlabel="epoch", ylabel="loss", ylim=(0, None))
    row[0].legend(fontsize=8)
    row[1].plot(epochs, [100 * one[2] for one in seen], color=VERMILION)
    row[1].set(xlabel="epoch", ylabel="% of the unseen read", ylim=(0, 102))
    for ax, (picture, says, truth) in zip(row[2:], wrong, strict=True):
        paper(ax, picture, f"says {says}, is {truth}")
        ax.title.set_fontsize(10)
    return told(
        fig,
        f"Left, two losses that fall from {seen[0][0]:.1f} to below 0.2 in twenty epochs; in the middle the share of "
        f"unseen digits read, from {seen[0][2]:.0%} to {seen[-1][2]:.0%}; right, three digits that are still misread.",
    )


def parabola(descend: Callable[[float], Losses], rates: Sequence[float], steps: int = 8) -> Figure:
    """Draw the way that gradient descent takes on (w - 3) ** 2, for three learning rates."""
    fig, row = new_figure(1, len(rates), figsize=(10.5, 3.0), sharey=True)
    curve = torch.linspace(-1.6, 7.6, 100)
    names = ("too small", "right", "too large")
    for ax, lr, name, color in zip(row, rates, names, (BLUE, GREEN, VERMILION), strict=True):
        places = descend(lr)[: steps + 1]
        ax.plot(curve.tolist(), ((curve - 3) ** 2).tolist(), color=GREY)
        ax.plot(places, [(w - 3) ** 2 for w in places], "o-", color=color, markersize=5, linewidth=1)
        ax.plot(places[:1], [9], "o", color=INK, markersize=7)
        ax.set_title(f"lr {lr:g}: {name}", fontsize=11, color=INK)
        ax.set(xlabel="w", xlim=(-1.8, 7.8), ylim=(-1, 22))
    row[0].set_ylabel("loss, (w - 3) ** 2")
    return told(
        fig,
        f"A parabola with its bottom at w = 3, three times, with {steps} steps from w = 0. Left, they hardly "
        "leave the start; in the middle they come to rest at the bottom; right, each jumps across to "
        "the other side and lands a little higher than before.",
    )


def stepper() -> Figure:
    """Draw what each of the five lines changes: prediction = w * x with x = 2, target 7, w = 1, lr 0.1."""
    weight = torch.tensor(1.0, requires_grad=True)
    weight.grad = torch.tensor(5.0)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    shown = {"w": "1", "w.grad": "5", "prediction": "-", "loss": "-"}
    rows = [("before", dict(shown))]

    def note(line: str, **changes: object) -> None:
        shown.update({name.replace("_", "."): str(value) for name, value in changes.items()})
        rows.append((line, dict(shown)))

    optimizer.zero_grad()
    note("optimizer.zero_grad()", w_grad=weight.grad)
    prediction = weight * 2.0
    note("prediction = model(x)", prediction=f"{prediction.item():g}")
    loss = (prediction - 7.0) ** 2
    note("loss = criterion(prediction, y)", loss=f"{loss.item():g}")
    torch.autograd.backward(loss)
    note("loss.backward()", w_grad=f"{weight.grad.item():g}")
    optimizer.step()
    note("optimizer.step()", w=f"{weight.item():g}")
    return _table(rows)


def _table(rows: Sequence[tuple[str, dict[str, str]]]) -> Figure:
    """Draw a table of states, a row per line of code; what changed is orange."""
    fig, ax = blank(width=15.6, height=len(rows) + 1.0)
    for column, name in enumerate(rows[0][1]):
        caption(ax, 7.6 + 2.2 * column, len(rows) + 0.45, name, align="center")
    before = rows[0][1]
    for number, (line, state) in enumerate(rows):
        y = len(rows) - 1.0 - number
        caption(ax, 0, y + 0.5, line if number == 0 else f"{number}  {line}")
        for column, (name, value) in enumerate(state.items()):
            box(ax, 6.5 + 2.2 * column, y, value, ORANGE if value != before[name] else TINT, width=2.2)
        before = state
    told_of = "; ".join(f"{line}: {', '.join(f'{k} {v}' for k, v in state.items())}" for line, state in rows)
    return finish(fig, "One step, with x = 2, y = 7 and lr 0.1; orange: what this line changed", f"A table. {told_of}.")


def call_order(step: Callable[..., Any]) -> Figure:
    """Draw what happens in step(model, optimizer, criterion, x, y), in the order in which it really happens."""
    events = _record(step)
    per_row = 5
    height = 1.6 * math.ceil(len(events) / per_row)
    fig, ax = blank(width=3.1 * per_row, height=height)
    for number, (kind, words) in enumerate(events):
        left, y = 3.1 * (number % per_row), height - 1.4 - 1.6 * (number // per_row)
        box(ax, left, y, words, COLORS[kind], width=2.7)
        if number % per_row:
            ax.annotate("", (left, y + 0.5), (left - 0.4, y + 0.5), arrowprops={"arrowstyle": "-|>", "color": INK})
    alt = f"Boxes in the order of the calls: {', '.join(words for _, words in events)}."
    return finish(fig, "One step, as recorded from the code (read row by row)", alt)


def _record(step: Callable[..., Any]) -> list[tuple[str, str]]:
    """Run a step on a small model with listeners everywhere, and return what they heard."""
    heard: list[tuple[str, str]] = []

    def tell(kind: str, words: str) -> Callable[..., None]:
        return lambda *_args, **_kwargs: heard.append((kind, words))

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
        x, y = torch.randn(8, 2), torch.randn(8, 1)
    for name, layer in zip(("layer 1", "ReLU", "layer 2"), model, strict=True):
        layer.register_forward_hook(tell("forward", f"{name} forward"))
    for name, layer in (("layer 1", model[0]), ("layer 2", model[2])):
        weight: Tensor = layer.get_parameter("weight")
        weight.register_post_accumulate_grad_hook(tell("backward", f"{name} .grad"))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.register_step_post_hook(tell("step", "optimizer.step"))
    clear = optimizer.zero_grad

    def cleared(set_to_none: bool = True) -> None:
        heard.append(("zero_grad", "zero_grad"))
        clear(set_to_none)

    def criterion(prediction: Tensor, target: Tensor) -> Tensor:
        heard.append(("criterion", "criterion"))
        return ((prediction - target) ** 2).mean()

    optimizer.zero_grad = cleared  # type: ignore[method-assign]
    step(model, optimizer, criterion, x, y)
    return heard


def curves(named: Mapping[str, Losses], low: float = LOW, high: float = HIGH) -> Figure:
    """Draw one small plot of losses per name, four in a row, all on one scale."""
    columns, count = min(4, len(named)), math.ceil(len(named) / 4)
    fig, grid = new_figure(count, columns, figsize=(10.5, 2.5 * count))
    for ax, (name, losses) in zip(grid.flatten(), named.items(), strict=True):
        _plot(ax, name, losses, low=low, high=high)
    return told(fig, "; ".join(f"{name}: {runs.course_of(losses, high)}" for name, losses in named.items()) + ".")


def museum() -> Figure:
    """Draw eight ways in which a loss may look, each with its cause, from real runs."""
    learned, unseen = runs.overfit()
    noisy, calm = runs.in_train_mode()
    rooms: dict[str, list[Losses]] = {
        "healthy": [runs.rate(0.1)],
        "learning rate too small": [runs.rate(0.0005)],
        "learning rate too large": [runs.rate(1.3)],
        "gradients never cleared": [runs.train(runs.regression(), "keeps gradients")],
        "inputs and targets\nin different orders": [runs.train(runs.regression(), "shuffles inputs")],
        "learned by heart": [learned, unseen],
        "measured with dropout on": [noisy, calm],
        "one wild batch": [runs.wild_batch()],
    }
    fig, grid = new_figure(2, 4, figsize=(10.5, 5.0))
    for ax, (name, lines) in zip(grid.flatten(), rooms.items(), strict=True):
        _plot(ax, name, *lines)
    for place, labels in ((grid[1, 1], ("training", "validation")), (grid[1, 2], ("train mode", "eval mode"))):
        place.legend(labels, fontsize=8)
    return told(
        fig,
        "; ".join(f"{' '.join(name.split())}: {runs.course_of(lines[0], HIGH)}" for name, lines in rooms.items()) + ".",
    )


def symptoms(repaired: Mapping[str, runs.Loop] | None = None) -> Figure:
    """Draw the losses of the eight broken loops beside a correct one's, or of repaired ones beside the broken ones'."""
    losses = {letter: runs.train(runs.regression(), fault) for letter, fault in runs.FAULTS.items()}
    if repaired:
        beside = {letter: [min(loss, HIGH) for loss in each if math.isfinite(loss)] for letter, each in losses.items()}
        losses = {letter: runs.train_by(repaired[letter]) for letter in losses}
    else:
        beside = dict.fromkeys(losses, runs.rate(0.1)) | {"f": runs.adam()}
    fig, grid = new_figure(2, 4, figsize=(10.5, 5.0))
    words = [f"Losses of eight loops, each beside {'the broken one' if repaired else 'a correct one that falls'}"]
    for ax, (letter, each) in zip(grid.flatten(), losses.items(), strict=True):
        words.append(f"loop {letter}: {runs.course_of(each, HIGH)}")
        _plot(ax, f"loop {letter}", each)
        ax.plot(beside[letter][: int(ax.get_xlim()[1]) + 1], color=INK, linewidth=1, linestyle=":")
    return told(fig, "; ".join(words) + ".")


def _plot(ax: Axes, name: str, *lines: Losses, low: float = LOW, high: float = HIGH) -> None:
    """Plot losses against steps on a logarithmic scale; one that explodes leaves at the top, marked, with words."""
    end = len(lines[0])
    for losses, color in zip(lines, (BLUE, VERMILION), strict=False):
        shown = [value if math.isfinite(value) else math.inf for value in losses]
        out = next((step for step, value in enumerate(shown) if value > high), None)
        if out is not None and not shown[-1] < high:
            end = max(10, 2 * out)  # near enough that the few steps before it can be seen
            ax.plot(range(out + 1), [*shown[:out], high], color=color, linewidth=1.5, marker="o", markersize=3)
            ax.plot([out], [high], marker="^", color=color, markersize=10, clip_on=False)
            ax.text(out, high / 2, f"  off the plot\n  at step {out}", va="top", color=INK, fontsize=9)
            continue
        ax.plot(shown, color=color, linewidth=1.5)
    ax.set(yscale="log", ylim=(low, high), xlim=(0, end))
    ax.minorticks_off()
    ax.set_title(name, fontsize=10, color=INK, pad=9)  # above the mark of one that explodes
    place = ax.get_subplotspec()
    assert place is not None
    _label(ax, "step" if place.is_last_row() else "", "loss" if place.is_first_col() else "")
    ax.tick_params(labelsize=9)


def _label(ax: Axes, x: str, y: str) -> None:
    ax.set_xlabel(x, fontsize=9)
    ax.set_ylabel(y, fontsize=9)


def surface(steps: int = 40) -> Figure:
    """Draw the paths of three optimizers down one long bowl."""
    sgd, adam = torch.optim.SGD, torch.optim.Adam
    routes = {
        "SGD, lr 0.09": (runs.path(sgd, steps, lr=0.09), BLUE),
        "SGD, lr 0.04, momentum 0.7": (runs.path(sgd, steps, lr=0.04, momentum=0.7), VERMILION),
        "Adam, lr 0.15": (runs.path(adam, steps, lr=0.15), GREEN),
    }
    fig, row = new_figure(1, 3, figsize=(10.5, 2.9))
    a, b = torch.meshgrid(torch.linspace(-4.6, 2.0, 80), torch.linspace(-1.4, 1.4, 80), indexing="xy")
    height = a**2 / 2 + 10 * b**2
    for ax, (name, (visited, color)) in zip(row, routes.items(), strict=True):
        ax.contour(a.numpy(), b.numpy(), height.numpy(), levels=12, colors=GREY, linewidths=0.8)
        ax.plot(*zip(*visited, strict=True), "o-", color=color, markersize=3, linewidth=1.2)
        ax.plot([0], [0], "*", color=INK, markersize=10)
        ax.set_title(name, fontsize=10, color=INK)
        _label(ax, "along the valley", "across")
    return told(
        fig,
        "Contours of a long valley, three times, with a path to the star at its bottom: SGD jumps from wall to wall; "
        "momentum does so at first, then runs along the middle; Adam goes diagonally, a little past the star and back.",
    )


def rates(values: Losses) -> Figure:
    """Draw the learning rate of each step."""
    fig, ax = new_figure(figsize=(7.0, 2.6))
    ax.plot(values, color=BLUE, linewidth=2)
    ax.set(xlabel="step", ylabel="learning rate", ylim=(0, None))
    return told(fig, "The learning rate rises in a straight line for ten steps, then falls to 0 along half a cosine.")
