"""The first pictures of chapters 6b and 6c: a training that is stopped, and five trainers, of which one is sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from autograder.notebook.colors import BLUE, GREEN, GREY, INK, VERMILION

from .digits import known_digits
from .drawing import new_figure, told

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EPOCHS, _STOP, _KNOWN = 8, 3, 1400
# What one trainer may get wrong and still run, each with its line in the picture.
_FAULTS = {"softmax": (VERMILION, "s-"), "gradients": (BLUE, "^-"), "rate": (INK, "v-"), "mode": (GREEN, "o--")}


def stopped() -> Figure:
    """Draw the losses of a training up to the epoch after which somebody stops it."""
    losses, _ = _trained("")
    fig, ax = new_figure(figsize=(8.0, 2.8))
    ax.plot(range(1, _EPOCHS + 1), losses, color=GREY, linewidth=6, label="unbroken")
    ax.plot(range(1, _STOP + 1), losses[:_STOP], "o-", color=BLUE, label="stopped")
    ax.axvline(_STOP + 0.5, color=INK, linewidth=1, linestyle=":")
    ax.text(_STOP + 0.6, losses[0] * 0.85, "here somebody closes the laptop", fontsize=10, color=INK)
    ax.set(xlabel="epoch", ylabel="mean loss", xticks=range(1, _EPOCHS + 1), ylim=(0, None))
    ax.legend(fontsize=9, frameon=False)
    return told(
        fig,
        f"The loss of {_EPOCHS} epochs: a wide gray line runs unbroken and falls. A thin one lies on it and ends after "
        f"epoch {_STOP}, at a dotted line that says: here somebody closes the laptop.",
    )


def five_trainers() -> Figure:
    """Draw the accuracy of a sound trainer, and of four that have one fault each and run without an error."""
    fig, ax = new_figure(figsize=(8.0, 3.2))
    epochs = range(1, _EPOCHS + 1)
    shares = {fault: [100 * share for share in _trained(fault)[1]] for fault in ("", *_FAULTS)}
    ax.plot(epochs, shares.pop(""), color=GREY, linewidth=6, label="sound")
    for (fault, measured), name in zip(shares.items(), "ABCD", strict=True):
        color, style = _FAULTS[fault]
        ax.plot(epochs, measured, style, color=color, label=f"one fault, {name}")
    ax.set(xlabel="epoch", ylabel="% right, of digits never seen", xticks=epochs, ylim=(0, 100))
    fig.legend(loc="outside right center", fontsize=9, frameon=False)
    ends = ", ".join(f"{measured[-1]:.0f}" for measured in shares.values())
    return told(
        fig,
        f"The share of unseen digits that five trainers have right after each of {_EPOCHS} epochs. A sound one is a "
        f"wide gray line. Four others, each with one fault, end at {ends} percent.",
    )


def _trained(fault: str) -> tuple[list[float], list[float]]:
    """Return the losses and accuracies of a training with one fault, or with none."""
    data, labels = known_digits()
    ink, losses, shares = data / 16, [], []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 10))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        order = torch.randperm(len(labels))
        for epoch in range(_EPOCHS):
            total = []
            for step, rows in enumerate(order[:_KNOWN].split(50)):
                optimizer.param_groups[0]["lr"] = 0.1 / 2 ** (28 * epoch + step if fault == "rate" else epoch)
                if fault != "gradients":
                    optimizer.zero_grad()
                scores = model(ink[rows])
                total.append(cross_entropy(scores.softmax(dim=1) if fault == "softmax" else scores, labels[rows]))
                torch.autograd.backward(total[-1])
                optimizer.step()
            losses.append(torch.stack(total).mean().item())
            with torch.no_grad():
                says = model.train(fault == "mode")(ink[order[_KNOWN:]]).argmax(dim=1)
            model.train()
            shares.append((says == labels[order[_KNOWN:]]).float().mean().item())
    return losses, shares
