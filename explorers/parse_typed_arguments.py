"""Parse the text of an explorer's fields, without executing it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

MOST_COMPUTED = 10**6  # a result with more numbers is not computed
_UNARY: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class ArgumentError(ValueError):
    """Raised for a typed argument that cannot be parsed; the message says what was expected."""


def parse_integers(text: str) -> list[int]:
    """Parse the whole numbers of `2, -1`, `(2, -1)` or `[2, -1]`; raise ArgumentError."""
    try:
        value = ast.literal_eval(f"[{text}]")
    except (SyntaxError, ValueError, TypeError):
        value = [None]
    if len(value) == 1 and isinstance(value[0], list | tuple):
        (value,) = value
    if not all(type(number) is int for number in value):
        raise ArgumentError(f"expected whole numbers with commas between, such as 2, 3 or (2, 3); found {text!r}.")
    return list(value)


def parse_integer(text: str) -> int:
    """Parse one whole number; raise ArgumentError."""
    found = [] if set("([,") & set(text) else parse_integers(text)
    if len(found) != 1:
        raise ArgumentError(f"expected one whole number, found {text!r}.")
    return found[0]


def parse_flag(text: str) -> bool:
    """Parse True or False; raise ArgumentError."""
    if text not in ("True", "False"):
        raise ArgumentError(f"expected True or False, found {text!r}.")
    return text == "True"


def parse_index(text: str, tensors: Mapping[str, Tensor]) -> Any:
    """Parse the inside of the brackets of `x[0, :, None]` or `x[x > 2]`; raise ArgumentError, or torch's own error.

    It may contain whole numbers, slices, lists, None, `...`, and masks or indices computed from these tensors.
    """
    try:
        node = ast.parse(f"x[{text}]", mode="eval").body
        assert isinstance(node, ast.Subscript)
        return _index(node.slice, tensors)
    except ArgumentError:
        raise
    except (SyntaxError, ValueError, ArithmeticError, AssertionError):
        name = next(iter(tensors), "x")
        raise ArgumentError(
            f"expected an index such as 0, :, 1:3 or None, or a mask such as {name} > 2; found {text!r}."
        ) from None


def _index(node: ast.expr, tensors: Mapping[str, Tensor]) -> Any:
    if isinstance(node, ast.Tuple):
        return tuple(_index_part(part, tensors) for part in node.elts)
    return _index_part(node, tensors)


def _index_part(node: ast.expr, tensors: Mapping[str, Tensor]) -> Any:
    if isinstance(node, ast.Slice):
        ends = (node.lower, node.upper, node.step)
        return slice(*(None if end is None else ast.literal_eval(end) for end in ends))
    try:
        return ast.literal_eval(node)
    except ValueError:
        return _computed(node, tensors)


def _computed(node: ast.expr, tensors: Mapping[str, Tensor]) -> Any:  # noqa: C901 (one branch for each kind of node)
    """Compute `x > 2`, `(x > 2) & keep`, `x[:, 0] == 1` as Python does; raise ValueError for anything else."""
    match node:
        case ast.Name(id=name) if name in tensors:
            return tensors[name]
        case ast.Constant(value=bool() | int() | float() as number):
            return number
        case ast.Subscript(value=value, slice=place):
            return _computed(value, tensors)[_index(place, tensors)]
        case ast.UnaryOp(op=op, operand=operand):
            return _UNARY[type(op)](_computed(operand, tensors))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _applied(op, _computed(left, tensors), _computed(right, tensors))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _BINARY:
            return _applied(op, _computed(left, tensors), _computed(right, tensors))
        case ast.Compare(left=left, ops=[first, *others], comparators=[middle, *rest]):
            pair = (ast.Compare(left, [first], [middle]), ast.Compare(middle, others, rest))
            return _computed(pair[0], tensors) and _computed(pair[1], tensors)
        case ast.BoolOp(op=op, values=[first, *rest]):
            value = _computed(first, tensors)
            for other in rest:  # `bool` of a mask with several numbers raises torch's own error
                if bool(value) is isinstance(op, ast.And):
                    value = _computed(other, tensors)
            return value
    raise ValueError(ast.dump(node))


def _applied(op: ast.AST, left: Any, right: Any) -> Any:
    """Apply an operator; raise ArgumentError if the result would be too large."""
    shapes = [each.shape for each in (left, right) if isinstance(each, Tensor)]
    if not shapes:
        raise ValueError("nothing of a tensor")
    try:
        count = torch.broadcast_shapes(*shapes).numel()
    except RuntimeError:
        count = 0  # the operator raises an error that says why
    if count > MOST_COMPUTED:
        raise ArgumentError(f"expected a mask of at most {MOST_COMPUTED:,} numbers, found one of {count:,}.")
    return _BINARY[type(op)](left, right)
