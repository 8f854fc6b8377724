"""The card of chapter 1: ten average pictures, and how many digits the reader's own distances read by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from course.figures.digits import known_digits
from course.figures.drawing import new_figure, paper, told

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAN_NOW = (
    "say what shape comes out, before you run it",
    "tell a view from a copy, and know who writes into whose memory",
    "write without loops what others write with three",
    "read handwritten digits with nothing but a distance",
)


def picture(own: Mapping[str, Any]) -> Figure:
    """Draw the ten averages, and say how many unseen digits they read with the reader's own distances."""
    distances = own.get("pairwise_sq_dists", lambda a, b: torch.cdist(a, b) ** 2)
    rows, labels = known_digits()
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))  # as the lesson draws it
    known, unseen = order[:1400], order[1400:]
    averages = torch.stack([rows[known][labels[known] == digit].mean(dim=0) for digit in range(10)])
    read = distances(rows[unseen], averages).argmin(dim=1)
    share = (read == labels[unseen]).float().mean().item()
    fig, grid = new_figure(2, 5, figsize=(6.0, 2.9))  # not ten in a row, which a phone would make tiny
    for digit, (ax, average) in enumerate(zip(grid.flat, averages, strict=True)):
        paper(ax, average.reshape(8, 8), str(digit))
    whose = "your `pairwise_sq_dists`" if "pairwise_sq_dists" in own else "the lesson's distances"
    return told(fig, f"Ten average pictures, of 0 to 9. With {whose} they read {share:.0%} of digits never seen.")
