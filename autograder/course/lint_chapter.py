"""Check a chapter's markers, its keys against the closed list, and its cells against each other.

name="some-name"                any cell: a stable name, which becomes the cell's id
setup=true                      the one setup cell
parameters=true                 the one cell of numbers that papermill may replace
exercise="relu"                 a solution cell
check="relu" points=2           its check, in points; or, for a stretch exercise, extra=2
hunt="relu" points=2            a graded bug hunt: the three cells in which each student mends another faulty program
predict=true                    a guess; the next code cell calls reveal(guess, ...)
figure=true                     a cell whose result is a figure
claim=true                      asserts about the cell above, which the tests run and no reader sees
mine=true                       a cell that calls mine(), right below a check
side=true                       a markdown cell that begins a side path, with a heading of level 4
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from autograder.course.chapter_model import CellKind, Chapter
from autograder.errors import ChapterFormatError
from autograder.ipython_syntax import SETUP

_MARKER = re.compile(r'# %%( \[markdown\])?( [A-Za-z_]+=("[^"]*"|true|false|\d+(\.\d+)?))*\s*')
_LOOKS = re.compile(r"#\s*%%")
_KEY = re.compile(r"([A-Za-z_]+)=")
_NAME = re.compile(r"[a-z0-9-]{1,60}")
EXERCISE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,50}")

# The first of these keys in a code cell's marker decides its kind; the set holds the keys allowed for that kind.
_KINDS: dict[str, frozenset[str]] = {
    "setup": frozenset({"setup", "name"}),
    "parameters": frozenset({"parameters", "name"}),
    "predict": frozenset({"predict", "name"}),
    "figure": frozenset({"figure", "name"}),
    "mine": frozenset({"mine", "name"}),
    "known": frozenset({"known", "name"}),
    "claim": frozenset({"claim", "name"}),
    "exercise": frozenset({"exercise", "name"}),
    "check": frozenset({"check", "points", "extra", "name"}),
    "hunt": frozenset({"hunt", "points"}),
}
_MARKDOWN = frozenset({"side", "name"})
CELL_KEYS = tuple(sorted(_MARKDOWN.union(*_KINDS.values())))
RESERVED_CELL_NAMES = ("install", SETUP)


def raise_format_error(where: str, line: int, message: str) -> NoReturn:
    """Raise a ChapterFormatError for one line of a chapter."""
    raise ChapterFormatError(f"{where}:{line}: {message}")


def find_cell_markers(text: str, where: str) -> list[int]:
    """Return the line number of each cell marker; raise ChapterFormatError if one cannot be read."""
    rows = text.split("\n")
    if not _LOOKS.match(rows[0]):
        raise_format_error(
            where, 1, "expected a cell marker on the first line, `# %% [markdown]`; begin the file with it."
        )
    lines = [number for number, row in enumerate(rows, 1) if _LOOKS.match(row)]
    for line in lines:
        _check_marker(rows[line - 1], where, line)
    return lines


def _check_marker(row: str, where: str, line: int) -> None:
    if not _MARKER.fullmatch(row):
        raise_format_error(
            where,
            line,
            f"cannot read the cell marker `{row.strip()}`; write `# %%` or `# %% [markdown]`, then keys such "
            'as name="a-name", points=2 or setup=true with one space between them.',
        )
    keys = _KEY.findall(re.sub(r'"[^"]*"', '""', row))
    for key in keys:
        if keys.count(key) > 1:
            raise_format_error(where, line, f"the key {key}= stands twice; keep one.")


def cell_kind(cell_type: str, keys: dict[str, Any], where: str, line: int) -> CellKind:
    """Return a cell's kind from its keys; raise ChapterFormatError for an unknown key or a wrong value."""
    for key, value in keys.items():
        _check_key(key, value, where, line)
    main = [key for key in _KINDS if key in keys]
    if cell_type == "markdown":
        _check_company("markdown", keys, _MARKDOWN, where, line)
        return CellKind.MARKDOWN
    if not main:
        _check_company("plain code", keys, {"name"}, where, line)
        return CellKind.LESSON
    _check_company(main[0], keys, _KINDS[main[0]], where, line)
    return CellKind(main[0])


