"""The JSON of a notebook file, also where it is damaged in a way that leaves no doubt of what was meant."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from itertools import islice
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from autograder.submission import merge_conflicts
from autograder.submission.unreadable_files import AGAIN, conflict, damage, no_notebook, odd_object, stranger

MAX_PARTS = 1_000_000  # lists and objects: each takes much more memory than the two letters it is written with
# A string, to its end or to the file's, or a comma with nothing behind it. Possessive: each letter is read once.
_TRAILING = re.compile(r'("[^"\\]*+(?:\\.[^"\\]*+)*+"?)|,(?=\s*+[\]}])', re.DOTALL)
_BLANK = re.compile(r"[ \t\n\r]*+")
_SHOWN = 5
_MOST = 1500  # commas, names and cells that are looked at one by one; a notebook of more cells is not read
_MANY_QUOTES = 4_000_000  # in a damaged file: each is looked at by itself
_TOLD = "which JSON does not allow; read all the same"


@dataclass(frozen=True)
class Found:
    """The JSON of a file; `repairs` were mended without a doubt, `eye` may have cost points."""

    value: Any
    repairs: tuple[str, ...] = ()
    eye: tuple[str, ...] = ()


def parsed(text: str) -> Found:
    """The JSON object in a text; raises UnreadableError with what is wrong, the line, and advice."""
    try:
        found = _opened(text)
        if isinstance(found.value, str):  # a notebook written as the text of a notebook
            inner = _opened(found.value)
            told = "the notebook was packed into a JSON string; read all the same"
            found = replace(inner, repairs=(*found.repairs, told, *inner.repairs), eye=(*found.eye, *inner.eye))
    except (ValueError, RecursionError):
        raise no_notebook(
            f"its JSON is nested too deeply or holds an endless number. Clear all outputs, save, {AGAIN}"
        ) from None
    if not isinstance(found.value, dict):
        raise no_notebook(odd_object(found.value))
    return found


def _opened(text: str) -> Found:
    """Parse, and where that fails, mend what can only have meant one thing."""
    _check_parts(text)
    try:
        return Found(json.loads(text))
    except json.JSONDecodeError as error:
        first = error
    why, doubt = stranger(text), conflict(text)
    both = merge_conflicts.agreed(text) if doubt and not why else None
    if both is not None:
        return Found(both, (merge_conflicts.TOLD,))
    if why or doubt:
        raise no_notebook(why or doubt)
    bare, repairs = _without_commas(text)
    if first.msg.startswith("Invalid control character"):
        repairs = (*repairs, f"line {first.lineno} ends within quotes, {_TOLD}")
    try:
        if repairs:
            return Found(json.loads(bare, strict=False), repairs)
    except json.JSONDecodeError as error:
        first = error
    found = _beginning(bare, first)
    if found is None:
        raise no_notebook(damage(bare, first))
    return replace(found, repairs=(*repairs, *found.repairs))


def _check_parts(text: str) -> None:
    if text.count("{") + text.count("[") > MAX_PARTS:
        raise no_notebook(f"it has more than {MAX_PARTS} lists and objects. Clear all outputs, save, {AGAIN}")


def _without_commas(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without commas before a closing bracket, and what is told of them."""
    if text.count('"') > _MANY_QUOTES:
        return text, ()
    places = list(islice((found.start() for found in _TRAILING.finditer(text) if found[0] == ","), _MOST + 1))
    if not 0 < len(places) <= _MOST:
        return text, ()
    lines = _lines(text, places)
    where = f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines[:_SHOWN]))}{' and more' * (len(lines) > _SHOWN)}"
    return _TRAILING.sub(r"\1", text), (f"a comma stands before a closing bracket in {where}, {_TOLD}",)


def _lines(text: str, places: list[int]) -> list[int]:
    """The lines of some places, in order; each part of the text is counted once."""
    found, line, start = [], 1, 0
    for place in places[: _SHOWN + 1]:
        line += text.count("\n", start, place)
        start = place
        found.append(line)
    return sorted(set(found))


# --- a file that breaks off, or goes on behind its end


def _beginning(text: str, error: json.JSONDecodeError) -> Found | None:
    """What stands before the end of the file, or of the notebook; None where the damage is within."""
    if error.msg.startswith("Extra data"):
        return _with_more_behind(text, error)
    if error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip()) - len("\\u123"):
        return _broken_off(text)
    return None


def _with_more_behind(text: str, error: json.JSONDecodeError) -> Found:
    value, _ = json.JSONDecoder(strict=False).raw_decode(text, _skip(text, 0))
    told = f"from line {error.lineno} on the file goes on behind the end of the notebook; that was not read"
    return Found(value, eye=(told,))


def _broken_off(text: str) -> Found:
    """The cells that stand wholly before the place where a file ends too early."""
    start = _cells_start(text)
    cells, is_all = ([], False) if start is None else _whole_cells(text, start)
    if not cells:
        raise no_notebook(
            f"it breaks off in line {text.count(chr(10)) + 1}, before its first cell ends: it was not saved, or not "
            f"sent, to its end. Save the notebook once more, {AGAIN}"
        )
    found = {"cells": cells, "nbformat": 4}
    if is_all:
        return Found(found, repairs=("the file breaks off behind its last cell; all cells were read",))
    told = f"the file breaks off after cell {len(cells)}; what came behind is not there, which may have cost points"
    return Found(found, eye=(told,))


def _cells_start(text: str) -> int | None:
    """Where the first cell of a notebook begins; None where its list of cells is not reached."""
    place = _skip(text, 0)
    if text[place : place + 1] != "{":
        return None
    try:
        for _ in range(_MOST):
            place = _skip(text, place + 1)
            if text[place] != '"':
                break
            name, place = scanstring(text, place + 1, False)
            place = _skip(text, _skip(text, place) + 1)  # behind the colon
            if name == "cells" and text[place] == "[":
                return place + 1
            _, place = json.JSONDecoder(strict=False).raw_decode(text, place)
            place = _skip(text, place)
    except (json.JSONDecodeError, IndexError):
        pass
    return None


def _whole_cells(text: str, place: int) -> tuple[list[Any], bool]:
    """The cells from a place on, and whether the end of their list was reached."""
    decoder = json.JSONDecoder(strict=False)
    cells: list[Any] = []
    while len(cells) < _MOST and text[(place := _skip(text, place)) : place + 1] not in ("]", ""):
        try:
            cell, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError:
            break
        cells.append(cell)
        place = _skip(text, place)
        place += text[place : place + 1] == ","
    return cells, text[place : place + 1] == "]"


def _skip(text: str, place: int) -> int:
    blank = _BLANK.match(text, place)
    assert blank is not None
    return blank.end()
