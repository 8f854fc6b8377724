"""`AdamW`: Adam, with a weight decay apart from the gradient."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probes.training_steps import make_optimizer_steps_probe, make_two_optimizers_probe
from autograder.exercises.seeded_draw import Draw

from ._optimizing import optimizing, path, steps

in_place = Requirement(
    "moves each tensor in place by about lr",
    make_optimizer_steps_probe("path", "in_place"),
    path(
        "In the first step m and s, both divided by 1 - beta ** 1, are g and g ** 2: p itself moves by lr, against g."
    ),
)
remembers = Requirement(
    "remembers the steps before",
    make_optimizer_steps_probe("path"),
    path("Look at m, s and t of each tensor from the second step on: each beta in its place, and the power t of both."),
)
eps_after = Requirement(
    "adds eps after the root",
    make_optimizer_steps_probe("path"),
    path("With a large eps it shows where it is added: to the root of the corrected s, in the divisor."),
)
decays = Requirement(
    "decays the weights apart from the gradient",
    make_optimizer_steps_probe("path"),
    path("The decay multiplies p by 1 - lr * weight_decay, and touches neither g nor m nor s."),
)
without = Requirement(
    "leaves tensors without a gradient alone",
    make_optimizer_steps_probe("path"),
    path("In some steps a tensor has no gradient: then it stays, without decay, and so do its m, s and t."),
    needs=(decays,),
)
apart = Requirement(
    "takes a generator, and keeps two optimizers apart",
    make_two_optimizers_probe(generator=True),
    path(
        "A generator can be gone through once; and each optimizer has its own m, s and t, also for tensors that "
        "another one had before."
    ),
)
grads = Requirement(
    "leaves each .grad as it is, until zero_grad",
    make_optimizer_steps_probe("grads", "cleared", "later", "path"),
    path(""),
    given=("path",),
)


@exercise(
    tier="stretch",
    hints=(
        "For each tensor: t, m and s of its own. Follow the four lines of the docstring.",
        "The decay multiplies p; it does not go into the gradient. eps is added after the root.",
        "A tensor without a gradient is left out altogether: its t does not count up.",
    ),
    spelled=optimizing,
)
def AdamW(draw: Draw) -> Iterator[Case]:
    """Write AdamW."""
    lr, decay = round(draw.real(0.05, 0.2), 2), {"weight_decay": round(draw.real(0.3, 0.9), 2)}
    betas = (round(draw.real(0.5, 0.8), 2), round(draw.real(0.6, 0.9), 2))
    yield in_place([torch.tensor([1.0])], [[torch.tensor([2.0])]], lr=0.1, weight_decay=0.0)
    yield in_place(*steps(draw, 1), lr=lr, weight_decay=0.0)
    yield remembers(*steps(draw, 4), lr=lr, weight_decay=0.0)
    yield remembers(*steps(draw, 4), lr=lr, betas=betas, weight_decay=0.0)
    yield remembers([torch.tensor([1.0])], [[torch.tensor([2.0])], [torch.tensor([0.0])]], lr=lr, weight_decay=0.0)
    yield eps_after(*steps(draw, 2), lr=lr, eps=draw.real(0.2, 0.5), weight_decay=0.0)
    yield decays(*steps(draw, 3), lr=lr, **decay)
    yield without(*steps(draw, 3, missing=True), lr=lr, **decay)
    yield apart(*steps(draw, 3), lr=lr, weight_decay=0.0)
    yield grads(*steps(draw, 2))
