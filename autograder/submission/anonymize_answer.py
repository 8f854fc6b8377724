"""Anonymize an answer: remove comments and docstrings, and replace the author's names without changing the code."""

from __future__ import annotations

import ast
import builtins
import itertools
import keyword
import re
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from autograder.ipython_syntax import parse_cell_text, remove_comments

if TYPE_CHECKING:
    from nbformat import NotebookNode

_SHORTEST = 3  # letters; shorter names are not replaced, since they may be ordinary words
PLACEHOLDER = "student"  # replaces each name
_LONG = 10_000  # bits
_TOO_DEEP = (RecursionError, MemoryError, ValueError)  # nested too deeply, or no valid Python text exists for it
_PYTHON = frozenset((*dir(builtins), *keyword.kwlist))
# Where there is no syntax tree, these look like attributes, keywords of calls, and imports.
_READ_BY_OTHERS = re.compile(r"\.\s*(\w+)|[(,]\s*(\w+)\s*=(?!=)|^[ \t]*(?:from|import)\b([^#\n]+)", re.MULTILINE)

# The fields in which a syntax tree keeps a name that code may bind; ast.keyword only passes one on.
_FIELDS: dict[type, str] = {
    ast.Name: "id",
    ast.arg: "arg",
    ast.alias: "asname",
    ast.ExceptHandler: "name",
    ast.MatchAs: "name",
    ast.MatchStar: "name",
    ast.MatchMapping: "rest",
    ast.keyword: "arg",
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), "name"),
}


def remove_author_from_answer(source: str, names: Iterable[str] = (), given: Collection[str] = ()) -> str:
    """Return the code of an answer without its author, formatted anew.

    `names` are what identifies the author: id, names, mail address. They and the words in them are replaced in strings,
    and in names that the code itself binds. All other names stay, since `x.max(dim)` means the same whoever wrote it:
    attributes, keywords, modules, Python's own names, and those of `given`, which the course gives to everybody.
    """
    author, given = _pattern(names), frozenset(given)
    try:
        tree = ast.parse(source)
        _remove_docstrings(tree)
        if author:
            _replace_names(tree, author, given)
        return unparse_with_long_integers(tree)
    except (SyntaxError, *_TOO_DEEP):
        return _replaced_in_text(remove_comments(source), author, given)


def names_in_release(release: NotebookNode) -> frozenset[str]:
    """Return every name in the code of a released notebook, such as the parameters that a starter asks for."""
    trees = (parse_cell_text(cell.source)[1] for cell in release.cells if cell.cell_type == "code")
    return frozenset(name for tree in trees if tree for name in _identifiers(tree))


def _identifiers(tree: ast.AST) -> Iterator[str]:
    """Yield every name in a syntax tree, attributes and keywords included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif name := getattr(node, _FIELDS.get(type(node), ""), None):
            yield name


def _remove_docstrings(tree: ast.AST) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [part for part in node.body if not _is_text(part)] or [ast.Pass()]


def unparse_with_long_integers(tree: ast.AST) -> str:
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


def _pattern(names: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern for the author's names, which are whole words or parts between underscores; None without any."""
    words = {word for name in names for word in (name, *re.split(r"[\W_]+", name)) if len(word) >= _SHORTEST}
    longest_first = sorted(map(re.escape, words), key=len, reverse=True)
    return re.compile(rf"(?<![^\W_])({'|'.join(longest_first)})(?![^\W_])", re.IGNORECASE) if words else None


def _replace_names(tree: ast.AST, author: re.Pattern[str], given: frozenset[str]) -> None:
    """Replace the author's names in strings, and in names that the code binds and that mean nothing outside of it."""
    kept = _PYTHON | given | set(_meaningful_outside(tree))
    new, taken = dict[str, str](), kept | set(_identifiers(tree))
    for old in dict.fromkeys(_bound(tree)):
        if old not in kept and author.search(old):
            new[old] = _free(author.sub(PLACEHOLDER, old), taken)
            taken |= {new[old]}
    options = set[ast.AST]()  # how a number is written in an f-string
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and node.format_spec:
            options.update(ast.walk(node.format_spec))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node not in options and node.value not in kept:  # as in reduction="sum"
                node.value = author.sub(PLACEHOLDER, node.value)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            node.names = [new.get(name, name) for name in node.names]
        elif field := _FIELDS.get(type(node)):
            setattr(node, field, new.get(getattr(node, field), getattr(node, field)))


def _free(name: str, taken: Collection[str]) -> str:
    """Return the name, or the first of `name_2`, `name_3`, ... that is not taken."""
    tries = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(2)))
    return next(each for each in tries if each not in taken)


def _bound(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a tree binds: variables, parameters, functions, classes, aliases of imports."""
    for node in ast.walk(tree):
        field = _FIELDS.get(type(node))
        is_read = isinstance(node, ast.keyword) or isinstance(getattr(node, "ctx", None), ast.Load)
        if field and not is_read and (name := getattr(node, field)):
            yield name


def _meaningful_outside(tree: ast.AST) -> Iterator[str]:
    """Yield names that others than this code read: attributes, what is imported, keywords of others' functions."""
    own = dict(_parameters(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ClassDef):  # methods, and variables of the class, are attributes
            yield from (name for part in node.body for name in _bound_here(part))
            yield from (each.arg for each in node.keywords if each.arg)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (word for alias in node.names for word in alias.name.split("."))
        elif isinstance(node, ast.Call):
            known = own.get(node.func.id, ()) if isinstance(node.func, ast.Name) else ()
            yield from (each.arg for each in node.keywords if each.arg and each.arg not in known)


def _bound_here(part: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a class body makes attributes."""
    if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield part.name
    else:
        yield from _bound(part)


def _parameters(tree: ast.AST) -> Iterator[tuple[str, set[str]]]:
    """Yield each function of the code, and each class, with the parameters that a caller may name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, _named(node.args)
        elif isinstance(node, ast.ClassDef):
            starts = (part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__")
            yield node.name, {name for start in starts for name in _named(start.args)}


def _named(args: ast.arguments) -> set[str]:
    return {each.arg for each in (*args.args, *args.kwonlyargs)}


def _replaced_in_text(text: str, author: re.Pattern[str] | None, given: frozenset[str]) -> str:
    """Replace the author's names in a text that has no syntax tree, except what looks as if others read it."""
    if author is None:
        return text
    read = " ".join(part for found in _READ_BY_OTHERS.findall(text) for part in found)
    kept = _PYTHON | given | set(re.findall(r"\w+", read))
    return re.sub(r"\w+", lambda each: each[0] if each[0] in kept else author.sub(PLACEHOLDER, each[0]), text)
