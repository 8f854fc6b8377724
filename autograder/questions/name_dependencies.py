"""Find the names of a program whose values are computed from others, as far as its text shows it.

A question about such a name cannot be answered where the others are not shown. What a name may be computed from is
found by a fixed point over all bindings of the program, whatever their order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

Binding = tuple[Set[str], Set[str]]  # the names that are bound, and those that their value is computed from


def names_computed_from(code: str, names: Set[str]) -> Set[str]:
    """Return `names` and all that a program computes from them: names, attributes (`self.x`), and its own functions.

    A function that uses one of them gives what is computed from it; what it is called with goes to its parameters.
    """
    bindings, found = list(_bindings(ast.parse(code))), set(names)
    while new := {bound for targets, sources in bindings if not found.isdisjoint(sources) for bound in targets} - found:
        found |= new
    return found


def names_in(node: ast.AST) -> Set[str]:
    """Return the names in an expression or statement, and the attributes of `self` as `self.x`; `self` is no name."""
    found = set[str]()
    for each in ast.walk(node):
        match each:
            case ast.Attribute(value=ast.Name(id="self"), attr=attribute):
                found.add(f"self.{attribute}")
            case ast.Name(id=name) if name != "self":
                found.add(name)
    return found


def returned_names(code: str) -> Set[str]:
    """Return the names in what the functions of a program return."""
    return _result_sources(ast.parse(code))


def _bindings(tree: ast.Module) -> Iterator[Binding]:
    functions = {each.name: each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _assigned(target, value)
            case (
                ast.AugAssign(target=target, value=value)
                | ast.NamedExpr(target=target, value=value)
                | ast.AnnAssign(target=target, value=ast.expr() as value)
                | ast.For(target=target, iter=value)
                | ast.comprehension(target=target, iter=value)
                | ast.withitem(optional_vars=ast.expr() as target, context_expr=value)
            ):
                yield names_in(target), names_in(value)
            case ast.FunctionDef(name=name):
                yield {name, f"self.{name}"}, _result_sources(node)
            case ast.Call(func=ast.Name(id=name)) if name in functions:
                yield from _passed(node, functions[name].args.args)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)) if name in functions:
                yield from _passed(node, functions[name].args.args[1:])
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend" | "update" | "add_")):
                yield {name}, names_in(node)


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[Binding]:
    """Yield what an assignment binds; of two tuples of one length, item by item."""
    match target, value:
        case (ast.Tuple(elts=targets), ast.Tuple(elts=values)) if len(targets) == len(values):
            for one, other in zip(targets, values, strict=True):
                yield from _assigned(one, other)
        case _:
            yield names_in(target), names_in(value)


def _result_sources(tree: ast.AST) -> Set[str]:
    """Return the names behind `return` and `yield` of a function, or of all of a program."""
    given = (ast.Return, ast.Yield, ast.YieldFrom)
    return {name for each in ast.walk(tree) if isinstance(each, given) for name in names_in(each)}


def _passed(call: ast.Call, parameters: list[ast.arg]) -> Iterator[Binding]:
    for parameter, value in zip(parameters, call.args, strict=False):
        yield {parameter.arg}, names_in(value)
    for keyword in call.keywords:
        if keyword.arg:
            yield {keyword.arg}, names_in(keyword.value)
