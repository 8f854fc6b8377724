"""Mutate worked solutions: make small changes to the syntax tree, each of which the grader should notice.

A mutant is identified by its change, such as `x.mean -> x.sum`; ` (2)` is appended if the same change was already made
at an earlier place.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One changed solution: the change, the text of the cell, and the number of the changed line."""

    change: str
    source: str
    line: int


def mutants(source: str) -> Iterator[Mutant]:
    """Yield every mutant of the functions in a solution cell; all texts differ, also from the original."""
    tree = ast.parse(source)
    seen, repeats = {ast.unparse(tree)}, Counter[str]()
    for change, text, line in _changed(tree):
        if text in seen:
            continue
        seen.add(text)
        repeats[change] += 1
        yield Mutant(change if repeats[change] == 1 else f"{change} ({repeats[change]})", text, line)


def _changed(tree: ast.Module) -> Iterator[tuple[str, str, int]]:
    inside, variables = _body_nodes(tree), _variables(tree)
    for node in ast.walk(tree):
        if id(node) not in inside:
            continue
        for replacement in _replacements(node, variables):
            text = _with(tree, node, replacement)
            if _compiles(text):
                yield f"{_text(node)} -> {_text(replacement)}", text, getattr(node, "lineno", 0)


def _with(tree: ast.Module, node: ast.AST, replacement: ast.AST) -> str:
    """Return the text of the tree with `node` replaced; restore the tree afterwards."""
    kept = node.__class__, dict(node.__dict__)
    _become(node, replacement)
    text = ast.unparse(tree)
    node.__class__ = kept[0]
    node.__dict__.clear()
    node.__dict__.update(kept[1])
    return text


def _compiles(text: str) -> bool:
    try:
        compile(text, "<mutant>", "exec")
    except SyntaxError:
        return False
    return True


def _body_nodes(tree: ast.Module) -> set[int]:
    """Return the ids of the nodes in function bodies, without docstrings; signatures are the starter's, and stay."""
    nodes: set[int] = set()
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        body = function.body[1:] if ast.get_docstring(function) else function.body
        nodes |= {id(node) for statement in body for node in ast.walk(statement)}
    return nodes


def _variables(tree: ast.Module) -> list[str]:
    """Return the names of the parameters and variables of a cell's functions."""
    parameters = [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)]
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return list(dict.fromkeys(parameters + stored))


def _become(node: ast.AST, other: ast.AST) -> None:
    """Give a node the class and the fields of another one, in place."""
    node.__class__ = other.__class__
    node.__dict__.clear()
    node.__dict__.update(copy.deepcopy(other).__dict__)


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def _replacements(node: ast.AST, variables: list[str]) -> Iterator[ast.AST]:
    """Yield the nodes that a mutant can have in the place of a node."""
    for kind, change in _CHANGES.items():
        if isinstance(node, kind):
            yield from change(node)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield from _names(node, variables)
    if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Name) and node.left.id in variables:
        yield from _in_place(node)


# --- expressions

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE),
    ast.NotEq: (ast.Eq, ast.Lt, ast.Gt),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
}
_OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Mult),
    ast.Mult: (ast.Add, ast.Div),
    ast.Div: (ast.Mult, ast.FloorDiv, ast.Sub),
    ast.Pow: (ast.Mult, ast.Add),
    ast.MatMult: (ast.Mult,),
}
_IN_PLACE: dict[type[ast.operator], str] = {
    ast.Add: "add_",
    ast.Sub: "sub_",
    ast.Mult: "mul_",
    ast.Div: "div_",
}
# Functions, methods and attributes that learners confuse.
_SIBLINGS = [
    group.split()
    for group in (
        "sum mean amax prod",
        "amax amin max",
        "var std",
        "sqrt exp abs square",
        "exp log expm1",
        "clone detach contiguous",
        "permute reshape view",
        "squeeze unsqueeze flatten",
        "randn rand",
        "zeros ones",
        "float16 bfloat16 float32 float64 int64",
        "element_size numel dim",
        "clamp abs",
    )
]


def _compare(node: ast.Compare) -> Iterator[ast.AST]:
    for operator in _COMPARISONS.get(type(node.ops[0]), ()):
        yield ast.Compare(node.left, [operator(), *node.ops[1:]], node.comparators)


