"""`AdamW`: Adam, with a weight decay apart from the gradient."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, Requirement, exercise
from autograder.watching.probes.training import stepped, two_optimizers

from ._optimizing import TELLS, optimizing, steps

in_place = Requirement("moves each tensor in place by about lr", stepped("path"), TELLS)
remembers = Requirement("remembers the steps before", stepped("path"), TELLS)
eps_after = Requirement("adds eps after the root", stepped("path"), TELLS)
decays = Requirement("decays the weights apart from the gradient", stepped("path"), TELLS)
without = Requirement("leaves tensors without a gradient alone", stepped("path"), TELLS, needs=(decays,))
apart = Requirement("takes a generator, and keeps two optimizers apart", two_optimizers(generator=True), TELLS)
grads = Requirement(
    "leaves each .grad as it is, until zero_grad", stepped("grads", "cleared", "path"), TELLS, given=("path",)
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
    yield eps_after(*steps(draw, 2), lr=lr, eps=draw.real(0.2, 0.5), weight_decay=0.0)
    yield decays(*steps(draw, 3), lr=lr, **decay)
    yield without(*steps(draw, 3, missing=True), lr=lr, **decay)
    yield apart(*steps(draw, 3), lr=lr, weight_decay=0.0)
    yield grads(*steps(draw, 2))
