"""`softmax_stable`: write a softmax that cannot overflow."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probes.tensor_functions import (
    make_call_probe,
    make_dim_function_probe,
    make_probe_ignoring_16_bit_values,
    observe_result_only,
)
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import Rule, imported_names

_SOFTMAXES = frozenset({"softmax", "log_softmax", "Softmax", "LogSoftmax", "softmin", "Softmin", "_softmax"})
_LOGSUMEXPS = frozenset({"logsumexp", "logcumsumexp"})


def _calls_softmax(tree: ast.AST) -> bool:
    """Whether a built-in softmax or logsumexp is used; a variable may well be called `softmax`."""
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return bool((imported_names(tree) | used) & (_SOFTMAXES | _LOGSUMEXPS))


no_softmax = Rule(
    "no_softmax",
    "is written without torch.softmax, logsumexp and the like",
    "You call a softmax or logsumexp that torch brings along. Build it yourself from `exp`, a maximum and a sum.",
    _calls_softmax,
)

_NEAR = 1e-3  # what a difference of logarithms may be off
_ROUNDED = 1e-5  # what a sum of shares may be off
_IN_FLOAT64 = 1e-11  # and in float64: much less than any number that is added to a denominator for safety


def add_up_to_one(_x: torch.Tensor, shares: torch.Tensor, dim: int) -> torch.Tensor:
    """Whether numbers are shares of 1 along a dim."""
    return ((shares.sum(dim) - 1).abs() < _ROUNDED).all()


def in_proportion(scores: torch.Tensor, shares: torch.Tensor, dim: int) -> torch.Tensor:
    """Whether the logarithms of shares differ along a dim as the scores do."""
    off = shares.log() - scores
    return ((off - off.narrow(dim, 0, 1)).abs() < _NEAR).all()


def to_the_last_digits(_x: torch.Tensor, shares: torch.Tensor, dim: int) -> torch.Tensor:
    """Whether numbers that have more digits than float32 add up to 1 in all of them."""
    if torch.equal(shares.float().double(), shares):
        return torch.ones(())
    return ((shares.sum(dim) - 1).abs() < _IN_FLOAT64).all()


parts_of_one = make_dim_function_probe(sums=add_up_to_one, in_proportion=in_proportion)
SHARES = {
    "sums": "Along `dim` your numbers do not add up to 1.",
    "in_proportion": "Along `dim` your numbers add up to 1, and are not in the proportion of the exp of the scores.",
}
shares = Requirement("gives shares that add up to 1 along dim 1", parts_of_one, SHARES)
any_dim = Requirement("works along any dim", parts_of_one, SHARES)
finite = Requirement(
    "stays finite for large numbers and for rows far apart",
    observe_result_only,
    tells={
        "returned:values": "For scores that are large, or far apart, your shares are others. In each slice along "
        "`dim` no exp may overflow, not all may become 0, and the differences of the scores must stay."
    },
)
differentiable = Requirement(
    "lets the gradient through",
    make_call_probe(grad=True),
    tells={
        "gradient": "The gradient that flows back through your result is not that of a softmax. Is some use of `x` cut "
        "off on the way, as `.data`, `detach` and NumPy do?"
    },
    needs=(any_dim,),
)
dtype = Requirement(
    "keeps the dtype that it is given, to its digits",
    make_probe_ignoring_16_bit_values(make_dim_function_probe(digits=to_the_last_digits)),
    {
        "digits": "In float64 your numbers add up to 1 in their first digits alone: something small is added to the "
        "sum, or a part of them is computed with fewer digits."
    },
)
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
    large[:, 1:3] += 1000.0
    large[:, 3] -= 1000.0  # neither the first nor the smallest is a safe number to subtract
    yield finite(large, dim=1)
    apart = draw.normal(n, d)
    apart[draw.whole(0, n - 1)] -= 500.0
    yield finite(apart, dim=1)
    yield finite(draw.normal(n, d, dtype=torch.float64) + 2.0**28, dim=1)  # float32 holds no differences so far out
    yield differentiable(draw.normal(n, d), dim=1)
    # So small that the weights of the gradient, 1, 2, 3, ..., lose no digits against one another along another dim.
    yield differentiable(draw.normal(*draw.sizes(3, 2, 4)), dim=0)
    yield dtype(draw.normal(n, d, dtype=torch.float64), dim=1)
    for kind in (torch.float16, torch.bfloat16):
        yield dtype(draw.normal(n, d).to(kind), dim=1)
    yield unchanged(draw.normal(n, d), dim=1)
