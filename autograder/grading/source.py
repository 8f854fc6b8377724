"""The text of cells, taken apart: its statements, and what each gives to the answers of a notebook.

Everything here reads text from students and runs none of it; a text that cannot be parsed defines nothing.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from IPython.core.inputtransformer2 import TransformerManager

from autograder import names

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_CALL = "get_ipython().run_line_magic('', '')"  # what a line becomes, and is read as from then on
_SIGNS = (*"%!?,;/", ">>>", "In [")  # a line that begins so is IPython's own
_ASSIGNED = re.compile(r"=[ \t]*[%!]")  # and so is `files = !ls`
_OVER_PYTHON = re.compile(r"\s*%%(time|capture|prun)\b[^\n]*")  # what stands below runs as if the first line were none


@dataclass(frozen=True, eq=False)
class Statement:
    """One statement at the top of a cell, and the line of the cell where it ends."""

    node: ast.stmt
    last_line: int

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that it gives a value to."""
        return names.bound(self.node)

    @cached_property
    def used(self) -> frozenset[str]:
        """The global names that it looks up, also later, in a function that it defines."""
        return names.used([self.node])

    @property
    def defines(self) -> bool:
        """Whether it is a function or a class."""
        return isinstance(self.node, _DEFINITIONS)

    @property
    def is_import(self) -> bool:
        """Whether it is an import."""
        return isinstance(self.node, _IMPORTS)

    @cached_property
    def text(self) -> str:
        """The statement as Python writes it; "" where it is too deep to be written."""
        try:
            return ast.unparse(self.node)
        except (RecursionError, ValueError):
            return ""

    @cached_property
    def _set(self) -> frozenset[str]:
        return self.bound | names.given_attributes(self.node)

    @cached_property
    def _perhaps_changed(self) -> frozenset[str]:
        return names.perhaps_changed(self.node)

    def gives(self, values: frozenset[str]) -> frozenset[str]:
        """The names that it binds or changes; calls may change `values`, and neither modules nor functions."""
        return self._set | (self._perhaps_changed & values)


@lru_cache(maxsize=4096)  # asked for every exercise and every student, and most cells are the lesson's own
def statements(source: str) -> tuple[Statement, ...] | None:
    """The statements of a cell; None where it cannot be parsed."""
    tree = parsed(source)
    return None if tree is None else tuple(Statement(node, node.end_lineno or 0) for node in tree.body)


def values_of(known: Iterable[Statement]) -> frozenset[str]:
    """The names that these statements bind to something that is neither a function, a class nor a module."""
    return frozenset().union(*(each.bound for each in known if not (each.defines or each.is_import)))


def plain_python(source: str) -> str:
    """The cell with IPython's own syntax (`%magic`, `!command`, `thing?`) turned into Python calls.

    What is Python already stays as it is: IPython reads a text again for each line that it changes.
    """
    source = _without_first(source)
    try:
        _tree(source)
    except (SyntaxError, ValueError):
        return _transformed(source)
    except (RecursionError, MemoryError):  # no change makes it less deep
        return source
    return source


def parsed(source: str) -> ast.Module | None:
    """The syntax tree of a cell, None where there is none."""
    source = _without_first(source)
    for text in (str, _transformed):
        try:
            return _tree(text(source))
        except (SyntaxError, ValueError):
            continue
        except (RecursionError, MemoryError):
            return None
    return None


def _without_first(source: str) -> str:
    """A cell without a `%%time` above it; the lines below keep their numbers."""
    return _OVER_PYTHON.sub("", source, count=1) if _OVER_PYTHON.match(source) else source


def _tree(source: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


@lru_cache(maxsize=256)
def _transformed(source: str) -> str:
    if not magic_work(source):
        return source
    try:
        return str(TransformerManager().transform_cell(source))
    except Exception:  # the tokenizer has many ways to give up on a text that is no code
        return source


def magic_work(source: str) -> int:
    """How many characters IPython may have to read to change this cell: all of it, once for each line of its own."""
    lines = sum(map(_is_magic, source.splitlines())) + source.lstrip("\n")[:1].isspace()
    return lines * (len(source) + lines * len(_CALL))


def _is_magic(line: str) -> bool:
    bare = line.strip()
    if bare.startswith("#"):
        return False
    return bare.startswith(_SIGNS) or bare.endswith("?") or _ASSIGNED.search(bare) is not None


def defines(source: str, name: str) -> bool:
    """Whether a cell gives a value to this name at its top level; one that does not parse is searched."""
    known = statements(source)
    if known is None:
        return re.search(rf"^(async\s+def|def|class)\s+{re.escape(name)}\b", source, re.MULTILINE) is not None
    return any(name in statement.bound for statement in known)


def with_helpers(source: str, others: Sequence[Statement]) -> str:
    """An answer as plain Python, together with those definitions of other cells that it uses, directly or not.

    With all of them where it cannot be parsed: what is behind an answer must not be out of a rule's sight.
    """
    text, own = plain_python(source), statements(source)
    definitions = [each for each in others if each.defines]
    if own is not None:
        bound = frozenset().union(*(each.bound for each in own))
        free = [each for each in definitions if not each.bound & bound]
        definitions = names.reached(free, _used_by(own), lambda each: each.bound, lambda each: each.used)
    return "\n\n".join([*filter(None, (each.text for each in definitions)), text])


def _used_by(known: Iterable[Statement]) -> frozenset[str]:
    return frozenset().union(*(each.used for each in known))
