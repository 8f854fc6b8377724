"""The exercises of chapter 2: loops that use gradients, predictions and the bug hunt; two more modules hold the others.

Every answer that meets tensors meets them warm: with an old .grad, tracked and untracked, on a second call. The cases
name functions, since a case is plain data.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case
from autograder.watching.probe import facets, in_part
from autograder.watching.rules import Note, avoids, calls_often

from . import _ch02_calls as calls
from . import _ch02_probes as probes
from . import _ch02_stretch
from . import _ch02_watches as watches
from ._ch02_core import LEFT, OLD, TELLS
from ._ch02_hints import HINTS

__all__ = ["EXERCISES"]
EXERCISES = _ch02_stretch.EXERCISES

_OWN_MEMORY = "returns memory of its own, also after 0 steps"
_ON_LEAVES = "starts each step on a leaf, and returns an untracked tensor"


@EXERCISES.add(
    "descend",
    tier="core",
    hints=HINTS["descend"],
    probe=in_part(
        {
            LEFT: probes.in_turn(probes.on_tensors("left"), probes.on_tensors("left", tracked=True)),
            OLD: probes.on_tensors("returned", "again", tracked=True, times=2),
            _ON_LEAVES: facets(watches.steps_of, "on_leaves", "tracked"),
            _OWN_MEMORY: facets(watches.steps_of, "returned", "own_memory"),
        },
        otherwise=probes.on_tensors("returned"),
    ),
    tells=TELLS
    | {
        "on_leaves": "`f` was called on a tensor that an operation made: the graph reaches back into earlier steps.",
        "own_memory": "Your result lives in the memory of x0: whoever changes one changes the other.",
    },
    spelled=calls.of_function,
)
def descend(draw: Draw) -> Iterator[Case]:
    """Go downhill by hand."""
    n, d = draw.sizes(2, 3, 6)

    def start() -> Tensor:
        return draw.normal(n, d, dtype=torch.float64)

    rate = round(draw.real(0.05, 0.2), 3)
    yield Case("takes one step against the gradient", "bowl_at_one", start(), lr=rate, steps=1)
    yield Case("takes one step against the gradient", "sum_of_sines", draw.normal(d), lr=rate, steps=1)
    yield Case("takes as many steps as asked for", "bowl_at_one", start(), lr=rate, steps=2)
    yield Case("takes as many steps as asked for", "sum_of_sines", start(), lr=rate, steps=draw.whole(5, 20))
    yield Case(_ON_LEAVES, "bowl_at_one", start(), lr=rate, steps=3)
    yield Case(_OWN_MEMORY, "bowl_at_one", start(), lr=rate, steps=0)
    yield Case(LEFT, "bowl_at_one", start(), lr=rate, steps=1)
    yield Case(OLD, "bowl_at_one", start(), lr=rate, steps=1)


_UNEQUAL = "counts every row alike in batches of different sizes"
_IN_GRAD = "leaves each gradient in .grad too"
_CALLED = "calls loss_fn once per batch, and leaves the parameters where they are"
_NO_OLD = "does not count an old .grad, nor that of an earlier call"


@EXERCISES.add(
    "accumulate",
    tier="core",
    hints=HINTS["accumulate"],
    probe=in_part(
        {
            _NO_OLD: watches.accumulated("returned", "again", old=True, times=2),
            _IN_GRAD: watches.accumulated("in_grad"),
            _CALLED: watches.accumulated("called_with", "moved"),
        },
        otherwise=watches.accumulated("returned"),
    ),
    tells={
        "again": "A second call with the same parameters gives other gradients: those of the first one still count.",
        "in_grad": "The gradients that you return are right; those in .grad of the parameters are not.",
        "called_with": "`loss_fn` is to be called once for each batch, on that batch.",
        "moved": "The parameters themselves have changed. Only their .grad is to be filled.",
    },
    spelled=calls.accumulating,
)
def accumulate(draw: Draw) -> Iterator[Case]:
    """Get the gradient of a large batch from small ones."""
    features = draw.whole(2, 4)
    yield Case("gives the gradients for a single batch", *_batches(draw, features, draw.whole(3, 6)))
    yield Case(_UNEQUAL, *_batches(draw, features, 1, 3))
    yield Case(_UNEQUAL, *_batches(draw, features + 1, *draw.sizes(3, 1, 6)))
    yield Case(_NO_OLD, *_batches(draw, features, 4))
    yield Case(_IN_GRAD, *_batches(draw, features, 5))
    yield Case(_CALLED, *_batches(draw, features, *draw.sizes(2, 2, 5)))


def _batches(draw: Draw, features: int, *rows: int) -> tuple[list[Tensor], list[Tensor]]:
    """Batches whose last column is the target, and the parameters of a linear model: weights and bias."""
    batches = [draw.normal(n, features + 1, dtype=torch.float64) + i for i, n in enumerate(rows)]
    return batches, [draw.normal(features, dtype=torch.float64), draw.normal(1, dtype=torch.float64)]


_BACKWARD = "calls backward on each loss, before it asks for the next"
_FREED = "keeps no graph of an earlier loss"


@EXERCISES.add(
    "running_loss",
    tier="core",
    hints=HINTS["running_loss"],
    probe=in_part(
        {
            "takes its losses from a generator too": watches.running("returned"),
            _BACKWARD: watches.running("gradient", "so_far"),
            _FREED: watches.running("kept"),
        },
        otherwise=watches.running("returned", generator=False),
    ),
    tells={
        "gradient": "The gradients that arrived at the parameter are not those of one backward per loss.",
        "so_far": "When you asked for the next loss, the gradient of the one before had not arrived.",
        "kept": "When the next loss had come, the graph of an earlier one was still held.",
    },
    spelled=calls.running,
)
def running_loss(draw: Draw) -> Iterator[Case]:
    """Watch a loss without keeping its graph."""
    for requirement in (
        "returns the mean of the values as a float",
        "takes its losses from a generator too",
        _BACKWARD,
        _FREED,
    ):
        yield Case(requirement, [round(draw.real(0.5, 9.0), 2) for _ in range(draw.whole(3, 6))])


_PROGRAMS = {
    "tells what one backward leaves behind": ("once",),
    "tells what a second backward does": ("twice", "fresh", "twice_sum"),
    "tells about a tensor in the middle": ("middle", "kept"),
    "tells what a leaf is after an update": ("rebound", "under"),
    "tells what detach does": ("detached",),
    "tells which changes in place stop a program": ("on_leaf", "after_exp", "after_twice"),
}


@EXERCISES.add(
    "predict_grad_state",
    tier="core",
    hints=HINTS["predict_grad_state"],
    probe=probes.state_told,
    rules=(
        avoids(
            "torch",
            requirement="works by the rules, without torch",
            sentence="You ask torch. Predict instead: the rules say what each line leaves behind.",
        ),
    ),
)
def predict_grad_state(draw: Draw) -> Iterator[Case]:
    """Predict what autograd leaves behind."""
    for requirement, names in _PROGRAMS.items():
        for name in names:
            yield Case(requirement, (name, round(draw.real(2.5, 9.0), 2)))


_ENTRIES = {
    "exp_grad: a gradient through exp": probes.entries("exp_grad"),
    "stepped: a step of gradient descent": probes.entries("stepped"),
    "square_grad: the gradient of the uncut scores": probes.entries("square_grad"),
    "report: the scores, cut off": probes.entries("report"),
    "leaves x as it was": probes.entries(left=True),
}


@EXERCISES.add(
    "fix_inplace",
    tier="core",
    hints=HINTS["fix_inplace"],
    probe=in_part(_ENTRIES, otherwise=probes.entries()),
    tells={"left": TELLS["left"]},
    notes=(
        Note(
            "Right. You clone in many places, and each clone costs memory and time: what an operation saved stays safe "
            "where the next one makes a new tensor, as `y + 1` does.",
            calls_often("clone", more_than=5),
        ),
    ),
)
def fix_inplace(draw: Draw) -> Iterator[Case]:
    """Mend three programs that change a tensor in place."""
    for requirement in ("runs, and returns four untracked tensors", *_ENTRIES):
        low, high = draw.uniform(2, low=-2.0, high=0.2), draw.uniform(draw.whole(1, 3), low=0.6, high=2.0)
        yield Case(requirement, torch.cat([low, high]))
