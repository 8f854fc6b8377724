"""`mean_square_grad`: let autograd find a gradient."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.diagnosis.difference_messages import case_call_text
from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probes.gradients import make_tensor_arguments_probe
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_FROM_X_MESSAGES, with_detached_loss_facet
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import Rule, names_used

from .._ch02_traces import again, left, untracked, with_state_of_tensors

_AUTOGRAD = {"backward", "grad", "vjp", "jacobian", "jacrev", "jacfwd", "grad_and_value", "jvp"}
by_autograd = Rule(
    "by_autograd",
    "lets autograd find the gradient",
    "You never ask autograd: let `backward` or `torch.autograd.grad` find the derivative.",
    lambda tree: not names_used(tree) & _AUTOGRAD,
)

_SHAPE = {"returned:shape": "A gradient has the shape of `x`: for each entry, how much the mean grows with it."}
gradient = Requirement(
    "gives the gradient of the mean of the squares",
    with_detached_loss_facet(make_tensor_arguments_probe("returned"), chosen=True),
    DETACHED_FROM_X_MESSAGES
    | _SHAPE
    | {
        "returned:values": "This is not the gradient of the mean of the squares: add a little to one entry, and see "
        "how it grows."
    },
)
any_shape = Requirement(
    "works for any shape and dtype",
    make_tensor_arguments_probe("returned"),
    _SHAPE | {"returned:values": "For an `x` of this shape or dtype, what you return is not the gradient any more."},
)


@exercise(
    tier="warm-up",
    rules=(by_autograd,),
    spelled=with_state_of_tensors(case_call_text),
    hints=(
        "Work on a leaf of your own: then nothing can be left behind on `x`.",
        "`x.detach().clone().requires_grad_()` is such a leaf. Its .grad is new and belongs to you.",
    ),
)
def mean_square_grad(draw: Draw) -> Iterator[Case]:
    """Let autograd find a gradient."""
    n, d, k = draw.sizes(3, 3, 6)
    yield gradient(6 * draw.counting(4, 3))  # its gradient counts 0, 1, 2, ...
    yield gradient(draw.normal(4, 3))
    yield gradient(torch.tensor([3.0, 6.0, 9.0]))
    yield any_shape(draw.normal(n + 2))
    yield any_shape(draw.normal(n, d, k, dtype=torch.float64))
    yield untracked(draw.normal(4, 3))
    yield left(draw.normal(4, 3))
    yield left(draw.normal(n + 2))  # `flatten`, `ravel` and the like give a vector itself back
    yield again(draw.normal(4, 3))
    yield any_shape(draw.normal(1)[0])
    yield any_shape(draw.normal(n, d).T)
    yield any_shape(draw.ints(-9, 9, 4).to(torch.bfloat16))  # of four, all numbers on the way are exact
