"""The text of cells, taken apart: its statements, and what each gives to the answers of a notebook.

Everything here reads text from students and runs none of it; a text that cannot be parsed defines nothing.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache

from autograder.ipython_syntax import UNREAD, as_python
from autograder.python_names import Names, names_of, reached

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_OVER_PYTHON = re.compile(r"(?:\s*%%(?:time|capture|prun)\b[^\n]*)+")  # what stands below runs as if it were not there

_MOST_SET, _DEEPEST = 50, 4  # names that functions set, and functions that call one another


@dataclass(frozen=True, eq=False)
class Statement:
    """One statement at the top of a cell, as it is written, and the line of the cell where it ends."""

    node: ast.stmt
    text: str
    last_line: int

    @cached_property
    def names(self) -> Names:
        """The names that it binds, changes and uses."""
        return names_of([self.node])

    @property
    def defines(self) -> bool:
        """Whether it is a function or a class."""
        return isinstance(self.node, _DEFINITIONS)

    @cached_property
    def imports(self) -> tuple[str, ...]:
        """The modules that it imports, also within a function, and those that what it takes from one may be."""
        nodes = [node for node in ast.walk(self.node) if isinstance(node, _IMPORTS)]
        homes = [(node.module, node.names) for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
        named = [each.name for node in nodes if isinstance(node, ast.Import) for each in node.names]
        taken = [f"{home}.{each.name}" for home, names in homes for each in names]
        return tuple(dict.fromkeys([*named, *(home for home, _ in homes if home), *taken]))

    @cached_property
    def looked_up(self) -> frozenset[str]:
        """The names that it looks up, in whichever module: its own, attributes, and those that it imports."""
        nodes = list(ast.walk(self.node))
        attributes = (node.attr for node in nodes if isinstance(node, ast.Attribute))
        imported = (each.name for node in nodes if isinstance(node, ast.ImportFrom) for each in node.names)
        return frozenset(self.names.used).union(attributes, imported)

    @property
    def is_import(self) -> bool:
        """Whether it is an import."""
        return isinstance(self.node, _IMPORTS)

    def gives(self, values: Set[str]) -> Set[str]:
        """The names that it binds or changes; calls may change `values`, and neither modules nor functions."""
        return self.names.bound | self.names.changed | (self.names.perhaps_changed & values)


@lru_cache(maxsize=512)  # asked for every exercise and every student, and most cells are the lesson's own
def statements(source: str) -> tuple[Statement, ...] | None:
    """The statements of a cell; None where it cannot be parsed."""
    text, tree = python_of(source)
    if tree is None:
        return None
    lines = text.split("\n")
    begun = Counter(node.lineno for node in tree.body)
    return tuple(Statement(node, _written(node, lines, begun), node.end_lineno or 0) for node in tree.body)


def _written(node: ast.stmt, lines: list[str], begun: Counter[int]) -> str:
    """The lines of a statement; where it shares one with another statement, as Python would write it.

    `begun` counts the statements that begin in each line: a stranger's cell may have thousands.
    """
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
    last = node.end_lineno or first
    if node.col_offset or begun[last] > (node.lineno == last):
        return unparsed(node)
    return "\n".join(lines[first - 1 : last])


def unparsed(node: ast.AST) -> str:
    """A piece of code as Python writes it; "" where it is too deep to be written."""
    try:
        return ast.unparse(node)
    except (RecursionError, ValueError):
        return ""


def values_of(known: Iterable[Statement]) -> frozenset[str]:
    """The names that these statements bind to something that is neither a function, a class nor a module."""
    return frozenset().union(*(each.names.bound for each in known if not (each.defines or each.is_import)))


def set_by_calls(known: Iterable[Statement]) -> dict[str, frozenset[str]]:
    """The global names that calling a function of these statements changes, itself or by others that it calls.

    Not further than a few calls deep, and not where it is more names than anybody's notebook sets so: that takes time.
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
    """A cell as Python, and its syntax tree; None where there is none."""
    return as_python(_without_first(source))


def _without_first(source: str) -> str:
    """A cell without `%%time` and its like above it; the lines below keep their numbers."""
    above = _OVER_PYTHON.match(source)
    return "\n" * above[0].count("\n") + source[above.end() :] if above else source


def defines(source: str, name: str) -> bool:
    """Whether a cell gives a value to this name at its top level; one that does not parse is searched."""
    known = _bound_by(source)
    if known is None:
        return re.search(rf"^(async\s+def|def|class)\s+{re.escape(name)}\b", source, re.MULTILINE) is not None
    return name in known


@lru_cache(maxsize=512)
def _bound_by(source: str) -> frozenset[str] | None:
    """The names that a cell gives a value to; None for one that cannot be parsed."""
    known = statements(source)
    return None if known is None else _all("bound", known)


# The text of the module of a name that a student wrote; "" where nobody can read it here, None for a library's.
Modules = Callable[[str], str | None]


