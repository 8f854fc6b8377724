"""The stretch exercises of chapter 2: a trap, a Function and an engine of one's own, second derivatives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case
from autograder.watching.probe import facets, in_part
from autograder.watching.probes.tensors import calling

from . import _ch02_calls as calls
from . import _ch02_classes as classes
from . import _ch02_probes as probes
from . import _ch02_watches as watches
from ._ch02_core import EXERCISES, LEFT, double
from ._ch02_hints import HINTS

__all__ = ["EXERCISES"]

_UNCHANGED = "leaves x as it is"
_LOG_GRADIENT = "has the gradient 1 / x, and 0 where x is negative"
_LOG_FINITE = "has the gradient 0 at 0, not nan"


@EXERCISES.add(
    "safe_log_where",
    tier="stretch",
    hints=HINTS["safe_log_where"],
    probe=in_part(
        {
            _UNCHANGED: facets(calling(), "inputs"),
            _LOG_GRADIENT: facets(calling(grad=True), "gradient"),
            _LOG_FINITE: facets(calling(grad=True), "gradient"),
        },
        otherwise=facets(calling(), "returned"),
    ),
)
def safe_log_where(draw: Draw) -> Iterator[Case]:
    """Take a logarithm whose gradient is finite everywhere."""
    n, d = draw.sizes(2, 4, 7)
    positive = draw.uniform(n, low=0.2, high=3.0)
    yield Case("gives the logarithm of positive numbers", positive)
    yield Case("gives the logarithm of positive numbers", double(positive[:3]) * 1e-12)
    signed = draw.uniform(n, d, low=0.2, high=3.0) * torch.tensor([-1.0, 1.0]).repeat(n, d)[:, :d]
    yield Case("gives 0 for negative numbers and for 0", signed)
    yield Case("gives 0 for negative numbers and for 0", torch.cat([torch.zeros(2), positive]))
    yield Case(_LOG_GRADIENT, signed)
    yield Case(_LOG_GRADIENT, double(positive[:3]) * 1e-6)
    yield Case(_LOG_FINITE, torch.cat([positive, torch.zeros(2), -positive]))
    yield Case(_UNCHANGED, torch.cat([torch.zeros(1), -positive, positive]))


_BY_X, _BY_SLOPE = "passes the right gradient on to x", "gives slope its gradient"
_APART = "keeps several calls apart"
_NEEDS = "returns None for each input that needs no gradient"
_CHECKED = "passes gradcheck"


@EXERCISES.add(
    "LeakyClamp",
    tier="stretch",
    hints=HINTS["LeakyClamp"],
    probe=in_part(
        {
            _BY_X: classes.clamp_part("by_x"),
            _BY_SLOPE: classes.clamp_part("by_slope"),
            _APART: classes.clamp_twice,
            _NEEDS: classes.clamp_needs,
            _CHECKED: classes.clamp_gradcheck,
        },
        otherwise=classes.clamp_part("returned"),
    ),
    tells={
        "for_x_alone": "With only x tracked, backward should return a tensor for x and None three times.",
        "for_slope_alone": "With only slope tracked, backward should return None three times and a tensor for slope.",
        "grad_out_kept": "Your backward changes grad_out in place; it belongs to whoever called.",
        "gradcheck": "gradcheck compares your gradients with differences of your values: they do not agree.",
    },
    spelled=calls.applied,
)
def leaky_clamp(draw: Draw) -> Iterator[Case]:
    """Write a Function with a forward and a backward of your own."""
    basic = "limits x, and lets slope times the excess through"
    x, low, high, slope = _clamped(draw)
    yield Case(basic, x.float(), low, high, slope.float())
    for requirement in (basic, _BY_X, _BY_X, _BY_SLOPE, _BY_SLOPE, _APART, _NEEDS, _CHECKED):
        yield Case(requirement, *_clamped(draw))


def _clamped(draw: Draw) -> tuple[Any, ...]:
    """Numbers below, inside and above, none of them near a corner; low is above 0, or high below it, by turns."""
    low = draw.choice([-1.0, 1.0]) * draw.real(1.0, 2.0)
    high = low + draw.real(1.0, 2.0)
    shares = double(draw.uniform(3, 2, low=0.1, high=0.9))
    shares[0] -= 1.0
    shares[2] += 1.0
    x = low + (high - low) * shares
    slope = torch.tensor(draw.real(0.1, 0.7), dtype=torch.float64)
    return x.T if draw.whole(0, 1) else x, low, high, slope


_CHEAP = "never builds the full Hessian"
_FREE = "returns an untracked tensor"


@EXERCISES.add(
    "hessian_vector_product",
    tier="stretch",
    hints=HINTS["hessian_vector_product"],
    probe=in_part(
        {
            LEFT: probes.in_turn(probes.on_tensors("left"), probes.on_tensors("left", "again", tracked=True, times=2)),
            _FREE: probes.on_tensors("tracked", tracked=True),
            _CHEAP: watches.hessian_cost,
        },
        otherwise=probes.on_tensors("returned"),
    ),
    tells={
        "left": "The result is right, but a tensor that you were given is no longer as it was.",
        "tracked": "Your result is tracked: its graph stays alive as long as it does.",
        "full_hessian": "You build all entries of the Hessian on the way to the product.",
        "many_passes": "Your work grows with the entries of x: is there a backward pass for each of them?",
    },
    spelled=calls.of_function,
)
def hessian_vector_product(draw: Draw) -> Iterator[Case]:
    """Multiply a Hessian by a vector without building it."""
    n, d = draw.sizes(2, 3, 6)
    yield Case("multiplies v by second derivatives", "sum_of_cubes", _double(draw, n), _double(draw, n))
    yield Case("counts mixed second derivatives too", "mixed", draw.normal(n), draw.normal(n))
    yield Case("counts mixed second derivatives too", "mixed", _double(draw, n, d), _double(draw, n, d))
    yield Case(_FREE, "mixed", _double(draw, n), _double(draw, n))
    yield Case(LEFT, "mixed", _double(draw, d), _double(draw, d))
    yield Case(_CHEAP, "mixed", _double(draw, 60), _double(draw, 60))


def _double(draw: Draw, *shape: int) -> Tensor:
    return draw.normal(*shape, dtype=torch.float64)


_VALUE_PARTS = {
    "passes gradients through + and *": classes.expression("grads", "own"),
    "passes gradients through tanh": classes.expression("grads"),
    "adds up what arrives on several paths": classes.expression("grads"),
    "passes a Value on once, when all has arrived": classes.expression("grads", "middle"),
    "serves several results one after another": classes.expression("grads"),
    "serves results that share a Value on the way": classes.expression("grads", "middle"),
}
_EXPRESSIONS = {
    "passes gradients through + and *": ("a + b", "a * b", "a * b + c", "(a + b) * c"),
    "passes gradients through tanh": ("a.tanh()", "(a * b).tanh()", "a.tanh().tanh() * b"),
    "adds up what arrives on several paths": ("a + a", "a * a", "a * b + a"),
    "passes a Value on once, when all has arrived": (
        "h = a * b; h * c + h",
        "h = a * b; four times h = h + h",
        "h = a + b; h * ((h * h) * a)",
        "h = a + b; ((h * h) * a) * h",
    ),
    "serves several results one after another": ("a * b, then a + a * a",),
    "serves results that share a Value on the way": ("h = a * b; h + b, then h * h",),
}
_ONE_LEAF = ("a.tanh()", "a + a", "a * a")
_THREE_LEAVES = ("a * b + c", "(a + b) * c", "h = a * b; h * c + h")


@EXERCISES.add(
    "Value",
    tier="stretch",
    hints=HINTS["Value"],
    probe=in_part(_VALUE_PARTS, otherwise=classes.expression("data")),
    tells={
        "grads": "The values are right; the gradients of the Values that you began with are not.",
        "middle": "The gradients of a Value on the way are not right.",
        "own": "After `result.backward()`, `result.grad` is to be 1.0.",
    },
    spelled=calls.expression,
)
def value(draw: Draw) -> Iterator[Case]:
    """Build a small autograd engine."""
    for name in ("a + b", "a * b", "a.tanh()", "h = a * b; h * c + h"):
        yield Case("computes sums, products and tanh", name, _numbers(draw, name))
    for requirement, names in _EXPRESSIONS.items():
        for name in names:
            yield Case(requirement, name, _numbers(draw, name))


def _numbers(draw: Draw, name: str) -> list[float]:
    """A number for each leaf of an expression, away from 0 and 1."""
    count = 1 if name in _ONE_LEAF else 3 if name in _THREE_LEAVES else 2
    return [round(draw.choice([-1.0, 1.0]) * draw.real(0.3, 0.9), 3) for _ in range(count)]
