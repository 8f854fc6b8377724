"""Reads what is typed into an explorer's fields; nothing that is typed is run."""

from __future__ import annotations

import ast
from typing import Any


class ArgumentError(ValueError):
    """An argument that was typed in and cannot be read; the message says what was expected."""


def integers(text: str) -> list[int]:
    """The whole numbers of `2, -1`; raises ArgumentError."""
    try:
        value = ast.literal_eval(f"[{text}]")
    except (SyntaxError, ValueError):
        value = [None]
    if not all(type(number) is int for number in value):
        raise ArgumentError(f"expected whole numbers with commas between, such as 2, 3; found {text!r}.")
    return list(value)


def integer(text: str) -> int:
    """One whole number; raises ArgumentError."""
    found = integers(text)
    if len(found) != 1:
        raise ArgumentError(f"expected one whole number, found {text!r}.")
    return found[0]


def index(text: str) -> Any:
    """What stands in the brackets of `x[0, :, None]`: whole numbers, slices, lists, None, `...`; nothing else."""
    try:
        node = ast.parse(f"x[{text}]", mode="eval").body
        assert isinstance(node, ast.Subscript)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        found = tuple(_index_part(part) for part in parts)
    except (SyntaxError, ValueError, AssertionError):
        raise ArgumentError(f"expected an index such as 0, :, 1:3 or None; found {text!r}.") from None
    return found if isinstance(node.slice, ast.Tuple) else found[0]


def _index_part(node: ast.expr) -> Any:
    if isinstance(node, ast.Slice):
        ends = (node.lower, node.upper, node.step)
        return slice(*(None if end is None else ast.literal_eval(end) for end in ends))
    return ast.literal_eval(node)


def flag(text: str) -> bool:
    """True or False; raises ArgumentError."""
    if text not in ("True", "False"):
        raise ArgumentError(f"expected True or False, found {text!r}.")
    return text == "True"
