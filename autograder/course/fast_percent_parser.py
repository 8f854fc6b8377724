"""Split a chapter's text into cells, if all of them are plain, in a small part of the time that jupytext takes.

A grading run waits for this. Texts that jupytext treats specially (magics behind a comment sign, cells in quotes,
unusual blank lines) are refused, and the caller uses jupytext. For plain texts both give the same cells.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

_KEY = re.compile(r' ([A-Za-z_]+)=("[^"]*"|true|false|[\d.]+)')
_FENCE = re.compile(r"\s*(```|~~~)")
# A line inside of a cell that jupytext may take for the beginning of another one.
_MARKER = re.compile(r"\s*#\s*(%%|<codecell>|In\[)")
# A comment that jupytext may take for a magic, a shell command, a help request or an escape.
_COMMANDS = "cat|cd|cp|mv|rm|rmdir|mkdir|copy|ddir|echo|ls|ldir|ren"
_ESCAPED = re.compile(rf"\s*#[#\s]*([%!?+]|({_COMMANDS})(\s|$)|\w+\s*=\s*[%!]|\S*\?\s*$)")
_CONTINUED = re.compile(r"\s*[%!?].*\\\s*$")
_MARKDOWN = "# %% [markdown]"


class PlainCell(NamedTuple):
    """One cell: its notebook cell type, the keys of its marker, and its source."""

    cell_type: str
    keys: dict[str, Any]
    source: str


def cells_if_all_plain(text: str, lines: list[int]) -> list[PlainCell] | None:
    """Split a text at the cell markers on these lines, counted from 1; return None where jupytext has to do it.

    That is so if a cell has anything that jupytext treats specially, such as magics or unusual blank lines.
    """
    rows = text.removesuffix("\n").split("\n")
    if text.splitlines() != rows:  # other line separators, which not every reader treats as such
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
    body = body[
        : len(body) - (empty if empty <= 2 else 1)
    ]  # one or two blank lines separate cells; others belong to the cell
    is_markdown = marker.startswith(_MARKDOWN)
    if any(map(_MARKER.match, body)) or not (_is_plain_text if is_markdown else _is_plain_code)(body):
        return None
    keys = {name: json.loads(value) for name, value in _KEY.findall(marker)}
    return PlainCell("markdown" if is_markdown else "code", keys, "\n".join(_texts(body) if is_markdown else body))


def _is_plain_code(body: list[str]) -> bool:
    """Return whether jupytext keeps this code unchanged and no triple-quoted string goes on past the cell."""
    code = "\n".join(body)
    is_whole = not any(code.count(quotes) % 2 for quotes in ('"""', "'''"))
    odd = any(_ESCAPED.match(row) or _CONTINUED.match(row) for row in body if row.lstrip()[:1] in ("#", "%", "!", "?"))
    return is_whole and not odd and not code.startswith("%%")


def _is_plain_text(body: list[str]) -> bool:
    """Return whether all rows are comments from which jupytext removes exactly one comment sign."""
    if not all(row.startswith("# ") or row == "#" for row in body):
        return False
    fences = [found[1] for row in _texts(body) if (found := _FENCE.match(row))]
    odd = any(_ESCAPED.match(row) for row in body if row.startswith("# #"))
    continued = any(one.endswith("\\") and row.startswith("# #") for one, row in pairwise(body))
    return not (len(fences) % 2 or len(set(fences)) > 1 or odd or continued)


def _texts(body: list[str]) -> Iterator[str]:
    return (row[2:] for row in body)
