"""Figures of chapter 6: images of each kind, a run that is resumed in three ways, the losses of two precisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from autograder.telling.palette import BLUE, GREEN, INK, ORANGE

from .drawing import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Maker = Callable[[int], nn.Module]
_EACH = 4  # images of a kind
_STOP, _EPOCHS, _BATCH = 2, 6, 16


def samples(images: Tensor, labels: Tensor, names: Sequence[str]) -> Figure:
    """Draw the first four images (n, 1, height, width) of each kind, a kind in a row."""
    fig, axes = new_figure(len(names), _EACH, figsize=(5.6, 1.45 * len(names)))
    for kind, name in enumerate(names):
        for place, image in enumerate(images[labels == kind][:_EACH]):
            ax = axes[kind, place]
            ax.imshow(image[0], cmap="gray_r", vmin=-1.5, vmax=2.0)
            ax.set(xticks=[], yticks=[])
        axes[kind, 0].set_ylabel(name, fontsize=11, color=INK)
    return fig


# --- one run, resumed in three ways


class _Run:
    """A model in training, with all that has a memory."""

    def __init__(self, make_model: Maker, images: Tensor, labels: Tensor, seed: int) -> None:
        self.model = make_model(seed)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.order = torch.Generator().manual_seed(seed)
        self.images, self.labels = images, labels

    def epoch(self) -> float:
        """Train for an epoch; returns the mean of its losses."""
        total, groups = 0.0, torch.randperm(len(self.labels), generator=self.order).split(_BATCH)
        for rows in groups:
            self.optimizer.zero_grad()
            loss = cross_entropy(self.model(self.images[rows]), self.labels[rows])
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(groups)


def resumed(make_model: Maker, images: Tensor, labels: Tensor, seed: int) -> Figure:
    """Draw the losses of an unbroken run, and of three that go on from its second epoch with more or less memory."""
    fig, ax = new_figure(figsize=(8.0, 3.6))
    curves = {words: _losses(make_model, images, labels, seed, memory) for words, memory in _MEMORIES.items()}
    whole = curves.pop("unbroken")
    ax.plot(range(1, _EPOCHS + 1), whole, color=INK, linewidth=6, alpha=0.25, label="unbroken")
    for (words, losses), (color, style) in zip(curves.items(), _STYLES, strict=True):
        epochs = range(_STOP + 1, _EPOCHS + 1)
        ax.plot(epochs, losses[_STOP:], style, color=color, label=f"resumed with {words}")
    ax.axvline(_STOP + 0.5, color=INK, linewidth=1, linestyle=":")
    ax.set(xlabel="epoch", ylabel="mean loss", xticks=range(1, _EPOCHS + 1))
    ax.legend(fontsize=9)
    return fig


# What is carried over to the new run; None: there is no new run.
_MEMORIES: dict[str, tuple[str, ...] | None] = {
    "unbroken": None,
    "weights alone": (),
    "weights and optimizer": ("optimizer",),
    "all that remembers": ("optimizer", "order", "dropout"),
}
_STYLES = ((ORANGE, "^--"), (BLUE, "s--"), (GREEN, "o-"))


def _losses(
    make_model: Maker, images: Tensor, labels: Tensor, seed: int, memory: tuple[str, ...] | None
) -> list[float]:
    with torch.random.fork_rng(devices=[]):
        run = _Run(make_model, images, labels, seed)
        losses = [run.epoch() for _ in range(_STOP)]
        if memory is not None:
            run = _next_run(run, _Run, make_model, seed, memory)
        return losses + [run.epoch() for _ in range(_EPOCHS - _STOP)]


def _next_run(old: _Run, kind: type[_Run], make_model: Maker, seed: int, memory: tuple[str, ...]) -> _Run:
    state = torch.get_rng_state()
    new = kind(make_model, old.images, old.labels, seed)  # torch's generator begins anew, from the seed
    new.model.load_state_dict(old.model.state_dict())
    if "optimizer" in memory:
        new.optimizer.load_state_dict(old.optimizer.state_dict())
    if "order" in memory:
        new.order.set_state(old.order.get_state())
    if "dropout" in memory:
        torch.set_rng_state(state)
    return new


# --- two precisions


def precision(make_model: Maker, images: Tensor, labels: Tensor, seed: int) -> Figure:
    """Draw the losses of the same steps in float32 and in bfloat16, and how far they are apart in percent."""
    full, mixed = (_steps(make_model, images, labels, seed, amp) for amp in (False, True))
    gaps = [100 * abs(m - f) / f for m, f in zip(mixed, full, strict=True)]
    fig, axes = new_figure(1, 2, figsize=(9.0, 3.2))
    axes[0].plot(full, color=INK, linewidth=5, alpha=0.25, label="float32")
    axes[0].plot(mixed, color=ORANGE, label="mixed, bfloat16")
    axes[0].set(xlabel="step", ylabel="loss")
    axes[0].legend(fontsize=9)
    axes[1].bar(range(len(gaps)), gaps, color=ORANGE)
    axes[1].axhline(1.0, color=INK, linewidth=1, linestyle=":")
    axes[1].text(0, 1.15, "what the check allows", fontsize=9, color=INK)
    axes[1].set(xlabel="step", ylabel="apart, in percent of the loss", yscale="log", ylim=(1e-4, 5.0))
    return fig


def _steps(make_model: Maker, images: Tensor, labels: Tensor, seed: int, amp: bool) -> list[float]:
    """The losses of three epochs, each batch a step."""
    with torch.random.fork_rng(devices=[]):
        run = _Run(make_model, images, labels, seed)
        losses = []
        for x, y in 3 * list(zip(images.split(_BATCH), labels.split(_BATCH), strict=True)):
            run.optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16, enabled=amp):
                loss = cross_entropy(run.model(x), y)
            loss.backward()
            run.optimizer.step()
            losses.append(loss.item())
        return losses
