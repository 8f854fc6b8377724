"""The stretch exercises of chapter 5: a loss scaler, operations that wait, a master copy."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case
from autograder.watching.probe import facets, in_part
from autograder.watching.probes.tensors import calling

from . import _ch05_calls as calls
from . import _ch05_measures as measures
from . import _ch05_scaler as scaler
from ._ch05_amp import EXERCISES
from ._ch05_core import eighths
from ._ch05_hints import HINTS

__all__ = ["EXERCISES"]

_DIVIDES, _STEPS = "divides the gradients in place", "steps only where all gradients are finite"
_ONCE_A_ROUND, _STATIC = "divides once in each round", "static: leaves its factor alone"
_BACKS_OFF, _GROWS = "dynamic: backs off after an overflow", "dynamic: grows after enough clean steps"
_SCALER_PARTS = {
    _DIVIDES: scaler.rounds("grads", how="unscale_ and look"),
    _STEPS: scaler.rounds("held"),
    _ONCE_A_ROUND: scaler.rounds("grads", "held", how="unscale_"),
    _STATIC: scaler.rounds("factors", "clean_steps"),
    _BACKS_OFF: scaler.rounds("factors", "clean_steps"),
    _GROWS: scaler.rounds("factors", "clean_steps"),
}


@EXERCISES.add(
    "LossScaler",
    tier="stretch",
    hints=HINTS["LossScaler"],
    spelled=calls.scaling,
    probe=in_part(_SCALER_PARTS, otherwise=scaler.rounds("scaled")),
    tells={
        "scaled": "`scale(loss)` is not the loss times factor, or its gradient does not arrive at the loss.",
        "grads": "The gradients in .grad are not the ones divided by factor.",
        "held": "After these rounds, the parameters are not what they should be.",
        "factors": "The factor after each round is not what it should be.",
        "clean_steps": "The count of clean steps after each round is not what it should be.",
    },
)
def loss_scaler(draw: Draw) -> Iterator[Case]:
    """Build a loss scaler."""
    factor = 2.0 ** draw.whole(3, 9)
    yield Case("multiplies the loss by factor", _rounds(draw, ".", factor), factor=factor)
    for pattern in (".", "0"):
        yield Case(_DIVIDES, _rounds(draw, pattern, factor), factor=factor)
    for pattern in (".i.", "..n", "-", "n", "i", ".0."):
        yield Case(_STEPS, _rounds(draw, pattern, factor), factor=factor)
    yield Case(_ONCE_A_ROUND, _rounds(draw, "..i.", factor), factor=factor)
    yield Case(_STATIC, _rounds(draw, "..i.n...", factor), factor=factor)
    rates = {"growth": draw.choice([2.0, 4.0]), "backoff": draw.choice([0.25, 0.125])}
    for pattern in ("i", "n.", "-", ".i.", "ii.."):
        yield Case(_BACKS_OFF, _rounds(draw, pattern, factor), factor=factor, growth_interval=draw.whole(4, 6), **rates)
    for interval, pattern in ((1, "..."), (2, "....."), (3, "..i......"), (3, "...i..n....")):
        yield Case(_GROWS, _rounds(draw, pattern, factor), factor=factor, growth_interval=interval, **rates)


def _rounds(draw: Draw, pattern: str, factor: float) -> list[list[Tensor | None]]:
    """Gradients of two parameters, round by round, `factor` times the true ones.

    "." finite; "0" none for the first parameter; "i" an inf in the second; "n" a nan in the first; "-" a -inf there.
    """
    size = draw.whole(2, 4)
    rounds: list[list[Tensor | None]] = []
    for sign in pattern:
        first, second = factor * eighths(draw, size), factor * eighths(draw, 2, 2)
        first[-1] = {"n": torch.nan, "-": -torch.inf}.get(sign, first[-1])
        second[0, 1] = torch.inf if sign == "i" else second[0, 1]
        rounds.append([None if sign == "0" else first, second])
    return rounds


_WAITING = {
    "lists a call of item": ("x.sum().item()", "x.max().item() - x.min().item()"),
    "lists float, int, bool and if on a tensor": (
        "float(x[0])",
        "int(x[0])",
        "if x.sum() > 0",
        "bool(x[0] > 0)",
        "torch.full((2,), x[0])",
    ),
    "lists nonzero": ("x.nonzero()", "torch.where(x > 0)"),
    "lists each as often as it ran, in order": (
        "item() in each round of a loop",
        "loss.backward(), then two calls of item()",
        "x.sum().item(), then x.nonzero(), then float(x[0])",
        "x.nonzero(), then x.sum().item()",
    ),
    "lists nothing where nothing waits": (
        "(x * 2).sum()",
        "torch.softmax(x, dim=0)",
        "x.clamp(min=0.0).to(dtype=torch.float64)",
        "print(x), which the mode does not see",
    ),
}
_CALLED = "calls fn once, and lets it compute what it would"


@EXERCISES.add(
    "count_syncs",
    tier="stretch",
    hints=HINTS["count_syncs"],
    spelled=calls.watching,
    probe=in_part({_CALLED: measures.counted("calls", "made")}, otherwise=measures.counted("returned")),
    tells={
        "calls": "One call of `count_syncs` is to call fn once.",
        "made": "Within `count_syncs`, fn computes something else than without.",
    },
)
def count_syncs(draw: Draw) -> Iterator[Case]:
    """Find the operations that wait for a value."""
    for requirement, names in _WAITING.items():
        for name in names:
            yield Case(requirement, name, draw.normal(draw.whole(3, 6)))
    for name in ("(x * 2).sum()", "x.clamp(min=0.0).to(dtype=torch.float64)", "x.max().item() - x.min().item()"):
        yield Case(_CALLED, name, draw.normal(draw.whole(3, 6)))


_ALONE, _MASTER = "alone: rounds to bfloat16 at each step", "master: stays in float32 throughout"
_UNCHANGED = "leaves w16 and grad as they were"


@EXERCISES.add(
    "master_weights",
    tier="stretch",
    hints=HINTS["master_weights"],
    probe=in_part(
        {
            _ALONE: measures.one_of_two(0),
            _MASTER: measures.one_of_two(1),
            _UNCHANGED: facets(calling(), "inputs"),
        },
        otherwise=facets(calling(), "returned"),
    ),
)
def master_weights(draw: Draw) -> Iterator[Case]:
    """Keep weights in float32 beside their 16-bit copy."""
    brain = torch.bfloat16
    n, d = draw.sizes(2, 2, 4)

    def ones(*shape: int) -> Tensor:
        """1 or -1, and nothing between."""
        return (draw.bools(*shape).float() * 2 - 1).to(brain)

    yield Case("takes one step that 16 bits can hold", ones(n), ones(n) / 2, lr=0.5, steps=1)
    yield Case("takes one step that 16 bits can hold", eighths(draw, n, d).to(brain), ones(n, d), lr=0.25, steps=1)
    w = ones(n)
    yield Case(_ALONE, w, w.abs() / 4, lr=2.0**-8, steps=draw.whole(20, 60))
    yield Case(_ALONE, 2 * w, 0.75 * w, lr=2.0**-7, steps=draw.whole(20, 60))
    yield Case(_ALONE, ones(n, d), eighths(draw, n, d).to(brain), lr=0.5, steps=draw.whole(3, 6))
    yield Case(_MASTER, w, w, lr=0.001, steps=draw.whole(80, 120))
    yield Case(_MASTER, eighths(draw, n, d).to(brain), draw.normal(n, d).to(brain), lr=0.3, steps=draw.whole(3, 9))
    yield Case(_MASTER, ones(n), ones(n), lr=0.5, steps=0)
    yield Case(_UNCHANGED, ones(n), ones(n), lr=0.5, steps=draw.whole(1, 3))
