"""Figures of chapter 5: host and device in time, memory of a step, dtypes in a network, gradients and float16."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from autograder.telling.palette import BLUE, GREEN, INK, ORANGE, PALE, SKY, YELLOW

from .drawing import blank, box, caption, finish, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Block = tuple[str, str, float, float]  # who, what, begin, end

# what somebody does -> the color of its block
DOINGS = {"launch": SKY, "work": GREEN, "wait": PALE}
DTYPES = {torch.float32: SKY, torch.bfloat16: ORANGE}

# parts of the memory of a step, with Adam -> the color, and how many numbers for each weight
PARTS = {"parameters": (BLUE, 1), "gradients": (SKY, 1), "Adam's state": (GREEN, 2)}

SMALLEST, LARGEST = 2.0**-25, 65504.0  # below the first, float16 rounds to 0; above the second, to inf


def timelines(runs: Mapping[str, Sequence[Block]]) -> Figure:
    """Draw for each run what host and device did, and when."""
    fig, _ = new_figure(len(runs), figsize=(8.5, 1.75 * len(runs) + 0.3))
    until = max(end for blocks in runs.values() for *_, end in blocks)
    for ax, (words, blocks) in zip(fig.axes, runs.items(), strict=True):
        for who, what, begin, end in blocks:
            row = {"host": 1, "device": 0}[who]
            hatch = "///" if what == "wait" else None
            ax.barh(row, end - begin, left=begin, color=DOINGS[what], edgecolor=INK, height=0.7, hatch=hatch)
        ax.set(yticks=[0, 1], yticklabels=["device", "host"], xlim=(0, until + 0.2))
        ax.set_title(words, fontsize=11, loc="left", color=INK)
    fig.axes[-1].set_xlabel("ms (an invented clock)")
    handles = [_patch(color, what) for what, color in DOINGS.items()]
    fig.legend(handles=handles, loc="outside upper right", ncols=3, fontsize=9, frameon=False)
    return fig


def memory(sizes: Sequence[int], batches: Sequence[int]) -> Figure:
    """Draw the bytes that a training step with Adam holds, part by part, for several batch sizes."""
    layers = [layer for n, m in pairwise(sizes) for layer in (nn.Linear(n, m), nn.ReLU())]
    model = nn.Sequential(*layers[:-1])
    weights = sum(p.numel() for p in model.parameters())
    fig, ax = new_figure(figsize=(8.5, 0.5 * len(batches) + 1.7))
    for row, batch in enumerate(reversed(batches)):
        left = 0.0
        for color, count in PARTS.values():
            left += _piece(ax, row, left, weights * 4 * count, color)
        left += _piece(ax, row, left, _activations(model, torch.zeros(batch, sizes[0])), ORANGE)
        ax.text(left + 0.15, row, f"{left:.1f}", va="center", fontsize=10, color=INK)
    ax.set(yticks=range(len(batches)), yticklabels=[f"batch of {batch}" for batch in reversed(batches)])
    ax.set_xlabel("MiB held")
    title = f"One step with Adam in float32, layers {' - '.join(map(str, sizes))}"
    ax.set_title(title, fontsize=11, loc="left", color=INK)
    ax.set_xlim(right=1.12 * ax.get_xlim()[1])
    handles = [*(_patch(color, part) for part, (color, _) in PARTS.items()), _patch(ORANGE, "activations")]
    ax.legend(handles=handles, loc="upper right", fontsize=9)
    return fig


def dtype_flow() -> Figure:
    """Draw the dtype of what flows through a small network under autocast on the CPU, forward and backward."""
    layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    fig, ax = blank(width=17.0, height=6.6)
    for place, (words, value, weight) in enumerate(_flow(layers)):
        left = 0.2 + 3.4 * place
        _typed(ax, left, 4.9, words, value)
        if place:
            ax.annotate("", (left - 0.05, 5.4), (left - 0.75, 5.4), arrowprops={"arrowstyle": "-|>", "linewidth": 1.5})
        if value.requires_grad and value.grad is not None and words != "mse_loss":
            _typed(ax, left, 2.8, "its gradient", value.grad)
        if weight is not None:
            assert weight.grad is not None and weight.grad.dtype == weight.dtype
            _typed(ax, left, 0.7, "weight, and its gradient", weight)
    return finish(fig, "Under autocast on the CPU: blue is float32, orange bfloat16")


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


def gradients(scales: Sequence[float]) -> Figure:
    """Draw how large the gradients of a deep network are, and what float16 can hold, for some loss scales."""
    sizes = _deep_gradients().abs().double()
    sizes = sizes[sizes > 0]
    fig, _ = new_figure(1, len(scales), figsize=(9.5, 3.0))
    for ax, scale in zip(fig.axes, scales, strict=True):
        scaled = sizes * scale
        lost, over = (scaled <= SMALLEST).double().mean().item(), (scaled > LARGEST).double().mean().item()
        ax.axvspan(math.log2(SMALLEST), math.log2(LARGEST), color=YELLOW, alpha=0.45)
        ax.hist(scaled.log2().tolist(), bins=range(-42, 29), color=BLUE)
        ax.set(xlim=(-42, 28), xlabel="size, as a power of 2", yticks=[])
        ax.set_title(f"loss times 2^{math.log2(scale):g}:\n{lost:.1%} become 0, {over:.1%} inf", fontsize=10, color=INK)
    fig.axes[0].set_ylabel("how many")
    return fig


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
    return fig


def _search(slopes: Sequence[float]) -> tuple[list[float], list[bool]]:
    """Run a GradScaler on gradients; return its factor at each step, and whether the step was skipped."""
    weight = nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=0.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**20, growth_interval=10)
    factors, skipped = [], []
    for slope in slopes:
        factors.append(scaler.get_scale())
        scaled = scaler.scale(torch.tensor(slope))
        weight.grad = scaled.half().float().reshape(1)  # inf where float16 ends
        skipped.append(bool(weight.grad.isinf()))
        scaler.step(optimizer)
        scaler.update()
    return factors, skipped


def _patch(color: str, words: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(facecolor=color, edgecolor=INK, label=words, hatch="///" if words == "wait" else None)


def _piece(ax: Axes, row: int, left: float, count: int, color: str) -> float:
    """Draw one part of a bar; return its length in MiB."""
    length = count / 2**20
    ax.barh(row, length, left=left, color=color, edgecolor=INK)
    return length


def _activations(model: nn.Module, batch: Tensor) -> int:
    """Return the bytes that model(batch) saves for backward, without the parameters."""
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    saved: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        saved[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        result = model(batch)
    assert result.requires_grad
    return sum(size for address, size in saved.items() if address not in own)


def _typed(ax: Axes, x: float, y: float, words: str, value: Tensor) -> None:
    """Draw a tensor in the color of its dtype."""
    box(ax, x, y, str(value.dtype).removeprefix("torch."), DTYPES[value.dtype], width=2.6)
    caption(ax, x + 1.3, y + 1.3, words, align="center")


def _deep_gradients() -> Tensor:
    """Return all gradients of a network with six layers of sigmoids, always the same ones."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layers = [layer for _ in range(6) for layer in (nn.Linear(64, 64), nn.Sigmoid())]
        model = nn.Sequential(*layers, nn.Linear(64, 1))
        loss = nn.functional.mse_loss(model(torch.randn(256, 64)), torch.randn(256, 1))
    return torch.cat([grad.flatten() for grad in torch.autograd.grad(loss, list(model.parameters()))])
