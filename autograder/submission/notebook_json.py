"""Parse the JSON of a notebook file, and repair damage that leaves no doubt about what was meant."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from itertools import islice
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from autograder.submission import resolve_merge_conflicts
from autograder.submission.unreadable_notebook_messages import (
    HAND_IN_AGAIN,
    damage_message,
    describe_other_kind_of_json,
    describe_other_kind_of_text,
    merge_conflict_message,
    not_a_notebook_error,
)

MAX_CONTAINERS = 1_000_000  # lists and objects; each takes much more memory than the two characters of its brackets
# A string, up to its end or the file's, or a comma before a closing bracket. The quantifiers are possessive, so that
# each character is read once.
_TRAILING = re.compile(r'("[^"\\]*+(?:\\.[^"\\]*+)*+"?)|,(?=\s*+[\]}])', re.DOTALL)
_BLANK = re.compile(r"[ \t\n\r]*+")
_SHOWN = 5
_MOST = 1500  # commas, keys and cells that are handled one by one; notebooks with more cells are rejected anyway
_MANY_QUOTES = 4_000_000  # a damaged file with more is not repaired: each quote takes time
_READ_ALL_THE_SAME = "which JSON does not allow; read all the same"


@dataclass(frozen=True)
class RepairedJson:
    """The JSON of a file, and messages: `repairs` about damage that cost nothing, `eye` about what may cost points."""

    value: Any
    repairs: tuple[str, ...] = ()
    eye: tuple[str, ...] = ()


def parse_notebook_json(text: str) -> RepairedJson:
    """Return the JSON object in a text; raises UnreadableError that says what is wrong, where, and what to do."""
    try:
        found = _parse_or_repair(text)
        if isinstance(found.value, str):  # the notebook's JSON was encoded as JSON once more
            inner = _parse_or_repair(found.value)
            message = "the notebook was packed into a JSON string; read all the same"
            found = replace(inner, repairs=(*found.repairs, message, *inner.repairs), eye=(*found.eye, *inner.eye))
    except (ValueError, RecursionError):
        raise not_a_notebook_error(
            f"its JSON is nested too deeply or holds an endless number. Clear all outputs, save, {HAND_IN_AGAIN}"
        ) from None
    if not isinstance(found.value, dict):
        raise not_a_notebook_error(describe_other_kind_of_json(found.value))
    return found


def _parse_or_repair(text: str) -> RepairedJson:
    """Parse a text; if that fails, repair damage that can only have meant one thing."""
    _check_size(text)
    try:
        return RepairedJson(json.loads(text))
    except json.JSONDecodeError as error:
        first = error
    other_kind, merge_conflict = describe_other_kind_of_text(text), merge_conflict_message(text)
    both = resolve_merge_conflicts.resolve_if_same_cells(text) if merge_conflict and not other_kind else None
    if both is not None:
        return RepairedJson(both, (resolve_merge_conflicts.RESOLVED_CONFLICT_MESSAGE,))
    if other_kind or merge_conflict:
        raise not_a_notebook_error(other_kind or merge_conflict)
    bare, repairs = _without_commas(text)
    if first.msg.startswith("Invalid control character"):
        repairs = (*repairs, f"line {first.lineno} ends within quotes, {_READ_ALL_THE_SAME}")
    try:
        if repairs:
            return RepairedJson(json.loads(bare, strict=False), repairs)
    except json.JSONDecodeError as error:
        first = error
    found = _readable_beginning(bare, first)
    if found is None:
        raise not_a_notebook_error(damage_message(bare, first))
    return replace(found, repairs=(*repairs, *found.repairs))


def _check_size(text: str) -> None:
    if text.count("{") + text.count("[") > MAX_CONTAINERS:
        raise not_a_notebook_error(
            f"it has more than {MAX_CONTAINERS} lists and objects. Clear all outputs, save, {HAND_IN_AGAIN}"
        )


def _without_commas(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text without commas before closing brackets, and a message if there were any."""
    if text.count('"') > _MANY_QUOTES:
        return text, ()
    places = list(islice((found.start() for found in _TRAILING.finditer(text) if found[0] == ","), _MOST + 1))
    if not 0 < len(places) <= _MOST:
        return text, ()
    lines = _lines(text, places)
    where = f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines[:_SHOWN]))}{' and more' * (len(lines) > _SHOWN)}"
    return _TRAILING.sub(r"\1", text), (f"a comma stands before a closing bracket in {where}, {_READ_ALL_THE_SAME}",)


