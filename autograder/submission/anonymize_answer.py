"""Anonymize an answer: remove comments, docstrings and the author's names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from autograder.ipython_syntax import without_comments

_SHORTEST = 3  # letters; shorter names are not replaced, since they may be ordinary words
PLACEHOLDER = "student"  # replaces each name
_LONG = 10_000  # bits


def without_author(source: str, names: Iterable[str] = ()) -> str:
    """Return the code of an answer without its author, formatted anew.

    `names` are what identifies the author: id, names, mail address. They and the words in them are replaced.
    """
    return _without_names(_without_comments_and_docstrings(source), names)


def _without_comments_and_docstrings(source: str) -> str:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return without_comments(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [part for part in node.body if not _is_text(part)] or [ast.Pass()]
    try:
        return source_of(tree)
    except (RecursionError, MemoryError, ValueError):  # nested too deeply, or no valid Python text exists for it
        return without_comments(source)


def source_of(tree: ast.AST) -> str:
    """Return the source text of a tree. Integers too long to convert to decimal are written in hexadecimal."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value.bit_length() > _LONG:
            node.value = _Hexadecimal(node.value)
    return ast.unparse(tree) + "\n"


class _Hexadecimal(int):
    """An integer whose repr is like `0xff`."""

    def __repr__(self) -> str:
        return f"{self:#x}"


def _is_text(node: ast.stmt) -> bool:
    """Return whether a statement is only a string, as a docstring is."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _without_names(text: str, names: Iterable[str]) -> str:
    words = {word for name in names for word in (name, *re.split(r"[\W_]+", name)) if len(word) >= _SHORTEST}
    if not words:
        return text
    longest_first = sorted(map(re.escape, words), key=len, reverse=True)
    return re.sub(rf"(?<![^\W_])({'|'.join(longest_first)})(?![^\W_])", PLACEHOLDER, text, flags=re.IGNORECASE)
