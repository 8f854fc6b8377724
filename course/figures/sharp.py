"""A figure as notebooks show it: as lines that take the page's ink, light or dark, and words for who cannot see it."""

from __future__ import annotations

import io
import re
from html import escape
from typing import Any

from IPython.display import display
from matplotlib import rc_context
from matplotlib.figure import Figure

from autograder.notebook.colors import INK

_LARGEST = 1_000_000  # characters of a drawing; what has more, such as a cloud of points, is better off as pixels
# The page's own color, whatever the theme: nothing here needs to know which one was chosen.
_PAGE_INK = re.compile(f"{INK}|#000000", re.IGNORECASE)
_LEGEND = re.compile(r'(<g id="legend_\d+">\s*<g id="patch_\d+">\s*<path [^>]*?style="fill: )#ffffff')
# What matplotlib says about the whole document would hold for the whole notebook.
_ABOUT = re.compile(r"<metadata>.*?</metadata>|<style.*?</style>", re.DOTALL)
_TOP = re.compile(r".*?<svg[^>]*?width=\"([\d.]+)pt\"[^>]*?viewBox=\"([^\"]*)\"[^>]*>", re.DOTALL)
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


class Drawing(Figure):
    """A figure with an alternative text, which is its titles until somebody writes a better one."""

    alt = ""

    def words(self) -> str:
        """What the figure shows, in a sentence or two."""
        return self.alt or _words_of(self) or "a figure"

    def svg(self) -> str:
        """The figure as markup for a page."""
        return _themed(self, self.words())

    def _ipython_display_(self) -> None:
        display({"text/html": self.svg(), "text/plain": self.words()}, raw=True)


def plot_on_the_page(figure: Figure) -> str | None:
    """A reader's own plot as HTML; None where it would be too large, so that it is shown in pixels."""
    shown = _themed(figure, f"A plot. {_words_of(figure)}".strip())
    return shown if len(shown) < _LARGEST else None


def _words_of(figure: Figure) -> str:
    """A figure's titles; those axes without one are told by their labels and their legend."""
    told = [figure.get_suptitle()]
    for ax in figure.axes:
        titles = [" ".join(ax.get_title(where).split()) for where in ("left", "center")]
        against = " against ".join(filter(None, (ax.get_ylabel(), ax.get_xlabel())))
        lines = ", ".join(ax.get_legend_handles_labels()[1])
        told += titles if any(titles) else [": ".join(filter(None, (against, lines)))]
    return "; ".join(filter(None, told))


def _themed(figure: Figure, words: str) -> str:
    """A figure as SVG inside the page: without paper, its ink that of the text around it."""
    drawn = io.StringIO()
    style: dict[str, Any] = {"transparent": True, "bbox_inches": "tight", "metadata": _NO_METADATA}
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": None}):
        figure.savefig(drawn, format="svg", **style)
    svg = _LEGEND.sub(r"\1none", _ABOUT.sub("", drawn.getvalue()))
    top = _TOP.match(svg)
    assert top is not None
    width = round(float(top[1]) * 100 / 72)  # a hundred dots to the inch: as wide as a page
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img" '
        f'aria-label="{escape(words)}" width="{width}" viewBox="{top[2]}" fill="currentColor" stroke-linejoin="round" '
        f'stroke-linecap="butt" style="max-width:100%;height:auto"><desc>{escape(words)}</desc>'
    )
    return head + _PAGE_INK.sub("currentColor", svg[top.end() :]).strip()
