"""Read the text of a markdown cell: its headings, its code, and the numbers of words and code lines in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

_FENCED = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*$(?P<code>.*?)(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)", re.M | re.S
)
# The same number of backticks before and after, and no empty line between.
_INLINE = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`)", re.S)
_HEADING = re.compile(r"^ {0,3}(?P<signs>#{1,6})[ \t]+(?=\S)(?P<text>[^\n]*)$", re.M)
_FILLER = "\0"


@dataclass(frozen=True)
class Heading:
    """One heading: its level from 1 to 6, its text, and the offsets in the cell at which its line and text begin."""

    level: int
    text: str
    start: int
    text_start: int


@dataclass(frozen=True)
class HeadedText:
    """A cell's text from one heading to the next; `heading` is None for the text above the first one."""

    heading: Heading | None
    text: str


def mask_code(source: str) -> str:
    """Return a text of the same length in which inline and fenced code is replaced by filler characters."""
    for pattern in (_FENCED, _INLINE):
        source = pattern.sub(lambda found: re.sub(r"[^\n]", _FILLER, found[0]), source)
    return source


def headings(source: str) -> list[Heading]:
    """Return the headings of a cell, in order."""
    return [
        Heading(
            len(found["signs"]), source[found.start("text") : found.end()].strip(), found.start(), found.start("text")
        )
        for found in _HEADING.finditer(mask_code(source))
    ]


def leading_heading(source: str) -> Heading | None:
    """Return the heading that a cell begins with; None if it begins with other text."""
    found = headings(source)
    return found[0] if found and not source[: found[0].start].strip() else None


def split_at_headings(source: str) -> Iterator[HeadedText]:
    """Yield a cell's text in excerpts, cut before each heading."""
    found = headings(source)
    edges = [*(heading.start for heading in found), len(source)]
    if source[: edges[0]].strip():
        yield HeadedText(None, source[: edges[0]])
    for heading, (begin, end) in zip(found, pairwise(edges), strict=True):
        yield HeadedText(heading, source[begin:end])


def word_count(text: str) -> int:
    """Return the number of words to read; inline code counts, fenced code does not."""
    return sum(any(map(str.isalnum, word)) for word in _FENCED.sub("", text).split())


def fenced_line_count(text: str) -> int:
    """Return the number of code lines in fences that are not blank."""
    return sum(count_nonblank_lines(found["code"]) for found in _FENCED.finditer(text))


def count_nonblank_lines(source: str) -> int:
    """Return the number of lines that are not blank."""
    return sum(bool(line.strip()) for line in source.split("\n"))
