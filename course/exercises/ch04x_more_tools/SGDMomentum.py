"""`SGDMomentum`: SGD with momentum and weight decay."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probes.training_steps import make_optimizer_steps_probe, make_two_optimizers_probe
from autograder.exercises.seeded_draw import Draw

from ._optimizing import optimizing, path, steps

in_place = Requirement(
    "moves each tensor in place, against its gradient",
    make_optimizer_steps_probe("path", "in_place"),
    path(
        "In the first step the velocity is the gradient as it is, and p itself, the tensor given, moves by -lr times "
        "it."
    ),
)
remembers = Requirement(
    "remembers the steps before",
    make_optimizer_steps_probe("path"),
    path("From the second step on the velocity is momentum times this tensor's old one, plus the gradient as it is."),
)
decays = Requirement(
    "decays the weights",
    make_optimizer_steps_probe("path"),
    path("What goes into the velocity is g + weight_decay * p, with p as it is before the step."),
)
without = Requirement(
    "leaves tensors without a gradient alone",
    make_optimizer_steps_probe("path"),
    path("In some steps a tensor has no gradient: then it stays where it is, and keeps its velocity."),
    needs=(decays,),
)
generated = Requirement(
    "takes a generator",
    make_optimizer_steps_probe("path", generator=True),
    path("A generator can be gone through once: keep what it gives."),
)
apart = Requirement(
    "keeps two optimizers apart",
    make_two_optimizers_probe(),
    path("Each optimizer remembers its own steps alone, also where another one had the same tensors before."),
)
grads = Requirement(
    "leaves each .grad as it is, until zero_grad",
    make_optimizer_steps_probe("grads", "cleared", "later", "path"),
    path(""),
    given=("path",),
    needs=(decays,),
)


@exercise(
    tier="stretch",
    hints=(
        "One velocity per tensor, made in __init__. What happens to a generator that is gone through twice?",
        "Change the tensors in place under `torch.no_grad()`; .grad itself stays.",
    ),
    spelled=optimizing,
)
def SGDMomentum(draw: Draw) -> Iterator[Case]:
    """Write SGD with momentum."""
    lr, momentum = round(draw.real(0.05, 0.3), 2), round(draw.real(0.5, 0.8), 2)
    yield in_place([torch.tensor([1.0, 2.0, 3.0])], [[torch.tensor([4.0, 2.0, 6.0])]], lr=0.5)
    yield in_place(*steps(draw, 1), lr=lr)
    yield remembers([torch.tensor([1.0])], [[torch.tensor([2.0])], [torch.tensor([2.0])]], lr=0.1)
    yield remembers(*steps(draw, 3), lr=lr)
    yield remembers(*steps(draw, 2), lr=lr, momentum=momentum)
    yield remembers([torch.tensor([1.0])], [[torch.tensor([2.0])], [torch.tensor([0.0])]], lr=lr)
    yield decays(*steps(draw, 2), lr=lr, weight_decay=momentum)
    yield without(*steps(draw, 3, missing=True), lr=lr, weight_decay=0.1)
    yield generated(*steps(draw, 2), lr=lr)
    yield apart(*steps(draw, 2), lr=lr)
    yield grads(*steps(draw, 2), lr=lr, weight_decay=0.5)
