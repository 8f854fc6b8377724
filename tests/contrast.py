"""Measure the contrast of a figure's parts with their background, on light and dark pages, as WCAG defines it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from autograder.notebook.colors import INK

PAGES = {"#ffffff": "#212121", "#111111": "#e0e0e0"}  # JupyterLab's background: an ink slightly paler than its own
Color = Sequence[float]


def contrast(one: Color, other: Color) -> float:
    """Return the contrast ratio of two colors, from 1 (the same) to 21 (black and white)."""
    dark, light = sorted(map(_luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: Color) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def seen(color: object, page: str, behind: Color | None = None) -> Color:
    """Return a color as the page shows it: `INK` and black become the page's ink, and transparency is mixed in."""
    *opaque, alpha = to_rgba(color)  # type: ignore[arg-type]
    if tuple(opaque) in (to_rgb(INK), (0.0, 0.0, 0.0)):
        opaque = list(to_rgb(PAGES[page]))
    under = to_rgb(page) if behind is None else behind
    return [alpha * mine + (1 - alpha) * its for mine, its in zip(opaque, under, strict=True)]


def words(figure: Figure, page: str) -> Iterator[tuple[str, float]]:
    """Yield each text of a figure, and its contrast with its background."""
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and _is_shown(text):
            behind = _behind(figure, text, page)
            yield text.get_text(), contrast(seen(text.get_color(), page, behind), behind)


def lines(figure: Figure, page: str) -> Iterator[tuple[str, float]]:
    """Yield the lines, markers, bars and boxes of a figure, with the higher contrast of edge and face; no grids."""
    grids = {line for ax in figure.axes for axis in (ax.xaxis, ax.yaxis) for line in axis.get_gridlines()}
    for line in set(figure.findobj(Line2D)) - grids:
        if line.get_visible() and _is_shown(line):
            colors = [line.get_color()] if line.get_linestyle() != "None" else [line.get_markerfacecolor()]
            colors += [line.get_markeredgecolor()] if line.get_linestyle() == "None" else []
            yield f"line {line.get_label()}", max(contrast(seen(each, page), to_rgb(page)) for each in colors)
    for many in figure.findobj(LineCollection):
        for color in many.get_edgecolor():
            yield "lines", contrast(seen(color, page), to_rgb(page))
    for patch in _patches(figure):
        colors = [patch.get_facecolor(), patch.get_edgecolor()]
        best = max(contrast(seen(each, page), to_rgb(page)) for each in colors if each[3])
        if not patch.get_hatch() and patch.get_facecolor()[3] == 1:
            yield f"patch {patch.get_label()}", best


def _is_shown(artist: Artist) -> bool:
    """Return whether an artist is visible: axes that are switched off hide their ticks and labels."""
    ax = artist.axes
    if ax is None or ax.axison:
        return ax is None or _is_within(artist, ax)
    return artist not in chain.from_iterable(axis.findobj() for axis in (ax.xaxis, ax.yaxis))


def _is_within(artist: Artist, ax: Axes) -> bool:
    """Return False for a tick label beyond the limits of the axes, of which matplotlib keeps some."""
    if not isinstance(artist, Text) or artist not in [*ax.get_xticklabels(), *ax.get_yticklabels()]:
        return True
    return bool(artist.get_window_extent().overlaps(ax.get_tightbbox() or ax.bbox))


def _patches(figure: Figure) -> Iterator[Patch]:
    """Yield the patches with a face or an edge, except legends and the backgrounds of the figure and its axes."""
    papers = {figure.patch, *(ax.patch for ax in figure.axes)}
    legends = {legend.get_frame() for ax in figure.axes if (legend := ax.get_legend())}
    legends |= {legend.get_frame() for legend in figure.legends}
    for patch in figure.findobj(Patch):
        shown = patch.get_visible() and (patch.get_facecolor()[3] or patch.get_edgecolor()[3])
        if shown and patch not in papers | legends:
            yield patch


def _behind(figure: Figure, text: Text, page: str) -> Color:
    """Return the color behind the middle of a text: its own box, an image, a filled patch, or the page."""
    if (own := text.get_bbox_patch()) is not None:
        return seen(own.get_facecolor(), page)
    box = text.get_window_extent()
    x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    for image in (image for ax in figure.axes for image in ax.images if ax.bbox.contains(x, y)):
        column, row = image.axes.transData.inverted().transform((x, y))
        numbers = np.asarray(image.get_array())
        if 0 <= round(row) < len(numbers) and 0 <= round(column) < numbers.shape[1]:
            return image.to_rgba(numbers[round(row), round(column)])[:3]  # type: ignore[no-any-return]
    near = [patch for patch in _patches(figure) if patch.axes is None or patch.axes.bbox.contains(x, y)]
    filled = [patch for patch in near if patch.get_facecolor()[3] and patch.contains_point((x, y))]
    return seen(filled[-1].get_facecolor(), page) if filled else to_rgb(page)
