"""`clip_grad_norm`: gradients that are too long together are shortened together."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from autograder.judging.words import argument
from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, Probe, Requirement, exercise
from autograder.watching.observation import Observation
from autograder.watching.probe import Answer, copy_of, see, watched


def clipped(*kept: str, generator: bool = False) -> Probe:
    """Gradients after clipping: `returned`, `grads`, `in_place` (the old tensors hold the new numbers)."""

    def look(answer: Answer, case: Case) -> Observation:
        grads, max_norm = copy_of(case.args)
        params = [_with_grad(grad) for grad in grads]
        result = answer((p for p in params) if generator else params, max_norm)
        seen: Observation = {"returned": see(result), "grads": [see(p.grad) for p in params]}
        return seen | {"in_place": all(p.grad is grad for p, grad in zip(params, grads, strict=True))}

    return watched(look, *kept)


def _with_grad(grad: Tensor | None) -> Tensor:
    param = Tensor([1.0, 2.0]) if grad is None else grad.detach().clone() + 1.0
    param.requires_grad_()
    param.grad = grad
    return param


together = Requirement(
    "shortens all gradients together",
    clipped("grads"),
    tells={
        "grads": "The norm of all gradients laid end to end is above max_norm here, and yours are not what they were "
        "times max_norm / norm, one number for all."
    },
)
short = Requirement(
    "leaves short gradients as they are",
    clipped("grads"),
    tells={"grads": "The norm of all gradients together is below max_norm here: none of them is to change."},
)
returns = Requirement(
    "returns the norm before, as a float",
    clipped("returned"),
    tells={
        "returned": "You do not return the root of the sum of all squared entries, of all gradients together, as they "
        "were before."
    },
)
in_place = Requirement(
    "works in place",
    clipped("in_place", "grads"),
    tells={"in_place": "A .grad is another tensor than before: whoever holds the old one sees the long gradient."},
    given=("grads",),
)
without = Requirement(
    "leaves out what has no gradient",
    clipped("returned", "grads"),
    tells={
        "returned": "Tensors whose .grad is None add nothing to the norm, and without any gradient it is 0.0.",
        "grads": "Where some tensors have no gradient, those of the others are not shortened as they should be.",
    },
    needs=(returns,),
)
generated = Requirement(
    "takes a generator",
    clipped("returned", "grads", generator=True),
    tells={
        "returned": "For a generator the norm is another one than for a list: it can be gone through once.",
        "grads": "For a generator the gradients are not what they are for a list: it can be gone through once.",
    },
    needs=(returns,),
)


def clipping(name: str, case: Case) -> str:
    """The call, with the gradients as the list that is clipped."""
    grads, most = case.args
    return f"{name}(<tensors with .grad {argument(grads)}>, {argument(most)})"


@exercise(
    tier="core",
    hints=(
        "Collect the gradients in a list first: you need them twice, and a generator can be gone through once.",
        "One norm for all of them: add up all squares, then take one root.",
        "`mul_` changes a gradient in place.",
    ),
    spelled=clipping,
)
def clip_grad_norm(draw: Draw) -> Iterator[Case]:
    """Shorten gradients that are too long."""
    n, d = draw.sizes(2, 2, 5)
    doubles = partial(draw.normal, dtype=torch.float64)

    def grads() -> list[Tensor]:
        return [3 * doubles(n, d), 2 + doubles(d)]

    limit = draw.real(0.5, 1.5)
    yield together([torch.tensor([3.0]), torch.tensor([4.0])], 1.0)
    yield together(grads(), limit)
    yield together([doubles(n, d), torch.zeros(3), 9 + doubles(1)], limit)
    yield short([0.01 * grad for grad in grads()], limit)
    yield short(_as_long_as(0.8 * (most := draw.real(2.0, 3.0)), grads()), most)  # and its square is above the limit
    yield returns([torch.tensor([3.0]), torch.tensor([4.0])], 1.0)
    yield returns(grads(), limit)
    yield returns([0.01 * grad for grad in grads()], limit)
    yield in_place(grads(), limit)
    first, second = grads()
    yield without([None, first, None, second], limit)
    yield without([None, None], limit)
    yield generated(grads(), limit)


def _as_long_as(norm: float, grads: list[Tensor]) -> list[Tensor]:
    """The gradients, made so long that they have this norm together."""
    together = torch.cat([grad.flatten() for grad in grads]).norm()
    return [grad * (norm / together) for grad in grads]
