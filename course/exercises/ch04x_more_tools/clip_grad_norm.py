"""`clip_grad_norm`: gradients that are too long together are shortened together."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from autograder.diagnosis.difference_messages import argument_text
from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation, dtype_without_module
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    make_probe_recording_exceptions,
    names_of_changed_values,
    snapshot_value,
)
from autograder.exercises.seeded_draw import Draw


def clipped(*kept: str, generator: bool = False) -> Probe:
    """Gradients after clipping, and what is told of them before their numbers.

    Facets: `returned`, `forms` (shape and dtype), `one_factor` (all were multiplied by one number) and `factor` (by
    which), `grads`, `touched` (one changed, if only in its last bit), `in_place` (the old tensors hold the new numbers
    in their old memory), `params` (those that have other numbers or flags than before).
    """

    def look(answer: Answer, case: Case) -> Observation:
        grads, max_norm = copy_case_data(case.args)
        params = [_with_grad(grad) for grad in grads]
        held = {f"tensor {place}": param for place, param in enumerate(params, 1)}
        was = {name: snapshot_value(param) for name, param in held.items()}
        old, flat = copy_case_data(grads), [None if grad is None else grad.view(-1) for grad in grads]
        result = answer((p for p in params) if generator else params, max_norm)
        new = [p.grad for p in params]
        return {
            "returned": snapshot_value(result),
            "forms": list(map(_form, new)),
            **_factor([(a, b) for a, b in zip(old, new, strict=True) if b is not None and _form(a) == _form(b)]),
            "grads": list(map(snapshot_value, new)),
            "touched": not all(map(_equal, old, new)),
            "in_place": all(a is b for a, b in zip(grads, new, strict=True)) and all(map(_equal, flat, new)),
            "params": names_of_changed_values(was, {name: snapshot_value(param) for name, param in held.items()}),
        }

    return make_probe_recording_exceptions(look, *kept)


def _form(grad: Tensor | None) -> str:
    return "None" if grad is None else f"{dtype_without_module(grad.dtype)} of shape {tuple(grad.shape)}"


def _equal(one: Tensor | None, other: Tensor | None) -> bool:
    """Whether two gradients, one of which may be flat, hold the same numbers to the last bit."""
    if one is None or other is None:
        return one is other
    return torch.equal(one.flatten(), other.flatten())


def _factor(pairs: list[tuple[Tensor, Tensor]]) -> Observation:
    """By which number gradients were multiplied, if by one; zeros tell nothing."""
    ratios = torch.cat([torch.zeros(0).double(), *((new / old)[old != 0].double().flatten() for old, new in pairs)])
    if not len(ratios):
        return {"one_factor": True, "factor": 1.0}
    one = bool(ratios.max() - ratios.min() < 1e-4 * ratios.abs().max() + 1e-12)
    return {"one_factor": one, "factor": float(f"{ratios.mean().item():.4g}") if one else "no single number"}


def _with_grad(grad: Tensor | None) -> Tensor:
    param = Tensor([1.0, 2.0]) if grad is None else grad.detach().clone() + 1.0
    param.requires_grad_()
    param.grad = grad
    return param


FORMS = {"forms": "A gradient has another shape or dtype after your call than before, or is gone."}

together = Requirement(
    "shortens all gradients together",
    clipped("forms", "one_factor", "factor", "grads"),
    tells=FORMS
    | {
        "one_factor": "You do not multiply all gradients by one number: some become shorter than others, so that all "
        "together point elsewhere.",
        "factor": "You multiply all gradients by this number. It should be max_norm / norm, with the norm of all of "
        "them laid end to end, which is above max_norm here.",
        "grads": "The norm of all gradients laid end to end is above max_norm here, and yours are not what they were "
        "times max_norm / norm.",
    },
)
_SHORT = "The norm of all gradients together is not above max_norm here: none of them is to change."
short = Requirement(
    "leaves short gradients as they are",
    clipped("forms", "one_factor", "factor", "grads", "touched"),
    tells=FORMS
    | dict.fromkeys(("one_factor", "grads", "touched"), _SHORT)
    | {"factor": f"{_SHORT} You multiply them by this number."},
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
    clipped("in_place", "params", "grads"),
    tells={
        "in_place": "A .grad is another tensor than before, or lies in other memory: whoever holds the old one sees "
        "the long gradient.",
        "params": "You change these tensors themselves. Only their gradients become shorter.",
    },
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
    return f"{name}(<tensors with .grad {argument_text(grads)}>, {argument_text(most)})"


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

    limit = round(draw.real(0.5, 1.5), 2)
    yield together([torch.tensor([3.0]), torch.tensor([4.0])], 1.0)
    yield together(grads(), limit)
    yield together([doubles(n, d), torch.zeros(3), 9 + doubles(1)], limit)
    yield short([torch.tensor([3.0]), torch.tensor([4.0])], 30.0)
    yield short([0.01 * grad for grad in grads()], limit)
    yield short(
        _as_long_as(0.8 * (most := round(draw.real(2.0, 3.0), 2)), grads()), most
    )  # and its square is above the limit
    yield short([torch.zeros(2), torch.zeros(1)], limit)
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
