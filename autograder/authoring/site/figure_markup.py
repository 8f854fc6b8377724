"""Figures on a page: each is laid out when it comes near, and letters that several of them draw stand there once."""

from __future__ import annotations

import re

from autograder.notebook.html_markup import Html, tag

_FIGURE = re.compile(
    r'<svg xmlns="[^"]*"[^>]*? aria-label="([^"]*)" width="(\d+)" viewBox="([^"]*)".*?</svg>', re.DOTALL
)
_LETTER = re.compile(r'\s*<path id="(DejaVu[^"]*)"[^>]*/>', re.DOTALL)
_EMPTY = re.compile(r"\s*<defs>\s*</defs>")
_LEAST = 0.6  # the share of its own width that a figure has at least
_IMAGE = re.compile(r'<img (?=[^>]*src="data:)')


def lightened(body: str) -> str:
    """The text of a page whose figures a script puts in when they come near (`_static/near.js`).

    Until then a place of the same size holds each, and says the same words; its markup stands in a `noscript`, so
    that a browser without scripts shows it at once, and one with scripts does not read it before.
    """
    letters: dict[str, str] = {}

    def held(found: re.Match[str]) -> str:
        whole = _EMPTY.sub("", _LETTER.sub(lambda letter: _kept(letter, letters), found[0]))
        return _place(found, whole)

    page = _IMAGE.sub('<img loading="lazy" ', _FIGURE.sub(held, body))
    if not letters:
        return page
    drawn = tag("svg", tag("defs", Html("".join(letters.values()))), class_="letters", aria_hidden="true")
    return page + drawn


def _kept(letter: re.Match[str], letters: dict[str, str]) -> str:
    """Keep the first drawing of a letter; its name says font and letter, so that others are the same."""
    letters.setdefault(letter[1], letter[0])
    return ""


def _place(found: re.Match[str], svg: str) -> str:
    words, width, (_, _, across, down) = found[1], found[2], found[3].split()
    # On a phone it is moved sideways: smaller than that, nobody could read its letters.
    size = f"min-width:{_LEAST * int(width):.0f}px;max-width:{width}px;aspect-ratio:{across}/{down}"
    # The words are escaped already: they come out of markup.
    return f'<div class="later" role="img" aria-label="{words}" style="{size}"><noscript>{svg}</noscript></div>'
