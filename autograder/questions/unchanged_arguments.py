"""Recognize expressions of a program that are one of its arguments, only handed on, copied or moved.

What such an expression is stands in the call, so that nobody learns from a question about it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from autograder.questions.value_facts import Fact

_COPIES = {"clone", "contiguous", "copy", "cpu", "cuda", "data", "deepcopy", "detach", "requires_grad_", "to"}
_ELEMENTWISE = {
    *("abs", "bfloat16", "bool", "clamp", "copy_", "cos", "double", "exp", "float", "half", "int", "log", "long"),
    *("neg", "pow", "relu", "sigmoid", "sin", "softmax", "sqrt", "square", "tanh", "type"),
    *("empty_like", "full_like", "ones_like", "rand_like", "randn_like", "zeros_like"),
}
_LIBRARIES = {"F", "copy", "functional", "torch"}
_CONTAINERS = ("a tuple", "a list", "a dict")


class UnchangedArguments:
    """The arguments of one call, and what the program binds to names; `given` maps arguments to their facts."""

    def __init__(self, tree: ast.Module, given: Mapping[str, Fact]) -> None:
        self._given, self._bound = given, dict[str, list[ast.expr | None]]()
        for node in ast.walk(tree):
            for name, value in _bindings(node):
                self._bound.setdefault(name, []).append(value)

    def has(self, text: str, *, or_shape: bool = False) -> bool:
        """Return whether an expression is an argument or an item of one; with `or_shape`, whether it has its shape."""
        methods = _COPIES | _ELEMENTWISE if or_shape else _COPIES
        return self._is_one(ast.parse(text, mode="eval").body, methods, set())

    def _is_one(self, node: ast.expr, methods: set[str], passed: set[str]) -> bool:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[first, *_]) if (
                name in _LIBRARIES
            ):
                return method in methods and self._is_one(first, methods, passed)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)):
                return method in methods and not _has_dtype(node) and self._is_one(inner, methods, passed)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant() | ast.UnaryOp()):
                return name in self._given and self._given[name].form.startswith(_CONTAINERS)
            case ast.Name() | ast.Attribute():
                return self._is_bound_to_one(ast.unparse(node), methods, passed)
        return False

    def _is_bound_to_one(self, name: str, methods: set[str], passed: set[str]) -> bool:
        """Return whether a name is an argument's, and all that the program binds to it is an argument, too."""
        if name in passed:
            return True
        values = self._bound.get(name, [])
        is_known = bool(values) or name in self._given
        return is_known and all(each is not None and self._is_one(each, methods, {*passed, name}) for each in values)


def _has_dtype(call: ast.Call) -> bool:
    """Return whether a call such as `x.to(torch.float16)` names a dtype."""
    words = " ".join(map(ast.unparse, [*call.args, *(each.value for each in call.keywords)]))
    return any(word in words for word in ("dtype", "float", "int", "half", "bool"))


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the names that a node binds, each with the expression that it gets; None for any other value."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            yield from zip(map(ast.unparse, names), values, strict=True)
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=value):
            yield from ((ast.unparse(each), value) for each in names)
        case ast.Assign(targets=targets, value=value):
            yield from ((ast.unparse(each), value) for each in targets)
        case ast.AnnAssign(target=target, value=value):
            yield ast.unparse(target), value
        case ast.AugAssign(target=target) | ast.For(target=target) | ast.NamedExpr(target=target):
            yield from ((each.id, None) for each in ast.walk(target) if isinstance(each, ast.Name))
        case ast.comprehension(target=target):
            yield from ((each.id, None) for each in ast.walk(target) if isinstance(each, ast.Name))
