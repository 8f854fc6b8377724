"""Figures of chapter 5: the same training in half the bits, host and device in time, memory, dtypes, gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from autograder.notebook.colors import BLUE, GREEN, GREY, INK, ORANGE, SKY, TINT, VERMILION
from course.instruments import saved_bytes

from ._ch05_places import places as places
from ._ch05_step import memory as memory
from ._ch05_step import time_by_batch as time_by_batch
from .digits import known_digits
from .drawing import blank, box, caption, finish, new_figure, told

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Block = tuple[str, str, float, float]  # who, what, begin, end

DOINGS = {"launch": SKY, "work": GREEN, "wait": TINT}  # what somebody does -> the color of its block
DTYPES = {torch.float32: SKY, torch.bfloat16: ORANGE}

SMALLEST, LARGEST = 2.0**-25, 65504.0  # below the first, float16 rounds to 0; above the second, to inf


def first_page() -> Figure:
    """Draw the same training in float32 and in mixed precision: the loss of each epoch, and the bytes a step saves."""
    runs = {"float32": _digits_in(torch.float32), "mixed precision": _digits_in(torch.bfloat16)}
    fig, (left, right) = new_figure(1, 2, figsize=(9.5, 3.0))
    for (words, (losses, _)), style in zip(runs.items(), ("-", "--"), strict=True):
        color, width = (BLUE, 6.0) if style == "-" else (VERMILION, 2.0)  # the thin one is seen on the wide one
        left.plot(range(1, len(losses) + 1), losses, style, color=color, linewidth=width, label=words)
    left.set(xlabel="epoch", ylabel="loss", xticks=range(0, 13, 3), ylim=(0, None))
    left.set_title("what it costs: one curve lies on the other", fontsize=11, loc="left", color=INK)
    left.legend(frameon=False)
    sizes = [size / 1024 for _, size in runs.values()]
    right.barh([1, 0], sizes, color=[BLUE, ORANGE], edgecolor=INK, height=0.6)
    right.set(yticks=[1, 0], yticklabels=list(runs), xlabel="KiB of activations, saved for the backward pass")
    right.set_title("what it saves: half of the memory for activations", fontsize=11, loc="left", color=INK)
    return told(
        fig,
        "Left, the loss of a reader of digits over 12 epochs, in float32 and mixed precision: one curve lies on the "
        "other. Right, the activations that the forward pass of 1,400 digits saves for the backward pass: "
        f"{sizes[0]:.0f} KiB in float32, {sizes[1]:.0f} KiB in mixed precision.",
    )


def _digits_in(dtype: torch.dtype) -> tuple[list[float], int]:
    """Train a reader of digits with products in this dtype: the loss of each epoch, and the bytes a step saves."""
    ink, labels = known_digits()
    ink = ink / 16
    losses = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

        def scores(rows: Tensor) -> Tensor:
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype != torch.float32):
                result: Tensor = model(ink[rows])
            return result

        for _ in range(12):
            of_epoch = []
            for rows in torch.randperm(1400).split(64):
                optimizer.zero_grad()
                of_epoch.append(nn.functional.cross_entropy(scores(rows).float(), labels[rows]))
                torch.autograd.backward(of_epoch[-1])
                optimizer.step()
            losses.append(torch.stack(of_epoch).mean().item())
    return losses, saved_bytes(lambda: scores(torch.arange(1400)), without=model.parameters())


def scaled_cycle() -> Figure:
    """Draw one step in mixed precision: three stations in a ring, what goes wrong at each, and the remedy."""
    fig, ax = blank(width=17.0, height=7.4)
    for x, y, words, color, told_at, fault, remedy in (
        (0.4, 4.2, "forward", ORANGE, 6.3, "too coarse, or inf", "1  autocast chooses the bits"),
        (6.3, 4.2, "backward", ORANGE, 6.3, "too small: becomes 0", "3  scale the loss (float16)"),
        (12.2, 1.6, "update", SKY, 0.7, "lost beside the large", "2  weights stay in float32"),
    ):
        box(ax, x, y, words, color, width=4.2)
        caption(ax, x + 2.1, told_at, fault, align="center")
        caption(ax, x + 2.1, told_at - 0.6, remedy, align="center")
    box(ax, 12.2, 4.2, "gradients", SKY, width=4.2)
    box(ax, 0.4, 1.6, "weights", SKY, width=4.2)
    for words, at, start, end in (
        ("loss\n* factor", (5.45, 5.5), (4.65, 4.7), (6.25, 4.7)),
        ("/ factor", (11.35, 5.1), (10.55, 4.7), (12.15, 4.7)),
        ("", (0.0, 0.0), (14.3, 4.15), (14.3, 2.65)),
        ("the weights after one step", (8.4, 2.5), (12.15, 2.1), (4.65, 2.1)),
        ("copies", (3.5, 3.4), (2.5, 2.65), (2.5, 4.15)),
    ):
        ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": INK})
        if words:
            caption(ax, *at, words, align="center")
    return finish(
        fig,
        "One step in mixed precision: orange is 16 bits, blue float32",
        "A ring of boxes. Weights in float32 are copied to 16 bits for the forward pass; the loss is multiplied by a "
        "factor; the backward pass runs in 16 bits; the gradients are divided by the factor in float32; the update "
        "changes the float32 weights. Beside the three stations stand what goes wrong there and its remedy: in the "
        "forward pass the too large becomes inf, and autocast chooses the bits; in the backward pass the too small "
        "becomes 0, and the loss is scaled; in the update the small is lost beside the large, and the weights stay in "
        "float32.",
    )


def timelines(steps: int, launches: int) -> Figure:
    """Draw what host and device do, and when, with one look at the end and with a look after each step."""
    runs = {"a look at the end": _blocks(1, steps * launches), "a look in each step": _blocks(steps, launches)}
    fig, _ = new_figure(len(runs), figsize=(8.5, 1.75 * len(runs) + 0.3))
    until = max(end for blocks in runs.values() for *_, end in blocks)
    for ax, (words, blocks) in zip(fig.axes, runs.items(), strict=True):
        for who, what, begin, end in blocks:
            hatch = "///" if what == "wait" else None
            ax.barh(who == "host", end - begin, left=begin, color=DOINGS[what], edgecolor=INK, height=0.7, hatch=hatch)
        ax.set(yticks=[0, 1], yticklabels=["device", "host"], xlim=(0, until + 0.2))
        ax.set_title(words, fontsize=11, loc="left", color=INK)
    fig.axes[-1].set_xlabel("ms (an invented clock)")
    patches = [_patch(color, what) for what, color in DOINGS.items()]
    fig.legend(handles=patches, loc="outside upper right", ncols=3, fontsize=9, frameon=False)
    ends = " and ".join(f"{max(end for *_, end in blocks):g} ms with {words}" for words, blocks in runs.items())
    return told(
        fig,
        "For each run two rows of blocks, of the host above and of the device below, over an invented clock. The whole "
        f"takes {ends}. Where the host waits, the row of the device has gaps.",
    )


def _blocks(looks: int, launches: int) -> list[Block]:
    """Return the blocks of `looks` times some launches of 1 ms and a wait."""
    host = done = 0.0
    blocks: list[Block] = []
    for _ in range(looks):
        for _ in range(launches):
            begin = max(host + 1, done)
            blocks += [("host", "launch", host, host + 1), ("device", "work", begin, begin + 1)]
            host, done = host + 1, begin + 1
        blocks.append(("host", "wait", host, done))
        host = done
    return blocks


def dtype_flow() -> Figure:
    """Draw the dtype of what flows through a small network under autocast on the CPU, forward and backward."""
    layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    fig, ax = blank(width=17.0, height=6.6)
    for place, (words, value, weight) in enumerate(_flow(layers)):
        left = 0.2 + 3.4 * place
        _typed(ax, left, 4.9, words, value)
        if place:
            ax.annotate("", (left - 0.05, 5.4), (left - 0.75, 5.4), arrowprops={"arrowstyle": "-|>", "color": INK})
        if value.requires_grad and value.grad is not None and words != "mse_loss":
            _typed(ax, left, 2.8, "its gradient", value.grad)
        if weight is not None:
            assert weight.grad is not None and weight.grad.dtype == weight.dtype
            _typed(ax, left, 0.7, "weight, and its gradient", weight)
    return finish(
        fig,
        "Under autocast on the CPU: blue is float32, orange bfloat16",
        "What flows through Linear, ReLU, Linear and the loss: the input is float32, the results of the three layers "
        "and their gradients bfloat16, the loss float32. The weights and their gradients are float32.",
    )


def _flow(layers: nn.Sequential) -> list[tuple[str, Tensor, Tensor | None]]:
    """Run layers and loss, forward and backward; return name, result and weight of each step."""
    x = torch.ones(3, 4)
    rows: list[tuple[str, Tensor, Tensor | None]] = [("x", x, None)]
    with torch.autocast("cpu"):
        for layer in layers:
            x = layer(x)
            rows.append((type(layer).__name__, x, layer.weight if isinstance(layer, nn.Linear) else None))
        loss = nn.functional.mse_loss(x, torch.zeros(3, 1))
    rows.append(("mse_loss", loss, None))
    for _, value, _ in rows[1:]:
        value.retain_grad()
    torch.autograd.backward(loss)
    return rows


def gradients(loss: Tensor, weights: Sequence[Tensor], scales: Sequence[float]) -> Figure:
    """Draw how large the gradients of a loss are, and what float16 can hold of them, for some loss scales."""
    found = torch.cat([grad.flatten() for grad in torch.autograd.grad(loss, weights)]).abs().double()
    sizes = found[found > 0]
    fig, _ = new_figure(1, len(scales), figsize=(9.5, 3.0))
    parts = []
    for ax, scale in zip(fig.axes, scales, strict=True):
        scaled = sizes * scale
        lost, over = (scaled <= SMALLEST).double().mean().item(), (scaled > LARGEST).double().mean().item()
        low, high = math.log2(SMALLEST), math.log2(LARGEST)
        ax.axvspan(low, high, facecolor=GREY, alpha=0.35)
        kept = (scaled > SMALLEST) & (scaled <= LARGEST)
        for which, color in ((kept, BLUE), (~kept, VERMILION)):
            ax.hist(scaled[which].log2().tolist(), bins=range(-42, 29), color=color)
        ax.set_ylim(top=1.2 * ax.get_ylim()[1])  # room for the word
        ax.text((low + high) / 2, 0.97, "float16", transform=ax.get_xaxis_transform(), ha="center", va="top", color=INK)
        ax.set(xlim=(-42, 28), xlabel="size, as a power of 2", yticks=[])
        ax.set_title(f"loss times 2^{math.log2(scale):g}:\n{lost:.1%} become 0, {over:.1%} inf", fontsize=10, color=INK)
        parts.append(
            f"Loss times 2^{math.log2(scale):g}: {lost:.1%} lie left of what float16 can hold, {over:.1%} right of it."
        )
    fig.axes[0].set_ylabel("how many")
    return told(fig, "Histograms of the same gradients. " + " ".join(parts))


def scaler_search(steps: int) -> Figure:
    """Draw the factor of a GradScaler on gradients of float16 that are a hundred times as large from the middle on."""
    factors, skipped = _search([1.0 if step < steps // 2 else 100.0 for step in range(steps)])
    fig, ax = new_figure(figsize=(8.5, 3.2))
    ax.step(range(steps), factors, where="mid", color=BLUE, linewidth=2.0)
    lost = [step for step, skip in enumerate(skipped) if skip]
    ax.plot(lost, [factors[step] for step in lost], "X", color=ORANGE, markeredgecolor=INK, markersize=9)
    ax.axvline(steps // 2 - 0.5, color=INK, linewidth=1, linestyle=":")
    ax.set_yscale("log", base=2)
    ax.set(xlabel="step (growth after 10 good steps)", ylabel="factor")
    ax.set_title(f"{len(lost)} of {steps} steps skipped (crosses)", fontsize=11, loc="left", color=INK)
    return told(
        fig,
        f"The factor over {steps} steps: halved at each of {len(lost)} skipped steps, which are marked by crosses, "
        "doubled after ten good ones; in the middle, where gradients become a hundred times as large, it falls.",
    )


def _search(slopes: Sequence[float]) -> tuple[list[float], list[bool]]:
    """Run a GradScaler on gradients; return its factor at each step, and whether the step was skipped."""
    weight = nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=0.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**20, growth_interval=10)
    factors, skipped = [], []
    for slope in slopes:
        factors.append(scaler.get_scale())
        weight.grad = scaler.scale(torch.tensor(slope)).half().float().reshape(1)  # inf where float16 ends
        skipped.append(bool(weight.grad.isinf()))
        scaler.step(optimizer)
        scaler.update()
    return factors, skipped


def _patch(color: str, words: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(facecolor=color, edgecolor=INK, label=words, hatch="///" if words == "wait" else None)


def _typed(ax: Axes, x: float, y: float, words: str, value: Tensor) -> None:
    """Draw a tensor in the color of its dtype."""
    box(ax, x, y, str(value.dtype).removeprefix("torch."), DTYPES[value.dtype], width=2.6)
    caption(ax, x + 1.3, y + 1.3, words, align="center")
