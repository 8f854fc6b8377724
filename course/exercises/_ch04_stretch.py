"""The stretch exercises of chapter 4: two optimizers, and training that can be stopped and gone on with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import Tensor

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case
from autograder.watching.probe import in_part

from . import _ch04_calls as calls
from . import _ch04_optimizers as optimizers
from . import _ch04_resume as resume
from ._ch04_core import EXERCISES, doubles
from ._ch04_hints import HINTS

__all__ = ["EXERCISES"]

_NONE, _ONCE, _APART = "leaves tensors without a gradient alone", "takes a generator", "keeps two optimizers apart"
_GRADS = "leaves each .grad as it is, until zero_grad"
_OPTIMIZER_PARTS = {
    _ONCE: optimizers.stepped("path", generator=True),
    _APART: optimizers.apart,
    _GRADS: optimizers.stepped("grads", "cleared"),
}
_OPTIMIZER_TELLS = {
    "path": "The tensors are not where they should be after these steps.",
    "grads": "After your step, .grad is not what it was before. It belongs to the caller.",
    "cleared": "After zero_grad, each .grad should be None.",
}


@EXERCISES.add(
    "SGDMomentum",
    tier="stretch",
    hints=HINTS["SGDMomentum"],
    spelled=calls.optimizing,
    probe=in_part(_OPTIMIZER_PARTS, otherwise=optimizers.stepped("path")),
    tells=_OPTIMIZER_TELLS,
)
def sgd_momentum(draw: Draw) -> Iterator[Case]:
    """Write SGD with momentum."""
    lr, momentum = round(draw.real(0.05, 0.3), 2), round(draw.real(0.5, 0.8), 2)
    yield Case("moves each tensor in place, against its gradient", *_steps(draw, 1), lr=lr)
    yield Case("remembers the steps before", *_steps(draw, 3), lr=lr)
    yield Case("remembers the steps before", *_steps(draw, 2), lr=lr, momentum=momentum)
    yield Case("decays the weights", *_steps(draw, 2), lr=lr, weight_decay=momentum)
    yield Case(_NONE, *_steps(draw, 3, missing=True), lr=lr, weight_decay=0.1)
    yield Case(_ONCE, *_steps(draw, 2), lr=lr)
    yield Case(_APART, *_steps(draw, 2), lr=lr)
    yield Case(_GRADS, *_steps(draw, 2), lr=lr, weight_decay=0.5)


@EXERCISES.add(
    "AdamW",
    tier="stretch",
    hints=HINTS["AdamW"],
    spelled=calls.optimizing,
    probe=in_part(
        {_ONCE: optimizers.stepped("path", "cleared", "grads", generator=True), _APART: optimizers.apart},
        otherwise=optimizers.stepped("path"),
    ),
    tells=_OPTIMIZER_TELLS,
)
def adam_w(draw: Draw) -> Iterator[Case]:
    """Write AdamW."""
    lr, decay = round(draw.real(0.05, 0.2), 2), {"weight_decay": round(draw.real(0.3, 0.9), 2)}
    betas = (round(draw.real(0.5, 0.8), 2), round(draw.real(0.6, 0.9), 2))
    yield Case("moves each tensor in place by about lr", *_steps(draw, 1), lr=lr, weight_decay=0.0)
    yield Case("remembers the steps before", *_steps(draw, 4), lr=lr, weight_decay=0.0)
    yield Case("remembers the steps before", *_steps(draw, 4), lr=lr, betas=betas, weight_decay=0.0)
    yield Case("adds eps after the root", *_steps(draw, 2), lr=lr, eps=draw.real(0.2, 0.5), weight_decay=0.0)
    yield Case("decays the weights apart from the gradient", *_steps(draw, 3), lr=lr, **decay)
    yield Case(_NONE, *_steps(draw, 3, missing=True), lr=lr, **decay)
    yield Case(_ONCE, *_steps(draw, 2))
    yield Case(_APART, *_steps(draw, 3), lr=lr)


def _steps(draw: Draw, count: int, missing: bool = False) -> tuple[list[Tensor], list[list[Any]]]:
    """Two tensors, and their gradients for some steps; perhaps some of them missing."""
    n, d = draw.sizes(2, 2, 3)
    shapes = ((n, d), (d,))
    steps: list[list[Any]] = [[doubles(draw, *shape) for shape in shapes] for _ in range(count)]
    if missing:
        steps[0][0] = steps[1][1] = None
    return [doubles(draw, *shape) for shape in shapes], steps


_OPTIMIZER, _SCHEDULER = "goes on with the optimizer's memory", "goes on with the learning rate"
_RANDOM, _BUFFERS = "goes on with the random numbers", "goes on with buffers, in train mode"
_FILE, _KEPT = "survives torch.save and torch.load", "is not changed by later training"
_RESUMED = resume.resumed()


@EXERCISES.add(
    "fit",
    tier="stretch",
    hints=HINTS["fit"],
    spelled=calls.resuming,
    probe=in_part(
        {
            _OPTIMIZER: _RESUMED,
            _SCHEDULER: _RESUMED,
            _RANDOM: _RESUMED,
            _BUFFERS: _RESUMED,
            _FILE: resume.resumed(saved=True),
            _KEPT: resume.resumed(reused=True),
        },
        otherwise=resume.trained,
    ),
    tells={
        "same": "Stopped and gone on with, the training does not end where the uninterrupted one ends, bit for bit.",
        "held": "The model does not end with the right weights and buffers.",
    },
)
def fit(draw: Draw) -> Iterator[Case]:
    """Stop a training, and go on as if nothing had happened."""
    stop = draw.whole(1, 2)
    epochs = stop + 2
    settings = (
        ("trains for some epochs, with one loss for each", ("two layers", "SGD", 0.5, "in order")),
        (_OPTIMIZER, ("two layers", "SGD with momentum", 1.0, "in order")),
        (_OPTIMIZER, ("two layers", "Adam", 1.0, "in order")),
        (_SCHEDULER, ("two layers", "SGD", 0.5, "in order")),
        (_RANDOM, ("dropout", "SGD", 1.0, "shuffled")),
        (_BUFFERS, ("batch norm, in eval mode", "SGD", 1.0, "in order")),
        (_FILE, ("linear", "SGD", 1.0, "in order")),
        (_KEPT, ("linear", "Adam", 0.5, "in order")),
    )
    for requirement, names in settings:
        yield Case(requirement, *names, *resume.batches(draw), stop, epochs)
