"""The card of chapter 2: ten pictures out of nothing, found by the reader's own descent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from course.figures.digits import known_digits
from course.figures.drawing import new_figure, signed, told

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAN_NOW = (
    "get a gradient with backward, and check it by hand",
    "walk downhill with it, for 640 numbers at once",
    "say which graph is kept, and stop a gradient where it should not flow",
    "find out why a gradient is missing, too large or nan",
)
_STEPS = 200


def picture(own: Mapping[str, Any]) -> Figure:
    """Draw the ten pictures after 200 steps of the reader's own descent, with the share of unseen digits they read."""
    descend = own.get("descend", _descend)
    rows, labels = known_digits()
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))  # as the lesson draws it
    ink, known, unseen = rows / 16, order[:1400], order[1400:]

    def wrongness(pictures: Tensor) -> Tensor:
        return cross_entropy(ink[known] @ pictures, labels[known])

    pictures = descend(wrongness, torch.zeros(64, 10), 1.0, _STEPS)
    share = ((ink[unseen] @ pictures).argmax(dim=1) == labels[unseen]).float().mean().item()
    fig, grid = new_figure(2, 5, figsize=(6.0, 2.9))  # not ten in a row, which a phone would make tiny
    for digit, (ax, one) in enumerate(zip(grid.flat, pictures.T, strict=True)):
        signed(ax, one.reshape(8, 8), str(digit))
    whose = "your `descend`" if "descend" in own else "the lesson's descent"
    return told(
        fig,
        f"Ten pictures, 640 numbers that began as zeros, after {_STEPS} steps of {whose}: red counts for a digit, "
        f"blue against it. They read {share:.0%} of digits never seen.",
    )


def _descend(f: Any, x: Tensor, lr: float, steps: int) -> Tensor:
    for _ in range(steps):
        x = x.detach().requires_grad_()
        x = x - lr * torch.autograd.grad(f(x), [x])[0]
    return x.detach()