def answer_text(
    called: str,
    cell: str,
    behind: Iterable[Statement],
    known: Iterable[Statement],
    exercises: Collection[str],
    modules: Modules = lambda _name: None,
) -> str:
    """The text of the answer `called`, as plain Python: what rules, notes and the proofs of the bank read of it.

    It is what its cell defines it with, what the statements between that and the check add to it, as
    `Net.forward = forward` does, and the functions and classes of other cells that it uses; not the lines that try it
    out. Answers to other `exercises` are judged for themselves. `check` and grading both ask here, so that they judge
    by one text: a notebook gives the statements that its kernel has run, grading those of the file. In the place of an
    import from one of the student's own `modules` stands what the answer uses of it.
    """
    added = list({_place_of(each): each for each in behind if adds_to(called, each)}.values())  # the last for a place
    helpers = _helpers(known, exercises, modules)
    own = statements(cell)
    if own is None or not all(each.text for each in own):  # what is behind an answer stays in a rule's sight
        return "\n\n".join([*(each.text for each in helpers), python_of(cell)[0], *(each.text for each in added)])
    bound = _all("bound", own)
    free = [each for each in helpers if not each.names.bound & bound]
    if called in bound:
        found = reached([*free, *own, *added], {called, "*"}, lambda each: _given(each, called), _used)
    else:  # it has no name, or gets it where nobody can see: then the whole of its cell is looked at
        used = {*_all("used", [*own, *added]), "*"}
        found = [*reached(free, used, lambda each: each.names.bound, _used), *own, *added]
    written = (each.text for each in found if not (each.is_import and _is_own(each, modules)))
    return "\n\n".join([*written, *_of_modules(found, set(exercises) - {called}, modules)])


def _helpers(known: Iterable[Statement], exercises: Collection[str], modules: Modules) -> list[Statement]:
    """The statements by which a name of their own can be called, and imports from the student's own modules."""
    found = (each for each in known if _is_helper(each) or (each.is_import and _is_own(each, modules)))
    return [each for each in found if not each.names.bound.intersection(exercises)]


def _is_own(statement: Statement, modules: Modules) -> bool:
    """Whether a statement imports a module that the student wrote."""
    return any(modules(name) is not None for name in statement.imports)


def _of_modules(found: Sequence[Statement], exercises: Collection[str], modules: Modules) -> list[str]:
    """What these statements use of the student's own modules, and what that uses of others."""
    importing, parts = [each for each in found if _is_own(each, modules)], list[Statement]()
    texts: dict[str, str | None] = {}
    for _ in range(_DEEPEST if importing else 0):
        texts = {name: text for each in importing for name in each.imports if (text := modules(name)) is not None}
        used: frozenset[str] = frozenset().union(*(each.looked_up for each in (*found, *parts)))
        known = [_helpers(statements(text or "") or (), exercises, modules) for text in texts.values()]
        parts = [each for one in known for each in reached(one, used, lambda each: each.names.bound, _looked_up)]
        importing = [each for each in (*found, *parts) if _is_own(each, modules)]
    given = [each.text for each in parts if each not in importing]
    given += [f"{new} = {old}" for each in importing for old, new in _renamed(each)]
    unread = {name.partition(".")[0] for name, text in texts.items() if not statements(text or "")}
    return [*given, *(UNREAD + name for name in sorted(unread))]


def _renamed(statement: Statement) -> list[tuple[str, str]]:
    """The names under which a statement has what it imports from a module, where they are other ones."""
    taken = (node.names for node in ast.walk(statement.node) if isinstance(node, ast.ImportFrom))
    return [(each.name, each.asname) for names in taken for each in names if each.asname]


def _looked_up(statement: Statement) -> frozenset[str]:
    return statement.looked_up


def _given(statement: Statement, called: str) -> set[str]:
    """The names that a statement gives a value to, or changes; by a call only the answer itself."""
    return statement.names.bound | statement.names.changed | (statement.names.perhaps_changed & {called})


def _used(statement: Statement) -> set[str]:
    return statement.names.used


def adds_to(called: str, statement: Statement) -> bool:
    """Whether a statement adds to what has this name, as `Net.forward = forward` does to a class."""
    return called in statement.names.changed and called not in statement.names.bound


def _place_of(statement: Statement) -> str:
    node = statement.node
    return unparsed(node.targets[0]) if isinstance(node, ast.Assign) else statement.text


def _is_helper(statement: Statement) -> bool:
    """Whether it gives a name to what can be called, if as `f = lambda x: x`, `f = g` or `f = partial(g, 2)`."""
    match statement.node:
        case ast.Assign(value=ast.Call(func=ast.Name("partial") | ast.Attribute(attr="partial"))):
            return bool(statement.names.bound)
        case ast.Assign(value=ast.Lambda() | ast.Name()) | ast.AnnAssign(value=ast.Lambda() | ast.Name()):
            return bool(statement.names.bound)
    return statement.defines


def _all(kind: str, known: Iterable[Statement]) -> frozenset[str]:
    return frozenset().union(*(getattr(each.names, kind) for each in known))
