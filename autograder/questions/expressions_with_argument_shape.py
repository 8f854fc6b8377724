"""Recognize expressions that are an argument of the call with other numbers, another dtype or device, or a copy of it.

Their shape stands in the call, so that nobody learns from a question about it.
"""

from __future__ import annotations

import ast
from collections.abc import Set

_KEEP_SHAPE = {
    *("abs", "bfloat16", "bool", "clamp", "clone", "contiguous", "copy_", "cos", "cpu", "cuda", "detach", "double"),
    *("exp", "float", "half", "int", "log", "log_softmax", "long", "neg", "pow", "relu", "requires_grad_", "sigmoid"),
    *("reciprocal", "rsqrt", "sign", "sin", "softmax", "sqrt", "square", "tanh"),
    *("to", "type", "data", "deepcopy", "copy"),
    *("empty_like", "full_like", "ones_like", "rand_like", "randn_like", "zeros_like"),
}
TENSOR_FACTORIES = ("empty", "full", "ones", "rand", "randn", "zeros")  # make a tensor of the sizes that they are given
_LIBRARIES = {"F", "copy", "functional", "torch"}


def has_shape_of_argument(text: str, given: Set[str]) -> bool:
    """Return whether an expression has the shape of one of the expressions `given`, whatever its numbers."""
    return _keeps(ast.parse(text, mode="eval").body, given)


def _keeps(node: ast.expr, given: Set[str]) -> bool:
    if ast.unparse(node) in given:
        return True
    match node:
        case ast.Call(func=ast.Attribute(attr=name), args=[ast.Attribute(value=inner, attr="shape"), *_]) if (
            name in TENSOR_FACTORIES
        ):
            return _keeps(inner, given)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[first, *_]) if name in _LIBRARIES:
            return method in _KEEP_SHAPE and _keeps(first, given)
        case ast.Call(func=ast.Attribute(value=inner, attr=method)) | ast.Attribute(value=inner, attr=method):
            return method in _KEEP_SHAPE and _keeps(inner, given)
        case ast.BinOp(left=inner, right=ast.Constant()) | ast.UnaryOp(operand=inner):
            return _keeps(inner, given)
    return False
