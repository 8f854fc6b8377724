"""Make SVG figures on a page cheaper: insert each when it is scrolled near, and define each glyph once per page."""

from __future__ import annotations

import re

from autograder.authoring.site.minify_figures import minify_svg
from autograder.notebook.html_markup import Html, tag

_FIGURE = re.compile(
    r'<svg xmlns="[^"]*"[^>]*? aria-label="([^"]*)" width="(\d+)" viewBox="([^"]*)".*?</svg>', re.DOTALL
)
_LETTER = re.compile(r'\s*<path id="(DejaVu[^"]*)"[^>]*/>', re.DOTALL)
_EMPTY = re.compile(r"\s*<defs>\s*</defs>")
_LEAST = 0.6  # the minimum width of a figure, as a share of its own width


def defer_figures(body: str) -> str:
    """Return the HTML of a page whose figures the script `_static/near.js` inserts when they are near the view.

    Until then a placeholder has the figure's size and label. The figure's markup is in a `noscript` element: a browser
    without scripts shows it at once, and one with scripts does not parse it before it is needed.
    """
    letters: dict[str, str] = {}

    def held(found: re.Match[str]) -> str:
        whole = _EMPTY.sub("", _LETTER.sub(lambda letter: _kept(letter, letters), found[0]))
        head, end, lines = whole.partition("</desc>")
        return _place(found, head + end + minify_svg(lines))

    page = _FIGURE.sub(held, body)
    if not letters:
        return page
    drawn = tag("svg", tag("defs", Html("".join(letters.values()))), class_="letters", aria_hidden="true")
    return page + drawn


def _kept(letter: re.Match[str], letters: dict[str, str]) -> str:
    """Store the first drawing of a letter, and remove it; its id names font and letter."""
    letters.setdefault(letter[1], letter[0])
    return ""


def _place(found: re.Match[str], svg: str) -> str:
    """Return the placeholder of a figure."""
    words, width, (_, _, across, down) = found[1], found[2], found[3].split()
    # On a phone the figure scrolls sideways: at a smaller width its letters could not be read.
    size = f"min-width:{_LEAST * int(width):.0f}px;max-width:{width}px;aspect-ratio:{across}/{down}"
    # The words are escaped already: they come out of markup.
    return f'<div class="later" role="img" aria-label="{words}" style="{size}"><noscript>{svg}</noscript></div>'
