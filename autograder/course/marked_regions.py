"""The marked regions of a cell's text: solution, starter and hidden tests.

A region is everything between the line `### BEGIN NAME` and the line `### END NAME`, both included.
These are nbgrader's own markers, except STARTER, which this package adds.
"""

from __future__ import annotations

import re

SOLUTION = "SOLUTION"
STARTER = "STARTER"
HIDDEN_TESTS = "HIDDEN TESTS"

# The lines with which nbgrader replaces a solution region.
STUB = ("# YOUR CODE HERE", "raise NotImplementedError()")

_MARKER = re.compile(r"\s*### (?P<edge>BEGIN|END) (?P<name>[A-Z]+(?: [A-Z]+)*)\s*")
_COMMENT = re.compile(r"# ?(?P<text>.*)")


def region_markers(source: str) -> list[tuple[str, str]]:
    """Return each marker line, in order, as (edge, name): ("BEGIN", "SOLUTION"), ("END", "SOLUTION")."""
    found = (_MARKER.fullmatch(line) for line in source.split("\n"))
    return [(match["edge"], match["name"]) for match in found if match]


def region_text(source: str, name: str) -> str:
    """Return the lines within a region, without its markers; "" if there is no such region."""
    lines = source.split("\n")
    span = _span(lines, name)
    return "\n".join(lines[span[0] + 1 : span[1]]) if span else ""


def remove_region(source: str, name: str) -> str:
    """Return the text without a region."""
    return replace_region(source, name, [])


def replace_region(source: str, name: str, lines: list[str]) -> str:
    """Return the text with a region replaced by lines, which get the region's indentation."""
    old = source.split("\n")
    span = _span(old, name)
    if span is None:
        return source
    first, last = span
    indent = old[first][: len(old[first]) - len(old[first].lstrip())]
    return "\n".join([*old[:first], *(indent + line for line in lines), *old[last + 1 :]])


def solution_cell(source: str) -> str:
    """Return an exercise cell as its worked solution: no starter, no markers."""
    lines = remove_region(source, STARTER).split("\n")
    return "\n".join(line for line in lines if not _MARKER.fullmatch(line))


def starter_cell(source: str) -> str:
    """Return an exercise cell as the student gets it: its starter region, or the cell with nbgrader's stub."""
    given = region_text(source, STARTER)
    if not given:
        return replace_region(source, SOLUTION, list(STUB))
    return uncomment(given)


def uncomment(text: str) -> str:
    """Return the text with one `# ` removed from the front of each line."""
    matches = (_COMMENT.fullmatch(line) for line in text.split("\n"))
    return "\n".join(match["text"] if match else "" for match in matches)


def _span(lines: list[str], name: str) -> tuple[int, int] | None:
    """Return the indices of the first and the last line of a region, markers included; None if there is none."""
    first = last = None
    for number, line in enumerate(lines):
        match = _MARKER.fullmatch(line)
        if match is None or match["name"] != name:
            continue
        if match["edge"] == "BEGIN" and first is None:
            first = number
        elif match["edge"] == "END" and last is None:
            last = number
    return None if first is None or last is None else (first, last)
