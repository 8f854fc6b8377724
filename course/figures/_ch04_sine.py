"""Figures of chapter 4 on the sine: what one model makes of it, what several do, and how a hundred runs are spread."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from autograder.notebook.colors import BLUE, GREEN, INK, SKY, VERMILION

from .drawing import new_figure, told

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def fit_of(model: Callable[[Tensor], Tensor]) -> Figure:
    """Draw sin, and what a model of one input makes of it."""
    fig, ax = new_figure(figsize=(7.0, 3.2))
    error = _draw_fit(ax, model)
    ax.set(ylabel="y", title=f"mean squared error {error:.2g}")
    ax.legend()
    return told(fig, f"The sine from -pi to pi, dotted, and what the model gives: mean squared error {error:.2g}.")


def fits_of(models: Sequence[Callable[[Tensor], Tensor]], says: Sequence[str]) -> Figure:
    """Draw side by side what each of several models makes of sin, each under its own words."""
    fig, axes = new_figure(1, len(models), figsize=(2.6 * len(models), 2.8), sharey=True)
    errors = []
    for ax, model, words in zip(axes, models, says, strict=True):
        errors.append(_draw_fit(ax, model))
        ax.set_title(f"{words}\nmean squared error {errors[-1]:.2g}", fontsize="medium")
    axes[0].set_ylabel("y")
    axes[0].legend(fontsize=8)
    told_errors = ", ".join(f"{words} {error:.2g}" for words, error in zip(says, errors, strict=True))
    return told(fig, f"The sine, dotted, and what each model gives; mean squared errors: {told_errors}.")


def many_fits(x: Tensor, fits: Tensor, errors: Tensor, bar: float) -> Figure:
    """Draw how the errors of many runs are spread, with a threshold, and the best, middle and worst fit."""
    fig, (left, right) = new_figure(1, 2, figsize=(10.5, 3.4))
    left.hist(errors.log10().tolist(), bins=24, color=SKY, edgecolor=INK)
    left.axvline(math.log10(bar), color=VERMILION, linewidth=2)
    left.text(math.log10(bar), left.get_ylim()[1] * 0.92, f" {bar:g}", color=INK)
    ticks = (-4, -3, -2, -1)
    left.set_xticks(ticks, [f"{10.0**tick:g}" for tick in ticks])
    left.set(xlabel="mean squared error after training", ylabel="runs", title=f"{len(errors)} first weights")
    order = errors.argsort()
    right.plot(x.tolist(), x.sin().tolist(), color=INK, linestyle=":", label="sin(x)")
    for name, run, color in (("best", 0, GREEN), ("middle", len(order) // 2, BLUE), ("worst", -1, VERMILION)):
        right.plot(x.tolist(), fits[order[run]].tolist(), color=color, label=f"{name}: {errors[order[run]]:.2g}")
    right.legend(fontsize=9)
    right.set(xlabel="x", ylabel="y")
    words = f"{len(errors)} runs ended: errors from {errors.min():.2g} to {errors.max():.2g}, the bar at {bar:g}"
    return told(fig, f"Left, how {words}; right, the best, the middle and the worst of them beside the sine.")


def _draw_fit(ax: Axes, model: Callable[[Tensor], Tensor]) -> float:
    """Draw sin and the model's values; return the mean squared error."""
    x = torch.linspace(-math.pi, math.pi, 200)
    with torch.no_grad():
        y = model(x.unsqueeze(1)).squeeze(1)
    ax.plot(x.tolist(), x.sin().tolist(), color=INK, linestyle=":", label="sin(x)")
    ax.plot(x.tolist(), y.tolist(), color=BLUE, linewidth=2, label="model(x)")
    ax.set_xlabel("x")
    return ((y - x.sin()) ** 2).mean().item()
