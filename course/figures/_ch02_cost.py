"""The figure of chapter 2 that shows what the loss makes of a share: each halving costs the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from autograder.notebook.colors import BLUE, GREY, INK, VERMILION

from .drawing import finish, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HALVINGS = 4
LABELS = ("1 costs nothing", "1/2 costs 0.69", "1/4 costs 1.39", "1/8 costs ?", "1/16 costs ??")  # the lesson asks


def cost_of_a_share() -> Figure:
    """Draw minus the logarithm of a share, with a stair for each halving from 1 on."""
    fig, ax = new_figure(figsize=(9.5, 3.8))
    shares = [0.02 + 0.98 * place / 400 for place in range(401)]
    ax.plot(shares, [-math.log(share) for share in shares], color=BLUE, linewidth=2)
    for number in range(HALVINGS + 1):
        share, cost = 0.5**number, number * math.log(2)
        ax.plot([share], [cost], "o", color=VERMILION, markersize=8, zorder=3, clip_on=False)
        ax.annotate(LABELS[number], (share, cost), (9, 7), textcoords="offset points", fontsize=11, color=INK)
        if number < HALVINGS:
            above = cost + math.log(2)
            ax.plot([share, share / 2, share / 2], [cost, cost, above], color=GREY, linewidth=1, linestyle="--")
    ax.set(xlabel="share of the right answer", ylabel="cost", xlim=(0, 1.2), ylim=(0, 4.1))
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1])
    ax.set_yticks([0, 1, 2, 3, 4])
    ax.spines[["right", "top"]].set_visible(False)
    return finish(
        fig,
        "Half the share, 0.69 more to pay",
        "A curve that falls from far above, where the share is near 0, to 0 at a share of 1. Dots on it say that a "
        "share of 1 costs nothing, 1/2 costs 0.69 and 1/4 costs 1.39; at 1/8 and 1/16 stand question marks. Stairs of "
        "equal height lead from one dot to the next.",
    )
