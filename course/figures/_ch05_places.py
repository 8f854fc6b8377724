"""The figure of chapter 5 that shows what `.to` does to a tensor and to a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from autograder.telling.palette import INK, NO_COLOR, ORANGE, SKY

from .drawing import blank, box, caption, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = {"cpu": SKY, "meta": ORANGE}


def places() -> Figure:
    """Draw where a tensor and a module are after `.to("meta")`: the one is there twice, the other has moved."""
    x, layer = torch.ones(3), nn.LayerNorm(3)  # it begins without random numbers
    before, y = layer.weight.device, x.to("meta")
    layer.to("meta")
    fig, ax = blank(width=17.0, height=3.6)
    _half(ax, 0.4, 'y = x.to("meta")', [("x", x.device), ("y", y.device)])
    _half(ax, 9.4, 'layer.to("meta")', [("", before), ("layer", layer.weight.device)])
    return finish(
        fig,
        "A tensor stays, and a second one is made; a module moves",
        "On the left, x stands on the CPU and y beside it on meta. On the right, the layer stands on meta, and its "
        "place on the CPU is empty.",
    )


def _half(ax: Axes, left: float, code: str, boxes: list[tuple[str, torch.device]]) -> None:
    """Draw one line of code, and what stands on each of the two devices afterwards."""
    caption(ax, left, 2.9, code)
    for x, (words, device) in zip((left, left + 4.2), boxes, strict=True):
        box(ax, x, 1.2, words, COLORS[device.type] if words else NO_COLOR, width=3.0, hatched=not words)
        caption(ax, x + 1.5, 0.6, f"on {device}", align="center")
    ax.annotate("", (left + 4.15, 1.7), (left + 3.05, 1.7), arrowprops={"arrowstyle": "-|>", "color": INK})
