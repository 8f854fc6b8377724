"""Split cells into statements, and find the statements that make up an answer.

The text comes from students, and none of it is run. A cell that cannot be parsed defines nothing.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache

from autograder.ipython_syntax import UNPARSED_MARK, parse_cell_text
from autograder.name_bindings import UsedAndBoundNames, find_used_and_bound_names, select_definitions_needed

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
    def names(self) -> UsedAndBoundNames:
        """The names that the statement binds, changes and uses."""
        return find_used_and_bound_names([self.node])

    @property
    def defines(self) -> bool:
        """Whether the statement defines a function or a class."""
        return isinstance(self.node, _DEFINITIONS)

    @cached_property
    def imports(self) -> tuple[str, ...]:
        """The modules that it imports, also within a function; a name imported from a module may be one too."""
        nodes = [node for node in ast.walk(self.node) if isinstance(node, _IMPORTS)]
        homes = [(node.module, node.names) for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
        named = [each.name for node in nodes if isinstance(node, ast.Import) for each in node.names]
        taken = [f"{home}.{each.name}" for home, names in homes for each in names]
        return tuple(dict.fromkeys([*named, *(home for home, _ in homes if home), *taken]))

    @cached_property
    def names_looked_up(self) -> frozenset[str]:
        """The names that it looks up: variables, attributes, and names that it imports."""
        nodes = list(ast.walk(self.node))
        attributes = (node.attr for node in nodes if isinstance(node, ast.Attribute))
        imported = (each.name for node in nodes if isinstance(node, ast.ImportFrom) for each in node.names)
        return frozenset(self.names.used).union(attributes, imported)

    @property
    def is_import(self) -> bool:
        """Whether the statement is an import."""
        return isinstance(self.node, _IMPORTS)

    def names_bound_or_changed(self, values: Set[str]) -> Set[str]:
        """Return the names that the statement binds or changes.

        A call in it may change those names that are in `values`, but not modules and functions.
        """
        return self.names.bound | self.names.changed | (self.names.perhaps_changed & values)


@lru_cache(maxsize=512)  # called for each exercise and each student, and most cells are the lesson's own
def statements(source: str) -> tuple[Statement, ...] | None:
    """Return the statements of a cell; None if it cannot be parsed."""
    text, tree = parse_cell_as_python(source)
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
        return unparse(node)
    return "\n".join(lines[first - 1 : last])


def unparse(node: ast.AST) -> str:
    """Return the source text of a syntax tree; "" if it is nested too deeply."""
    try:
        return ast.unparse(node)
    except (RecursionError, ValueError):
        return ""


def variable_names(known: Iterable[Statement]) -> frozenset[str]:
    """Return the names that these statements bind, except to functions, classes and modules."""
    return frozenset().union(*(each.names.bound for each in known if not (each.defines or each.is_import)))


def globals_set_by_calls(known: Iterable[Statement]) -> dict[str, frozenset[str]]:
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
def parse_cell_as_python(source: str) -> tuple[str, ast.Module | None]:
    """Return a cell as plain Python, and its syntax tree; the tree is None if the cell cannot be parsed."""
    return parse_cell_text(without_magic_on_top(source))


def without_magic_on_top(source: str) -> str:
    """Return a cell without `%%time`, `%%capture` or `%%prun` on top; the lines below keep their numbers."""
    above = _OVER_PYTHON.match(source)
    return "\n" * above[0].count("\n") + source[above.end() :] if above else source


def cell_defines(source: str, name: str) -> bool:
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


# Returns the source text of a student's own module; "" if it cannot be read here, None for an installed module.
StudentModuleReader = Callable[[str], str | None]


def answer_text(
    called: str,
    cell: str,
    behind: Iterable[Statement],
    known: Iterable[Statement],
    exercises: Collection[str],
    modules: StudentModuleReader = lambda _name: None,
) -> str:
    """Return the text of the answer named `called` as plain Python. Rules, notes and the proofs of the bank read it.

    The text consists of the statements in the answer's `cell` that define it, the statements in `behind` (between that
    cell and the check) that add to it, as `Net.forward = forward` does, and the functions and classes in `known` that
    it uses. Lines that only try the answer out are left out, and so are answers to other `exercises`: they are judged
    separately. Both `check` and grading call this function, so that they judge the same text: `check` with the
    statements that the kernel has run, grading with those of the file.
    An import from one of the student's own `modules` is replaced by what the answer uses of that module.
    """
    # Of several changes to one place, the last one counts.
    added = list({_place_of(each): each for each in behind if is_extension_of_answer(called, each)}.values())
    helpers = _helpers(known, exercises, modules)
    own = statements(cell)
    if own is None or not all(each.text for each in own):  # rules then read the whole cell
        whole = parse_cell_as_python(cell)[0]
        return "\n\n".join([*(each.text for each in helpers), whole, *(each.text for each in added)])
    bound = _all("bound", own)
    free = [each for each in helpers if not each.names.bound & bound]
    if called in bound:
        candidates = [*free, *own, *added]
        found = select_definitions_needed(candidates, {called, "*"}, lambda each: _given(each, called), _used)
    else:  # the answer has no name, or no visible statement binds it: then rules read its whole cell
        used = {*_all("used", [*own, *added]), "*"}
        found = [*select_definitions_needed(free, used, lambda each: each.names.bound, _used), *own, *added]
    written = (each.text for each in found if not (each.is_import and _is_own(each, modules)))
    return "\n\n".join([*written, *_of_modules(found, set(exercises) - {called}, modules)])


def _helpers(known: Iterable[Statement], exercises: Collection[str], modules: StudentModuleReader) -> list[Statement]:
    """Return the statements that bind a callable, and imports from the student's own modules."""
    found = (each for each in known if _is_helper(each) or (each.is_import and _is_own(each, modules)))
    return [each for each in found if not each.names.bound.intersection(exercises)]


