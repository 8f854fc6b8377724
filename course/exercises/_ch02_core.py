"""The exercises of chapter 2 that ask for one gradient: by autograd, by hand, of any function, along a vector."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import torch
from torch import Tensor

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, ExerciseSet
from autograder.watching.probe import in_part
from autograder.watching.rules import Rule, avoids

from . import _ch02_calls as calls
from . import _ch02_probes as probes
from . import _ch02_watches as watches
from ._ch02_hints import HINTS

EXERCISES = ExerciseSet("ch02_autograd")
LEFT = "leaves what it is given as it was"
OLD = "does not mind an old .grad, nor a second call"
TELLS = {
    "left": "The result is right, but a tensor that you were given is no longer as it was: look at values, "
    "requires_grad and .grad.",
    "tracked": "Your result is tracked: it still knows how it was made. An untracked tensor is asked for.",
    "again": "A second call on the same tensor gives something else: the first one left something behind.",
    "elsewhere": "The .grad of another tensor, which `f` uses, has changed.",
}
_AUTOGRAD = frozenset({"backward", "grad", "vjp", "jacobian", "jacrev", "jacfwd", "grad_and_value", "jvp"})


def double(tensor: Tensor) -> Tensor:
    """The same numbers in float64."""
    return tensor.to(torch.float64)


def _asks_nobody(tree: ast.AST) -> bool:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return not _AUTOGRAD & (names | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)})


_by_autograd = Rule(
    "by_autograd",
    "lets autograd find the gradient",
    "You never ask autograd: let `backward` or `torch.autograd.grad` find the derivative.",
    _asks_nobody,
)


@EXERCISES.add(
    "mean_square_grad",
    tier="warm-up",
    hints=HINTS["mean_square_grad"],
    probe=in_part(
        {
            LEFT: probes.in_turn(probes.on_tensors("left"), probes.on_tensors("left", tracked=True)),
            OLD: probes.on_tensors("returned", "again", tracked=True, times=2),
            "returns an untracked tensor": probes.on_tensors("tracked", tracked=True),
        },
        otherwise=probes.on_tensors("returned"),
    ),
    rules=(_by_autograd,),
    tells=TELLS,
)
def mean_square_grad(draw: Draw) -> Iterator[Case]:
    """Let autograd find a gradient."""
    n, d, k = draw.sizes(3, 3, 6)
    yield Case("gives the gradient of the mean of the squares", draw.normal(4, 3))
    yield Case("works for any shape and dtype", draw.normal(n + 2))
    yield Case("works for any shape and dtype", draw.normal(n, d, k, dtype=torch.float64))
    yield Case("returns an untracked tensor", draw.normal(4, 3))
    yield Case(LEFT, draw.normal(4, 3))
    yield Case(OLD, draw.normal(4, 3))


@EXERCISES.add(
    "grad_by_hand",
    tier="warm-up",
    hints=HINTS["grad_by_hand"],
    probe=in_part(
        {"gives the derivative by x": probes.by_hand(0), "gives the derivative by y": probes.by_hand(1)},
        otherwise=probes.by_hand(2),
    ),
)
def grad_by_hand(draw: Draw) -> Iterator[Case]:
    """Apply the chain rule by hand."""
    basic = "gives three numbers, the last of them the derivative by z"
    for requirement in (basic, basic, "gives the derivative by x", "gives the derivative by y"):
        yield Case(requirement, *(round(draw.choice([-1, 1]) * draw.real(1.5, 9.0), 2) for _ in range(3)))


_ELSEWHERE = "changes no .grad anywhere else"
_FREE = "returns an untracked tensor"


@EXERCISES.add(
    "grad_of",
    tier="core",
    hints=HINTS["grad_of"],
    probe=in_part(
        {
            LEFT: probes.in_turn(probes.on_tensors("left"), probes.on_tensors("left", tracked=True)),
            OLD: probes.on_tensors("returned", "again", tracked=True, times=2),
            _FREE: probes.on_tensors("tracked", tracked=True),
            _ELSEWHERE: probes.beside_a_weight,
        },
        otherwise=probes.on_tensors("returned"),
    ),
    tells=TELLS,
    spelled=calls.of_function,
)
def grad_of(draw: Draw) -> Iterator[Case]:
    """Get a gradient without leaving a trace."""
    n, d = draw.sizes(2, 3, 6)
    several = "differentiates the sum where f gives several numbers"
    yield Case("gives the gradient of a function with one number", "sum_of_sines", draw.normal(n))
    yield Case("gives the gradient of a function with one number", "mixed", draw.normal(n, d, dtype=torch.float64))
    yield Case(several, "squares", draw.normal(n, d))
    yield Case(several, "cubes_of_the_first_column", draw.normal(d, n))
    yield Case(_FREE, "sum_of_squares", draw.normal(n))
    yield Case(LEFT, "sum_of_squares", draw.normal(n))
    yield Case(OLD, "sum_of_sines", draw.normal(n, d))
    yield Case(_ELSEWHERE, draw.normal(n, d))


@EXERCISES.add(
    "vjp",
    tier="core",
    hints=HINTS["vjp"],
    probe=in_part(
        {
            LEFT: probes.in_turn(probes.on_tensors("left"), probes.on_tensors("left", tracked=True)),
            OLD: probes.on_tensors("returned", "again", tracked=True, times=2),
            _FREE: probes.on_tensors("tracked", tracked=True),
        },
        otherwise=probes.on_tensors("returned"),
    ),
    tells=TELLS,
    spelled=calls.of_function,
)
def vjp(draw: Draw) -> Iterator[Case]:
    """Pull a vector back through a function."""
    n, d = draw.sizes(2, 4, 6)
    weighs, sums = "weighs each output with its v", "sums over all outputs that depend on an input"
    yield Case("gives the gradient of a sum for a v of ones", "squares", _double(draw, n, d), torch.ones(n, d).double())
    yield Case(weighs, "squares", _double(draw, n), _double(draw, n))
    yield Case(weighs, "sines", draw.normal(d, n), draw.normal(d, n))
    yield Case(sums, "mix_entries", _double(draw, n), _double(draw, n))
    yield Case(sums, "mix_to_three", _double(draw, n), _double(draw, 3))
    yield Case(sums, "row_products", _double(draw, n, d), _double(draw, n))
    yield Case(_FREE, "squares", _double(draw, n), _double(draw, n))
    yield Case(LEFT, "squares", _double(draw, n), torch.ones(n).double())
    yield Case(OLD, "squares", _double(draw, n), torch.ones(n).double())


def _double(draw: Draw, *shape: int) -> Tensor:
    return draw.normal(*shape, dtype=torch.float64)


_TO_A, _NOT_TO_B = "sends the gradient to a", "sends no gradient to what is behind b"
_STOP_LEFT = "leaves a and b as they were"


@EXERCISES.add(
    "stop_gradient_loss",
    tier="core",
    hints=HINTS["stop_gradient_loss"],
    probe=in_part(
        {
            _TO_A: watches.stopped("to_a", "tracked", "recording_off"),
            _NOT_TO_B: watches.stopped("to_b"),
            _STOP_LEFT: probes.in_turn(watches.stopped("left", leaves=True), watches.stopped("left")),
        },
        otherwise=watches.stopped("returned", leaves=True),
    ),
    rules=(
        avoids(
            "data",
            requirement="does without .data",
            sentence="`.data` reaches behind autograd's back: a later change in place goes unnoticed. "
            "Another method makes a tensor without history.",
        ),
    ),
    compare=watches.compare_stopped,
    tells=TELLS
    | {
        "to_a": "The loss is right; the gradient that arrives behind a is not.",
        "tracked": "Your loss has no history: nothing can flow back from it.",
        "to_b": "A gradient arrives behind b, which counts as a constant.",
    },
)
def stop_gradient_loss(draw: Draw) -> Iterator[Case]:
    """Let the gradient through to one side only."""
    n, d = draw.sizes(2, 3, 6)
    basic = "gives the mean squared difference"
    for requirement in (basic, basic, _TO_A, _TO_A, _NOT_TO_B, _STOP_LEFT):
        yield Case(requirement, draw.normal(n, d), draw.normal(n, d))