def _check_key(key: str, value: Any, where: str, line: int) -> None:
    if key not in CELL_KEYS:
        close = difflib.get_close_matches(key, CELL_KEYS, n=1)
        hint = f"did you mean {close[0]}=?" if close else f"the keys are: {', '.join(CELL_KEYS)}."
        raise_format_error(where, line, f"there is no key {key}=; {hint}")
    expected = _expected(key, value)
    if expected:
        raise_format_error(where, line, f"expected {key}={expected}, found {key}={value!r}; correct the value.")


def _expected(key: str, value: Any) -> str | None:
    """Return a description of the values that a key takes, or None if this value is one of them."""
    if key == "name":
        good = isinstance(value, str) and _NAME.fullmatch(value)
        return None if good else '"..." of lower-case letters, digits and dashes'
    if key in ("exercise", "check", "hunt"):
        good = isinstance(value, str) and EXERCISE.fullmatch(value)
        return None if good else '"..." of letters, digits and underscores, a letter first'
    if key in ("points", "extra"):
        return None if type(value) is int and value > 0 else "a whole number above 0"
    return None if value is True else "true"


def _check_company(kind: str, keys: Iterable[str], allowed: Iterable[str], where: str, line: int) -> None:
    extra = sorted(set(keys) - set(allowed))
    if extra:
        raise_format_error(
            where,
            line,
            f"a {kind} cell takes no {extra[0]}=; take the key away or give it a cell of its own.",
        )


def check_rules_between_cells(chapter: Chapter) -> None:
    """Check the rules between cells: required kinds, unique names, one check for each exercise."""
    _check_counts(chapter)
    _check_ids(chapter)
    _check_pairs(chapter)


def _check_counts(chapter: Chapter) -> None:
    if chapter.cells[0].kind is not CellKind.MARKDOWN:
        raise_format_error(
            chapter.where,
            1,
            "expected the opening markdown cell first; begin the file with `# %% [markdown]`.",
        )
    setups = list(chapter.of_kind(CellKind.SETUP))
    if not setups:
        raise_format_error(chapter.where, 1, "expected one setup cell, found none; mark it with setup=true.")
    for kind in (CellKind.SETUP, CellKind.PARAMETERS):
        again = list(chapter.of_kind(kind))[1:]
        if again:
            raise_format_error(
                chapter.where, again[0].line, f"expected one {kind.value} cell, found another; join the two."
            )


def _check_ids(chapter: Chapter) -> None:
    seen: dict[str, int] = {}
    for cell in chapter.cells:
        for name in filter(None, {cell.keys.get("name"), cell.grade_id}):
            if name in RESERVED_CELL_NAMES and cell.kind is not CellKind.SETUP:
                raise_format_error(chapter.where, cell.line, f"the name {name!r} is the build's own; choose another.")
            if name in seen:
                raise_format_error(
                    chapter.where,
                    cell.line,
                    f"the name {name!r} stands on line {seen[name]} too; choose another.",
                )
            seen[name] = cell.line


def _check_pairs(chapter: Chapter) -> None:
    exercises = {cell.keys["exercise"]: cell.line for cell in chapter.of_kind(CellKind.EXERCISE)}
    checks = {cell.keys["check"]: cell.line for cell in chapter.of_kind(CellKind.CHECK)}
    for name, line in exercises.items():
        if name not in checks:
            advice = f'add a cell check="{name}" points=1'
            for near in difflib.get_close_matches(name, checks.keys() - exercises.keys(), n=1):
                advice = f"the check on line {checks[near]} is of {near!r}: give both one name, or {advice}"
            raise_format_error(chapter.where, line, f"the exercise {name!r} has no check; {advice}.")
    for name, line in checks.items():
        if name not in exercises:
            raise_format_error(
                chapter.where,
                line,
                f"the check of {name!r} has no exercise; correct the name or add the exercise.",
            )
        if line < exercises[name]:
            raise_format_error(chapter.where, line, f"the check of {name!r} stands before its exercise; put it below.")