def _is_own(statement: Statement, modules: StudentModuleReader) -> bool:
    """Return whether a statement imports a module that the student wrote."""
    return any(modules(name) is not None for name in statement.imports)


def _of_modules(found: Sequence[Statement], exercises: Collection[str], modules: StudentModuleReader) -> list[str]:
    """Return the texts that these statements use of the student's own modules, directly or through one another."""
    importing, parts = [each for each in found if _is_own(each, modules)], list[Statement]()
    texts: dict[str, str | None] = {}
    for _ in range(_DEEPEST if importing else 0):
        texts = {name: text for each in importing for name in each.imports if (text := modules(name)) is not None}
        used: frozenset[str] = frozenset().union(*(each.names_looked_up for each in (*found, *parts)))
        known = [_helpers(statements(text or "") or (), exercises, modules) for text in texts.values()]
        parts = [
            each
            for one in known
            for each in select_definitions_needed(one, used, lambda each: each.names.bound, _looked_up)
        ]
        importing = [each for each in (*found, *parts) if _is_own(each, modules)]
    given = [each.text for each in parts if each not in importing]
    given += [f"{new} = {old}" for each in importing for old, new in _renamed(each)]
    unread = {name.partition(".")[0] for name, text in texts.items() if not statements(text or "")}
    return [*given, *(UNPARSED_MARK + name for name in sorted(unread))]


def _renamed(statement: Statement) -> list[tuple[str, str]]:
    """Return the (old, new) names of what a statement imports from a module under another name."""
    taken = (node.names for node in ast.walk(statement.node) if isinstance(node, ast.ImportFrom))
    return [(each.name, each.asname) for names in taken for each in names if each.asname]


def _looked_up(statement: Statement) -> frozenset[str]:
    return statement.names_looked_up


def _given(statement: Statement, called: str) -> set[str]:
    """Return the names that a statement binds or changes; a call counts as a change only for the answer itself."""
    return statement.names.bound | statement.names.changed | (statement.names.perhaps_changed & {called})


def _used(statement: Statement) -> set[str]:
    return statement.names.used


def is_extension_of_answer(called: str, statement: Statement) -> bool:
    """Return whether a statement changes the value of this name, as `Net.forward = forward` changes a class."""
    return called in statement.names.changed and called not in statement.names.bound


def _place_of(statement: Statement) -> str:
    node = statement.node
    return unparse(node.targets[0]) if isinstance(node, ast.Assign) else statement.text


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
