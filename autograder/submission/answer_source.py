"""Split cells into statements, and find the statements that make up an answer.

The text comes from students, and none of it is run. A cell that cannot be parsed defines nothing.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache

from autograder.ipython_syntax import as_python
from autograder.python_names import Names, names_of, reached

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_OVER_PYTHON = re.compile(r"(?:\s*%%(?:time|capture|prun)\b[^\n]*)+")  # magics that run the code below them unchanged

_MOST_SET, _DEEPEST = 50, 4  # global names that functions set; depth of functions that call one another


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement at the top level of a cell: its node, its text as written, and the line of the cell where it ends."""

    node: ast.stmt
    text: str
    last_line: int

    @cached_property
    def names(self) -> Names:
        """The names that the statement binds, changes and uses."""
        return names_of([self.node])

    @property
    def defines(self) -> bool:
        """Whether the statement defines a function or a class."""
        return isinstance(self.node, _DEFINITIONS)

    @property
    def is_import(self) -> bool:
        """Whether the statement is an import."""
        return isinstance(self.node, _IMPORTS)

    def gives(self, values: Set[str]) -> Set[str]:
        """Return the names that the statement binds or changes.

        A call in it may change those names that are in `values`, but not modules and functions.
        """
        return self.names.bound | self.names.changed | (self.names.perhaps_changed & values)


@lru_cache(maxsize=512)  # called for each exercise and each student, and most cells are the lesson's own
def statements(source: str) -> tuple[Statement, ...] | None:
    """Return the statements of a cell; None if it cannot be parsed."""
    text, tree = python_of(source)
    if tree is None:
        return None
    lines = text.split("\n")
    begun = Counter(node.lineno for node in tree.body)
    return tuple(Statement(node, _written(node, lines, begun), node.end_lineno or 0) for node in tree.body)


def _written(node: ast.stmt, lines: list[str], begun: Counter[int]) -> str:
    """Return the lines of a statement; if it shares a line with another statement, its text as `ast.unparse` writes it.

    `begun` counts the statements that begin in each line. It is counted once, since a cell may have thousands.
    """
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
    last = node.end_lineno or first
    if node.col_offset or begun[last] > (node.lineno == last):
        return unparsed(node)
    return "\n".join(lines[first - 1 : last])


def unparsed(node: ast.AST) -> str:
    """Return the source text of a syntax tree; "" if it is nested too deeply."""
    try:
        return ast.unparse(node)
    except (RecursionError, ValueError):
        return ""


def values_of(known: Iterable[Statement]) -> frozenset[str]:
    """Return the names that these statements bind, except to functions, classes and modules."""
    return frozenset().union(*(each.names.bound for each in known if not (each.defines or each.is_import)))


def set_by_calls(known: Iterable[Statement]) -> dict[str, frozenset[str]]:
    """Map each function in these statements to the global names that calling it changes, directly or by further calls.

    To limit the time, calls are followed only a few levels deep, and the result is empty if functions set more global
    names than any ordinary notebook has.
    """
    functions = [each for each in known if isinstance(each.node, ast.FunctionDef | ast.AsyncFunctionDef)]
    setting = {name: frozenset(each.names.set_later) for each in functions for name in each.names.bound}
    if not 0 < len(frozenset().union(*setting.values())) <= _MOST_SET:
        return {}
    for _ in range(_DEEPEST):
        setting |= {
            name: setting[name].union(*(setting.get(called, frozenset()) for called in each.names.called_later))
            for each in functions
            for name in each.names.bound
        }
    return setting


@lru_cache(maxsize=512)
def python_of(source: str) -> tuple[str, ast.Module | None]:
    """Return a cell as plain Python, and its syntax tree; the tree is None if the cell cannot be parsed."""
    return as_python(_without_first(source))


def _without_first(source: str) -> str:
    """Return a cell without a leading `%%time` or similar magic; the lines below keep their numbers."""
    above = _OVER_PYTHON.match(source)
    return "\n" * above[0].count("\n") + source[above.end() :] if above else source


def defines(source: str, name: str) -> bool:
    """Return whether a cell binds this name at its top level. A cell that cannot be parsed is searched as text."""
    known = _bound_by(source)
    if known is None:
        return re.search(rf"^(async\s+def|def|class)\s+{re.escape(name)}\b", source, re.MULTILINE) is not None
    return name in known


@lru_cache(maxsize=512)
def _bound_by(source: str) -> frozenset[str] | None:
    """Return the names that a cell binds; None if it cannot be parsed."""
    known = statements(source)
    return None if known is None else _all("bound", known)


def answer_text(
    called: str, cell: str, behind: Iterable[Statement], known: Iterable[Statement], exercises: Collection[str]
) -> str:
    """Return the text of the answer named `called` as plain Python. Rules, notes and the proofs of the bank read it.

    The text consists of the statements in the answer's `cell` that define it, the statements in `behind` (between that
    cell and the check) that add to it, as `Net.forward = forward` does, and the functions and classes in `known` that
    it uses. Lines that only try the answer out are left out, and so are answers to other `exercises`: they are judged
    separately. Both `check` and grading call this function, so that they judge the same text: `check` with the
    statements that the kernel has run, grading with those of the file.
    """
    added = list({_place_of(each): each for each in behind if adds_to(called, each)}.values())  # the last for a place
    helpers = [each for each in known if _is_helper(each) and not each.names.bound.intersection(exercises)]
    own = statements(cell)
    if own is None or not all(each.text for each in own):  # rules then read the whole cell
        return "\n\n".join([*(each.text for each in helpers), python_of(cell)[0], *(each.text for each in added)])
    bound = _all("bound", own)
    free = [each for each in helpers if not each.names.bound & bound]
    if called in bound:
        found = reached([*free, *own, *added], {called}, lambda each: _given(each, called), _used)
    else:  # the answer has no name, or no visible statement binds it: then rules read its whole cell
        found = [*reached(free, _all("used", [*own, *added]), lambda each: each.names.bound, _used), *own, *added]
    return "\n\n".join(each.text for each in found)


def _given(statement: Statement, called: str) -> set[str]:
    """Return the names that a statement binds or changes; a call counts as a change only for the answer itself."""
    return statement.names.bound | statement.names.changed | (statement.names.perhaps_changed & {called})


def _used(statement: Statement) -> set[str]:
    return statement.names.used


def adds_to(called: str, statement: Statement) -> bool:
    """Return whether a statement changes the value of this name, as `Net.forward = forward` changes a class."""
    return called in statement.names.changed and called not in statement.names.bound


def _place_of(statement: Statement) -> str:
    node = statement.node
    return unparsed(node.targets[0]) if isinstance(node, ast.Assign) else statement.text


def _is_helper(statement: Statement) -> bool:
    """Return whether a statement binds a callable: a definition, `f = lambda x: x`, `f = g` or `f = partial(g, 2)`."""
    match statement.node:
        case ast.Assign(value=ast.Call(func=ast.Name("partial") | ast.Attribute(attr="partial"))):
            return bool(statement.names.bound)
        case ast.Assign(value=ast.Lambda() | ast.Name()) | ast.AnnAssign(value=ast.Lambda() | ast.Name()):
            return bool(statement.names.bound)
    return statement.defines


def _all(kind: str, known: Iterable[Statement]) -> frozenset[str]:
    return frozenset().union(*(getattr(each.names, kind) for each in known))
