"""Rules on the syntax tree of an answer: what it must not use, whatever it returns."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """A requirement on the source: how it reads, the sentence for an answer that breaks it, and the test."""

    name: str
    requirement: str
    sentence: str
    breaks: Callable[[ast.AST], bool]


def broken(rules: tuple[Rule, ...], source: str) -> tuple[Rule, ...]:
    """The rules that a source text breaks; a text that does not parse breaks none (it fails elsewhere)."""
    try:
        tree = ast.parse(textwrap.dedent(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(rule for rule in rules if rule.breaks(tree))


_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPING_CALLS = frozenset({"map", "vectorize", "apply_"})


def _has_loop(tree: ast.AST) -> bool:
    return any(isinstance(node, _LOOPS) for node in ast.walk(tree)) or _names(tree) & _LOOPING_CALLS != set()


def _names(tree: ast.AST) -> set[str]:
    """Every name and attribute that the code uses; what a def or a docstring says does not count."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


no_loops = Rule(
    "no_loops",
    "uses no Python loop",
    "The numbers are right, but a Python loop computes them one by one. Let broadcasting do all of them at once.",
    _has_loop,
)


def avoids(*names: str, requirement: str, sentence: str) -> Rule:
    """A rule that forbids some names, as a variable (`torch`) or as an attribute (`.softmax`)."""
    return Rule(f"avoids_{'_'.join(names)}", requirement, sentence, lambda tree: bool(_names(tree) & set(names)))
