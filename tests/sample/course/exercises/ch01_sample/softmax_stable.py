"""`softmax_stable`: write a softmax that cannot overflow."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probes.tensor_functions import make_call_probe, observe_result_only
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import Rule, imported_names

_SOFTMAXES = frozenset({"softmax", "log_softmax", "Softmax", "LogSoftmax", "softmin", "Softmin", "_softmax"})


def _calls_softmax(tree: ast.AST) -> bool:
    """Whether a built-in softmax is used; a variable may well be called `softmax`."""
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return bool((imported_names(tree) | used) & _SOFTMAXES)


no_softmax = Rule(
    "no_softmax",
    "is written without torch.softmax and its relatives",
    "You call a softmax that torch brings along. Build it yourself from `exp`, a maximum and a sum.",
    _calls_softmax,
)

shares = Requirement("gives shares that add up to 1 along dim 1", observe_result_only)
any_dim = Requirement("works along any dim", observe_result_only)
finite = Requirement("stays finite for large numbers and for rows far apart", observe_result_only)
differentiable = Requirement("lets the gradient through", make_call_probe(grad=True))
dtype = Requirement("keeps the dtype that it is given", observe_result_only)
unchanged = Requirement("leaves x as it is", make_call_probe(), given=("returned",))


@exercise(
    tier="stretch",
    rules=(no_softmax,),
    hints=(
        "Subtracting the same number from all entries of a slice does not change its softmax. Which "
        "number makes `exp` safe?",
        "Each slice along `dim` needs a maximum of its own, in a shape that lines up with `x`: `amax` with `keepdim`.",
        "The largest entry becomes exp(0) = 1, so the sum is at least 1. Do not detach anything from autograd.",
    ),
)
def softmax_stable(draw: Draw) -> Iterator[Case]:
    """Write a softmax that cannot overflow."""
    n, d, k = draw.sizes(3, 4, 7)
    yield shares(draw.normal(n, d), dim=1)
    for x, dim in ((draw.normal(n, d), 0), (draw.normal(k, n, d), 1), (draw.normal(k, n, d), -2)):
        yield any_dim(x, dim=dim)
    yield any_dim(draw.normal(d, d), dim=-1)
    yield any_dim(draw.normal(d), dim=0)
    yield any_dim(draw.normal(n, k, d).transpose(0, 1), dim=1)
    yield any_dim(draw.normal(n, 1), dim=1)
    yield finite(torch.tensor([1000.0, 1000.0]), dim=0)
    large = draw.normal(n, d)
    large[:, :2] += 1000.0
    large[:, 2] -= 1000.0
    yield finite(large, dim=1)
    apart = draw.normal(n, d)
    apart[draw.whole(0, n - 1)] -= 500.0
    yield finite(apart, dim=1)
    yield differentiable(draw.normal(n, d), dim=1)
    # So small that the weights of the gradient, 1, 2, 3, ..., lose no digits against one another along another dim.
    yield differentiable(draw.normal(*draw.sizes(3, 2, 4)), dim=0)
    yield dtype(draw.normal(n, d, dtype=torch.float64), dim=1)
    yield unchanged(draw.normal(n, d), dim=1)
