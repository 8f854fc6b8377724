"""A chapter's text in cells, where it holds nothing but plain cells: a small part of the time that jupytext takes.

A grading run waits for it. What jupytext reads in ways of its own (magics behind a comment sign, cells in quotes, blank
lines at odd places) is not looked into: then it has to read the text, and both give the same cells.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

_KEY = re.compile(r' ([A-Za-z_]+)=("[^"]*"|true|false|[\d.]+)')
_FENCE = re.compile(r"\s*(```|~~~)")
# A line that may begin a cell for jupytext, and stands in one.
_MARKER = re.compile(r"\s*#\s*(%%|<codecell>|In\[)")
# A line behind a comment sign that jupytext may take for a magic, a command, a question or a sign of its own.
_COMMANDS = "cat|cd|cp|mv|rm|rmdir|mkdir|copy|ddir|echo|ls|ldir|ren"
_ESCAPED = re.compile(rf"\s*#[#\s]*([%!?+]|({_COMMANDS})(\s|$)|\w+\s*=\s*[%!]|\S*\?\s*$)")
_CONTINUED = re.compile(r"\s*[%!?].*\\\s*$")
_MARKDOWN = "# %% [markdown]"


class PlainCell(NamedTuple):
    """One cell: its type as notebooks have it, the keys of its marker, and its source."""

    cell_type: str
    keys: dict[str, Any]
    source: str


def plain_cells(text: str, lines: list[int]) -> list[PlainCell] | None:
    """The cells of a text whose markers stand on these lines, from 1 on; None where it is not that plain."""
    rows = text.removesuffix("\n").split("\n")
    if text.splitlines() != rows:  # signs that end a line for some and not for others
        return None
    ends = [*lines[1:], len(rows) + 1]
    cells = [_cell(rows[begin - 1], rows[begin : end - 1]) for begin, end in zip(lines, ends, strict=True)]
    found = [cell for cell in cells if cell is not None]
    return found if len(found) == len(cells) else None


def _cell(marker: str, body: list[str]) -> PlainCell | None:
    written = list(body)
    while written and not written[-1]:
        written.pop()
    if not written or not written[0].strip() or not written[-1].strip() or "\\" in marker:
        return None
    empty = len(body) - len(written)
    body = body[: len(body) - (empty if empty <= 2 else 1)]  # between cells stand one or two: the rest is a cell's own
    is_markdown = marker.startswith(_MARKDOWN)
    if any(map(_MARKER.match, body)) or not (_is_plain_text if is_markdown else _is_plain_code)(body):
        return None
    keys = {name: json.loads(value) for name, value in _KEY.findall(marker)}
    return PlainCell("markdown" if is_markdown else "code", keys, "\n".join(_texts(body) if is_markdown else body))


def _is_plain_code(body: list[str]) -> bool:
    """Whether code stays as it is, and no string of it holds the next marker."""
    code = "\n".join(body)
    is_whole = not any(code.count(quotes) % 2 for quotes in ('"""', "'''"))
    odd = any(_ESCAPED.match(row) or _CONTINUED.match(row) for row in body if row.lstrip()[:1] in ("#", "%", "!", "?"))
    return is_whole and not odd and not code.startswith("%%")


def _is_plain_text(body: list[str]) -> bool:
    """Whether all rows are comments, and none has a comment sign below its own that could be taken away too."""
    if not all(row.startswith("# ") or row == "#" for row in body):
        return False
    fences = sum(1 for row in _texts(body) if _FENCE.match(row))
    odd = any(_ESCAPED.match(row) for row in body if row.startswith("# #"))
    continued = any(one.endswith("\\") and row.startswith("# #") for one, row in pairwise(body))
    return not (fences % 2 or odd or continued)


def _texts(body: list[str]) -> Iterator[str]:
    return (row[2:] for row in body)