def _binary(node: ast.BinOp) -> Iterator[ast.AST]:
    for operator in _OPERATORS.get(type(node.op), ()):
        yield ast.BinOp(node.left, operator(), node.right)
    yield ast.BinOp(node.right, node.op, node.left)
    yield node.left
    yield node.right


def _in_place(node: ast.BinOp) -> Iterator[ast.AST]:
    if type(node.op) in _IN_PLACE:
        method = ast.Attribute(node.left, _IN_PLACE[type(node.op)], ast.Load())
        yield ast.Call(method, [node.right], [])


def _constant(node: ast.Constant) -> Iterator[ast.AST]:
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int | float):
        yield ast.Constant(value + 1)
        yield ast.Constant(value - 1)
    elif isinstance(value, str) and "->" in value:
        yield from map(ast.Constant, _equations(value))
    elif isinstance(value, str):
        yield ast.Constant(f"{value}_")


def _equations(text: str) -> Iterator[str]:
    """Yield similar einsum equations: output reversed, output with one letter less, and inputs in reverse order."""
    inputs, output = text.split("->")
    yield f"{inputs}->{output[::-1]}"
    for index in range(len(output)):
        yield f"{inputs}->{output[:index]}{output[index + 1 :]}"
    yield f"{','.join(reversed(inputs.split(',')))}->{output}"


def _call(node: ast.Call) -> Iterator[ast.AST]:
    for index in range(len(node.keywords)):
        yield ast.Call(node.func, node.args, node.keywords[:index] + node.keywords[index + 1 :])
    for index in range(len(node.args)):
        yield ast.Call(node.func, node.args[:index] + node.args[index + 1 :], node.keywords)
        yield node.args[index]
    if len(node.args) > 1:
        yield ast.Call(node.func, [node.args[1], node.args[0], *node.args[2:]], node.keywords)
    if isinstance(node.func, ast.Attribute):
        yield node.func.value


def _attribute(node: ast.Attribute) -> Iterator[ast.AST]:
    for group in _SIBLINGS:
        if node.attr in group:
            yield from (ast.Attribute(node.value, other, node.ctx) for other in group if other != node.attr)


def _names(node: ast.Name, variables: list[str]) -> Iterator[ast.AST]:
    if node.id in variables:
        yield from (ast.Name(other, ast.Load()) for other in variables if other != node.id)
    if node.id in ("dim", "n", "k", "seed", "count", "eps"):
        yield from (ast.Constant(value) for value in (0, 1, 2, -1))
    if node.id == "range":
        yield ast.Name("list", ast.Load())


def _tuple(node: ast.Tuple) -> Iterator[ast.AST]:
    if isinstance(node.ctx, ast.Load):
        yield ast.Tuple(node.elts[::-1], node.ctx)
        for index in range(len(node.elts)):
            yield ast.Tuple(node.elts[:index] + node.elts[index + 1 :], node.ctx)


def _slice(node: ast.Slice) -> Iterator[ast.AST]:
    one = ast.Constant(1)
    if node.lower is not None:
        yield ast.Slice(None, node.upper, node.step)
    yield ast.Slice(node.lower, ast.Constant(-1), node.step)
    if node.lower is None and node.upper is None:
        yield ast.Slice(one, None, None)


# --- statements


def _return(node: ast.Return) -> Iterator[ast.AST]:
    if node.value is not None:
        yield ast.Return(None)
        yield ast.Return(ast.List([node.value], ast.Load()))
        yield ast.Return(ast.Call(ast.Attribute(node.value, "double", ast.Load()), [], []))


_CHANGES: dict[type[ast.AST], Callable[..., Iterator[ast.AST]]] = {
    ast.Compare: _compare,
    ast.BinOp: _binary,
    ast.UnaryOp: lambda node: iter([node.operand]),
    ast.Constant: _constant,
    ast.Call: _call,
    ast.Attribute: _attribute,
    ast.Tuple: _tuple,
    ast.Subscript: lambda node: iter([node.value]),
    ast.Slice: _slice,
    ast.Return: _return,
    ast.Assign: lambda _: iter([ast.Pass()]),
    ast.AugAssign: lambda _: iter([ast.Pass()]),
    ast.For: lambda _: iter([ast.Pass()]),
}
