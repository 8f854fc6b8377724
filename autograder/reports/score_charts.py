"""Draw charts of a class's scores that can be read without color, each with an alternative text."""

from __future__ import annotations

import io
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from autograder.notebook.colors import BLUE, INK, ORANGE, WHITE
from autograder.notebook.html_markup import Html, picture, tag
from autograder.reports.item_analysis import ItemResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BINS = 10


def score_histogram(scores: Sequence[float], max_score: float) -> Html:
    """Return a histogram of the students' points, with the median."""
    from matplotlib.ticker import MaxNLocator

    fig, ax = _axes(8.0, 2.8)
    top = max(max_score, *scores)
    ax.hist(scores, bins=_BINS, range=(0, top), color=BLUE, edgecolor="white", linewidth=1.5)
    middle = statistics.median(scores)
    ax.axvline(middle, color=INK, linestyle="--", linewidth=1.5)
    place: Any = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    ax.annotate(f"median {middle:.3g}", (middle, 1), (4, 4), **place)
    ax.set(xlabel=f"points (full marks: {max_score:g})", ylabel="students", xlim=(0, top))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    text = (
        f"Histogram of the points of {len(scores)} students: lowest {min(scores):.3g}, median {middle:.3g}, "
        f"highest {max(scores):.3g}, full marks {max_score:g}."
    )
    return _figure(fig, text)


def item_outcome_bars(items: Sequence[ItemResults]) -> Html:
    """Return a bar for each exercise with the shares of passed, wrong and not attempted answers."""
    fig, ax = _axes(8.0, 0.9 + 0.34 * len(items))
    names = [item.exercise for item in items]
    left = [0.0] * len(items)
    for label, field, color, hatch in _SHARES:
        widths = [100 * getattr(item, field) / item.total for item in items]
        look: Any = {"color": color, "hatch": hatch, "edgecolor": INK, "linewidth": 0.7, "height": 0.7}
        ax.barh(names, widths, left=left, label=label, **look)
        _write_counts(ax, items, field, left, widths)
        left = [start + width for start, width in zip(left, widths, strict=True)]
    ax.invert_yaxis()
    ax.set(xlabel="share of the submissions, %", xlim=(0, 100))
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
    text = "Bars for each exercise: passed, wrong, not attempted. The table below has the numbers."
    return _figure(fig, text)


_SHARES = (
    ("passed", "passed", BLUE, ""),
    ("wrong", "wrong", ORANGE, "///"),
    ("not attempted", "not_attempted", WHITE, ""),
)


def _write_counts(
    ax: Axes, items: Sequence[ItemResults], field: str, left: Sequence[float], widths: Sequence[float]
) -> None:
    """Write the count into each segment that is wide enough."""
    for row, (item, start, width) in enumerate(zip(items, left, widths, strict=True)):
        if width >= 6:
            color = "white" if field == "passed" else INK
            back = {"facecolor": ORANGE, "edgecolor": "none", "pad": 1.0} if field == "wrong" else None
            where = start + width / 2
            ax.text(where, row, str(getattr(item, field)), ha="center", va="center", color=color, fontsize=9, bbox=back)


def chapters_box_plot(names: Sequence[str], shares: Sequence[Sequence[float]]) -> Html:
    """Return a box plot of each chapter's scores: box from quartile to quartile, whiskers to the lowest and highest."""
    fig, ax = _axes(8.0, 0.9 + 0.5 * len(names))
    ax.boxplot(
        [[100 * share for share in row] for row in shares],
        orientation="horizontal",
        whis=(0, 100),
        patch_artist=True,
        boxprops={"facecolor": BLUE, "edgecolor": INK},
        medianprops={"color": "white", "linewidth": 2.5},
    )
    ax.set_yticks(range(1, len(names) + 1), names)
    ax.invert_yaxis()
    most = max(100 * share for row in shares for share in row)
    ax.set(xlabel="share of full marks, %", xlim=(0, max(100, most) + 2))
    return _figure(fig, "Box plots of the share of full marks in each chapter. The table below has the numbers.")


def _axes(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    fig = Figure(figsize=(width, height), layout="constrained")
    ax = fig.subplots()
    ax.spines[["top", "right"]].set_visible(False)
    return fig, ax


def _figure(fig: Figure, text: str) -> Html:
    data = io.BytesIO()
    fig.savefig(data, format="png", dpi=150, facecolor="white", metadata={"Software": None})
    return tag("figure", picture(data.getvalue(), text))
