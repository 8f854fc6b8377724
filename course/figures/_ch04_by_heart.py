"""A figure of chapter 4: ten points, a line near them and a curve through all of them, and ten new points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from autograder.notebook.colors import BLUE, GREY, INK, VERMILION

from .drawing import new_figure, told

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COUNT, NOISE, SEED = 10, 0.25, 14


def ten_points(*, new: bool = False) -> Figure:
    """Draw ten measurements with a line and a curve; `new`: ten new ones, with both errors on them."""
    old, fresh = measurements()
    through = straight(*old), by_heart(*old)
    fig, ax = new_figure(figsize=(7.0, 3.4))
    across = torch.linspace(-1, 1, 400, dtype=torch.float64)
    x, y = fresh if new else old
    ax.plot(old[0].tolist(), old[1].tolist(), "o", color=GREY if new else INK, label="what was seen")
    if new:
        ax.plot(x.tolist(), y.tolist(), "D", markerfacecolor="none", color=INK, label="new")
    errors = [((at(one, x) - y) ** 2).mean().item() for one in through]
    for one, error, name, color in zip(through, errors, ("line", "curve"), (BLUE, VERMILION), strict=True):
        ax.plot(across.tolist(), at(one, across).tolist(), color=color, label=f"{name}: error {error:.2f}")
    ax.set(xlabel="x", ylabel="y", ylim=(-2.4, 3.4))
    ax.legend(fontsize=9, loc="upper left")
    where = "ten new points" if new else "the ten points"
    return told(
        fig,
        f"Points along a rising line, a straight line near them, and a wavy curve through all ten. "
        f"Mean squared errors on {where}: line {errors[0]:.2f}, curve {errors[1]:.2f}.",
    )


def measurements() -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Ten points to learn from and ten new ones, with x from -1 to 1, near y = 1.5 * x."""
    drawn = torch.Generator().manual_seed(SEED)

    def near_the_line(x: Tensor) -> tuple[Tensor, Tensor]:
        return x, 1.5 * x + NOISE * torch.randn(COUNT, generator=drawn, dtype=torch.float64)

    seen = near_the_line(torch.linspace(-1, 1, COUNT, dtype=torch.float64))
    return seen, near_the_line(torch.linspace(-0.95, 0.95, COUNT, dtype=torch.float64))


def straight(x: Tensor, y: Tensor) -> Tensor:
    """The two coefficients of the line that fits best."""
    found: Tensor = torch.linalg.lstsq(_powers(x, 2), y).solution
    return found


def by_heart(x: Tensor, y: Tensor) -> Tensor:
    """The coefficients of the polynomial that goes through all points."""
    found: Tensor = torch.linalg.solve(_powers(x, len(x)), y)
    return found


def at(coefficients: Tensor, x: Tensor) -> Tensor:
    """The values of a polynomial."""
    return _powers(x, len(coefficients)) @ coefficients


def _powers(x: Tensor, count: int) -> Tensor:
    return torch.stack([x**power for power in range(count)], dim=1)
