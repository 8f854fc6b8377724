"""Rules and notes on the syntax tree of an answer: what it must not use, and remarks on a right answer."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from autograder.name_bindings import find_used_and_bound_names, select_definitions_needed


@dataclass(frozen=True)
class Rule:
    """A requirement on the text of an answer: what it asks for, the message if an answer breaks it, and the test."""

    name: str
    requirement: str
    sentence: str
    breaks: Callable[[ast.AST], bool]


@dataclass(frozen=True)
class StyleRemark:
    """A remark on the text of an answer that passes every check; it costs no points."""

    sentence: str
    applies: Callable[[ast.AST], bool]


def broken_rules(rules: tuple[Rule, ...], source: str, name: str) -> tuple[Rule, ...]:
    """Return the rules that the answer `name` breaks.

    A text that does not parse breaks none (it fails elsewhere); one that is nested too deeply to examine breaks all.
    """
    try:
        answer = _answer(source, name)
        return tuple(rule for rule in rules if answer is not None and rule.breaks(answer))
    except (RecursionError, MemoryError, ValueError):  # ValueError: a number with too many digits to write
        return rules


def applicable_style_remarks(notes: tuple[StyleRemark, ...], source: str, name: str) -> tuple[str, ...]:
    """Return the sentences of the notes that apply to the answer `name`."""
    try:
        answer = _answer(source, name)
        return tuple(note.sentence for note in notes if answer is not None and note.applies(answer))
    except (RecursionError, MemoryError, ValueError):
        return ()


@lru_cache(maxsize=512)  # the rules and the notes need the same tree, and half a class may hand in the starter
def _answer(source: str, name: str) -> ast.Module | None:
    """Return the statements that define the answer and everything it uses, as one module.

    The rest of the text is left out: a loop below the answer that tries it out is no loop in the answer. Return None if
    the text does not parse; raise RecursionError or MemoryError if it is nested too deeply for the parser.
    """
    if "\0" in source:
        return None
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError:
        return None
    return ast.Module(select_definitions_needed(tree.body, {name}, _given, names_used) or tree.body, type_ignores=[])


def _given(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds or changes, such as `Net` in `Net.forward = forward`."""
    names = find_used_and_bound_names([node])
    return names.bound | names.changed


_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPING_CALLS = frozenset({"map", "vectorize", "apply_"})


def _has_loop(tree: ast.AST) -> bool:
    return any(isinstance(node, _LOOPS) for node in ast.walk(tree)) or names_used(tree) & _LOOPING_CALLS != set()


def names_used(tree: ast.AST) -> set[str]:
    """Return every variable and attribute name in the code; names of functions and docstrings do not count."""
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def imported_names(tree: ast.AST) -> set[str]:
    """Return every part of the dotted names that are imported, by their original names and not by an alias."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    names = {alias.name for node in nodes for alias in node.names}
    return {part for name in modules | names for part in name.split(".")}


no_loops = Rule(
    "no_loops",
    "uses no Python loop",
    "There is a Python loop in your function; one that only prints counts too. Broadcasting does it all at once.",
    _has_loop,
)


def forbid_names(*names: str, requirement: str, sentence: str) -> Rule:
    """Return a rule that forbids some names, as a variable (`torch`) or as an attribute (`.softmax`)."""
    return Rule(f"avoids_{'_'.join(names)}", requirement, sentence, lambda tree: bool(names_used(tree) & set(names)))


def forbid_imports_and_attributes(*names: str, requirement: str, sentence: str) -> Rule:
    """Return a rule that forbids to take some names from a module or an object.

    The answer's own class and an attribute of `self` may have such a name.
    """

    def breaks(tree: ast.AST) -> bool:
        nodes = list(ast.walk(tree))
        taken = {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
        taken |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and not _on_self(node)}
        return bool(set(names) & taken)

    return Rule(f"ready_made_{names[0]}", requirement, sentence, breaks)


def _on_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def max_changed_lines(most: int, given: Mapping[str, Sequence[str]], requirement: str, sentence: str) -> Rule:
    """Return a rule: each function named in `given` differs in at most `most` lines from the lines given there.

    A line that was added, removed, rewritten or moved counts once. The lines are those of `normalized_function_lines`.
    """
    return Rule(
        "max_changed_lines",
        requirement,
        sentence,
        lambda tree: any(
            _changed(lines, normalized_function_lines(tree, name)) > most for name, lines in given.items()
        ),
    )


def normalized_function_lines(tree: ast.AST, name: str) -> list[str]:
    """Return the lines of the function `name` in the layout of `ast.unparse`, so that style makes no difference.

    The docstring and the indentation are left out; [] if the tree has no such function.
    """
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name]
    if not found:
        return []
    body = found[-1].body[1:] if ast.get_docstring(found[-1]) else found[-1].body
    return [line.strip() for statement in body for line in ast.unparse(statement).splitlines()]


def _changed(given: Sequence[str], now: Sequence[str]) -> int:
    row = [0] * (len(now) + 1)  # row[i]: longest common subsequence of `given` so far and the first i lines of `now`
    for line in given:
        last = list(row)
        for i, other in enumerate(now):
            row[i + 1] = last[i] + 1 if line == other else max(row[i], last[i + 1])
    return max(len(given), len(now)) - row[-1]


def calls_method_more_often_than(method: str, more_than: int) -> Callable[[ast.AST], bool]:
    """Return a test for a note: whether the code calls `.method()` in more than `more_than` places."""

    def calls(tree: ast.AST) -> bool:
        called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        return sum(isinstance(func, ast.Attribute) and func.attr == method for func in called) > more_than

    return calls
