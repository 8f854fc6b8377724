"""The card at the end of a chapter: the skills that the reader now has, and a picture made with the reader's answers.

The course defines the card of a chapter in `cards/STEM.py`: the lines `CAN_NOW`, and the function `picture(own)`, where
`own` maps exercises to the reader's answers that have passed in this kernel. Without that file there is no card.
"""

from __future__ import annotations

import base64
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import torch

from autograder.course.course import current_course
from autograder.course.points_and_hints import IndexedChapter
from autograder.notebook.colors import INK, PASSED, PASSED_MARK, WHITE
from autograder.notebook.html_markup import Html, join, panel, sentence_to_html, tag
from autograder.notebook.last_checked_answer import LAST_CHECKS
from autograder.notebook.progress_log import interactive_notebook_shell

_WIDTH, _EDGE, _LINE, _LETTERS = 960, 30, 26, 100  # of the card as an image: pixels, and letters per line of text


_WIDE = re.compile(r'\bwidth="[\d.]+"')  # the attribute of a drawing for a page, which derives the height from it


@dataclass(frozen=True)
class Card:
    """A card to display as text or as HTML, and to save as an image."""

    title: str
    can_now: tuple[str, ...]
    svg: str
    words: str
    name: str

    def __repr__(self) -> str:
        lines = "\n".join(f"  {PASSED_MARK} {each}" for each in self.can_now)
        return f"{self.title} is done. You can now\n{lines}\n{self.words}".rstrip()

    def _repr_html_(self) -> Html:
        lines = (tag("li", each, style="margin:0.1em 0") for each in self.can_now)
        return panel(
            PASSED,
            tag("div", f"{self.title} is done", style="font-weight:600"),
            tag("div", "You can now", style="margin-top:0.3em"),
            tag("ul", *lines, style="margin:0.2em 0 0.6em;padding-left:1.4em"),
            Html(self.svg),
            tag("div", sentence_to_html(self.words), style="margin:0.3em 0"),
            tag("a", "Save this card as an image", href=self._address(), download=f"{self.name}.svg"),
        )

    def _address(self) -> str:
        return f"data:image/svg+xml;base64,{base64.b64encode(self.image().encode()).decode()}"

    def image(self) -> str:
        """Return the card as one SVG file with its own background and text color, because no page provides them."""
        rows = [
            "You can now",
            *(f"{PASSED_MARK} {each}" for each in self.can_now),
            "",
            *textwrap.wrap(self.words.replace("`", ""), _LETTERS),
        ]
        top = _EDGE + 2 * _LINE + len(rows) * _LINE
        wide, high = _size(self.svg)
        height = round(top + high * (_WIDTH - 2 * _EDGE) / wide + _EDGE) if high else top + _EDGE
        written = join(*_lines(self.title, rows))
        place = f'x="{_EDGE}" y="{top}" width="{_WIDTH - 2 * _EDGE}" height="{height - top - _EDGE}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img" '
            f'aria-label="{escape(repr(self))}" width="{_WIDTH}" height="{height}" color="{INK}" fill="{INK}" '
            f'font-family="sans-serif"><rect width="100%" height="100%" fill="{WHITE}"/>{written}'
            f"{_WIDE.sub(place, self.svg, count=1)}</svg>"
        )


def _lines(title: str, rows: list[str]) -> Iterator[Html]:
    yield tag("text", title, x=_EDGE, y=_EDGE + 14, font_size=22, font_weight=700)
    for number, row in enumerate(rows):
        yield tag("text", row, x=_EDGE, y=_EDGE + (2 + number) * _LINE, font_size=16)


def _size(svg: str) -> tuple[float, float]:
    """Return the width and height of an SVG drawing in its own units; (1, 0) without a viewBox."""
    _, found, rest = svg.partition('viewBox="')
    numbers = rest.partition('"')[0].split() if found else []
    return (float(numbers[2]), float(numbers[3])) if len(numbers) == 4 else (1.0, 0.0)


def make_skills_card(chapter: IndexedChapter) -> Card | None:
    """Return the card of a chapter whose exercises have passed; None in scripts and grading, or if it has no card."""
    if interactive_notebook_shell() is None or (made := current_course().card(chapter.stem)) is None:
        return None
    svg, words = _drawn(made.picture, _own(chapter))
    return Card(chapter.title, tuple(made.CAN_NOW), svg, words, chapter.stem)


def _own(chapter: IndexedChapter) -> dict[str, Any]:
    """Map exercises to the reader's answers that have passed in this kernel and are still bound to their names."""
    names = getattr(interactive_notebook_shell(), "user_ns", {})
    checks = {name: LAST_CHECKS[name] for name in chapter.exercises if name in LAST_CHECKS}
    return {
        name: last.answer
        for name, last in checks.items()
        if last.passed and last.called and names.get(last.called) is last.answer
    }


def _drawn(picture: Any, own: dict[str, Any]) -> tuple[str, str]:
    """Return the SVG and the caption of the picture, drawn with the reader's answers, or without if that fails.

    Both are "" if it fails without them too: the card then has its lines only.
    """
    for answers in (own, {}):
        try:
            with torch.random.fork_rng(devices=[]):  # the reader's next random numbers must not change
                figure = picture(answers)
            return figure.svg(), figure.words()
        except Exception:  # an answer that passed its check may fail on other arguments
            continue
    return "", ""
