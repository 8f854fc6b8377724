"""An answer without its author: comments, docstrings and the author's own names are taken out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from autograder.ipython_syntax import without_comments

_SHORTEST = 3  # letters of a name that is looked for: shorter ones are parts of many words
SOMEBODY = "student"
_LONG = 10_000  # bits


def anonymous(source: str, names: Iterable[str] = ()) -> str:
    """The code of an answer, laid out anew; `names` are words that must not stay: id, names, mail address."""
    return _without_names(_without_talk(source), names)


def _without_talk(source: str) -> str:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return without_comments(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [part for part in node.body if not _is_text(part)] or [ast.Pass()]
    try:
        return written(tree)
    except (RecursionError, MemoryError, ValueError):  # too deep, or what Python does not write
        return without_comments(source)


def written(tree: ast.AST) -> str:
    """The text of a tree; numbers that are too long for Python to write them as usual stand in sixteens."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value.bit_length() > _LONG:
            node.value = _InSixteens(node.value)
    return ast.unparse(tree) + "\n"


class _InSixteens(int):
    """A number that is written like `0xff`."""

    def __repr__(self) -> str:
        return f"{self:#x}"


def _is_text(node: ast.stmt) -> bool:
    """Whether a statement is a bare string, as a docstring is."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _without_names(text: str, names: Iterable[str]) -> str:
    words = {word for name in names for word in (name, *re.split(r"[\W_]+", name)) if len(word) >= _SHORTEST}
    if not words:
        return text
    longest_first = sorted(map(re.escape, words), key=len, reverse=True)
    return re.sub(rf"(?<![^\W_])({'|'.join(longest_first)})(?![^\W_])", SOMEBODY, text, flags=re.IGNORECASE)