def _lines(text: str, places: list[int]) -> list[int]:
    """Return the line numbers of the first places, sorted; `places` are sorted offsets in the text."""
    found, line, start = [], 1, 0
    for place in places[: _SHOWN + 1]:
        line += text.count("\n", start, place)
        start = place
        found.append(line)
    return sorted(set(found))


# --- a file that is cut off, or has more text after its end


def _readable_beginning(text: str, error: json.JSONDecodeError) -> RepairedJson | None:
    """Return what can be read of a file that is cut off or has text after the notebook; None for damage elsewhere."""
    if error.msg.startswith("Extra data"):
        return _without_trailing_text(text, error)
    if error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip()) - len("\\u123"):
        return _cut_off(text)
    return None


def _without_trailing_text(text: str, error: json.JSONDecodeError) -> RepairedJson:
    value, _ = json.JSONDecoder(strict=False).raw_decode(text, _skip_blank(text, 0))
    message = f"from line {error.lineno} on the file goes on behind the end of the notebook; that was not read"
    return RepairedJson(value, eye=(message,))


def _cut_off(text: str) -> RepairedJson:
    """Return the complete cells of a file that ends too early."""
    start = _cells_start(text)
    cells, is_all = ([], False) if start is None else _whole_cells(text, start)
    if not cells:
        raise not_a_notebook_error(
            f"it breaks off in line {text.count(chr(10)) + 1}, before its first cell ends: it was not saved, or not "
            f"sent, to its end. Save the notebook once more, {HAND_IN_AGAIN}"
        )
    found = {"cells": cells, "nbformat": 4}
    if is_all:
        return RepairedJson(found, repairs=("the file breaks off behind its last cell; all cells were read",))
    message = f"the file breaks off after cell {len(cells)}; what came behind is not there, which may have cost points"
    return RepairedJson(found, eye=(message,))


def _cells_start(text: str) -> int | None:
    """Return the offset of a notebook's first cell; None if its list of cells is not found."""
    place = _skip_blank(text, 0)
    if text[place : place + 1] != "{":
        return None
    try:
        for _ in range(_MOST):
            place = _skip_blank(text, place + 1)
            if text[place] != '"':
                break
            name, place = scanstring(text, place + 1, False)
            place = _skip_blank(text, _skip_blank(text, place) + 1)  # past the colon
            if name == "cells" and text[place] == "[":
                return place + 1
            _, place = json.JSONDecoder(strict=False).raw_decode(text, place)
            place = _skip_blank(text, place)
    except (json.JSONDecodeError, IndexError):
        pass
    return None


def _whole_cells(text: str, place: int) -> tuple[list[Any], bool]:
    """Return the complete cells from an offset on, and whether the end of their list was reached."""
    decoder = json.JSONDecoder(strict=False)
    cells: list[Any] = []
    while len(cells) < _MOST and text[(place := _skip_blank(text, place)) : place + 1] not in ("]", ""):
        try:
            cell, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError:
            break
        cells.append(cell)
        place = _skip_blank(text, place)
        place += text[place : place + 1] == ","
    return cells, text[place : place + 1] == "]"


def _skip_blank(text: str, place: int) -> int:
    """Return the offset of the next character that is not whitespace."""
    blank = _BLANK.match(text, place)
    assert blank is not None
    return blank.end()
