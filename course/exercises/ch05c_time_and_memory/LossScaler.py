"""`LossScaler`: a loss scaler of one's own, in rounds with given gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from autograder.diagnosis.difference_messages import argument_text, call_from_parts
from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import (
    Answer,
    combine_probes_in_order,
    copy_case_data,
    make_probe_recording_exceptions,
    snapshot_value,
    snapshot_without_requires_grad,
)
from autograder.exercises.seeded_draw import Draw

from .._ch05_models import eighths


def rounds(*kept: str, how: str = "step") -> Probe:
    """Rounds of a LossScaler with an optimizer and given gradients.

    how: "step" (and nothing before it), "unscale_" (and then step), "unscale_ beside another"
    (a round of another scaler before step), "unscale_ and look" (no step, no update).
    Facets: `scaled` (the loss of 0.75, before each round, and the gradient that comes through), `grads` (after
    unscale_, or after the round), `same` (each .grad is the tensor that it was, in its memory), `held`, `factors` and
    `clean_steps` (after each round), `early` (whether one of the two changed before `update`, in each round).
    """

    def look(answer: Answer, case: Case) -> Observation:
        given = copy_case_data(case.args[0])
        scaler, other = answer(**case.kwargs), answer(**case.kwargs)
        params = [torch.ones_like(_last(given, i)).requires_grad_() for i in (0, 1)]
        groups = [{"params": params[:1]}, {"params": params[1:]}]
        optimizer = torch.optim.SGD(groups, lr=0.5, momentum=0.5)
        facets = ("scaled", "grads", "same", "held", "factors", "clean_steps", "early")
        seen: Observation = {facet: [] for facet in facets}
        for grads in given:
            places = [_place(grad) for grad in grads]
            seen["scaled"].append(_scaled(scaler))
            seen["early"].append(_round(scaler, optimizer, params, grads, how, other))
            seen["grads"].append([snapshot_value(param.grad) for param in params])
            seen["same"].append(places == [_place(param.grad) for param in params])
            seen["held"].append([snapshot_without_requires_grad(param) for param in params])
            seen["factors"].append(_plain(scaler.factor))
            seen["clean_steps"].append(_plain(scaler.clean_steps))
        return seen

    return make_probe_recording_exceptions(look, *kept)


def _place(grad: Tensor | None) -> tuple[int, int]:
    """Which object a gradient is, and where its memory begins."""
    return id(grad), 0 if grad is None else grad.data_ptr()


def scales(answer: Answer, case: Case) -> Observation:
    """What `scale` gives: of a loss, as the docstring shows it, or in rounds."""
    if not isinstance(case.args[0], Tensor):
        return rounds("scaled")(answer, case)
    (loss,) = copy_case_data(case.args)
    return {"scaled": snapshot_value(answer(**case.kwargs).scale(loss))}


def _last(given: list[list[Tensor | None]], index: int) -> Tensor:
    """A gradient of this parameter; of the first one there may be none."""
    return next((grad for grads in given if (grad := grads[index]) is not None), torch.ones(3))


def _scaled(scaler: Any) -> Plain:
    loss = torch.tensor(0.75, requires_grad=True)
    scaled = scaler.scale(loss)
    if isinstance(scaled, Tensor) and scaled.requires_grad:
        scaled.backward()
    return {"loss": snapshot_value(scaled), "gradient": snapshot_value(loss.grad)}


def _a_round_of(scaler: Any) -> None:
    """One round of a scaler with a parameter and an optimizer of its own."""
    param = torch.ones(1).requires_grad_()
    param.grad = torch.ones(1)
    optimizer = torch.optim.SGD([param], lr=0.5)
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()


def _round(
    scaler: Any, optimizer: Any, params: list[Tensor], grads: list[Tensor | None], how: str, other: Any = None
) -> bool:
    """One round; returns whether the factor, or the count of clean steps, was another number before update."""
    before = _plain(scaler.factor), _plain(scaler.clean_steps)
    for param, grad in zip(params, grads, strict=True):
        param.grad = grad
    if how != "step":
        scaler.unscale_(optimizer)
    if how == "unscale_ and look":
        return False
    if how == "unscale_ beside another":
        _a_round_of(other)
    scaler.step(optimizer)
    early = before != (_plain(scaler.factor), _plain(scaler.clean_steps))
    scaler.update()
    return early


def _plain(value: Any) -> Plain:
    """A number, also where it is held as a tensor or as a whole number."""
    seen = snapshot_value(value.item() if isinstance(value, Tensor) and value.numel() == 1 else value)
    return float(seen) if type(seen) is int else seen


def _spelled(name: str, case: Case) -> str:
    """A scaler, and what the gradients of each round are."""
    (given,) = case.args
    if isinstance(given, Tensor):
        return f"{call_from_parts(name, **case.kwargs)}.scale({argument_text(given)})"
    return f"{call_from_parts(name, **case.kwargs)}, then rounds with gradients: {', '.join(map(_finite, given))}"


def _finite(grads: list[Tensor | None]) -> str:
    there = [grad for grad in grads if grad is not None]
    words = "finite" if all(bool(torch.isfinite(grad).all()) for grad in there) else "not finite"
    return words if len(there) == len(grads) else f"{words} (one is None)"


GRADS = {
    "grads": "Each .grad is to be divided once in a round, by the factor that the docstring gives the scaler then."
}
HELD = {
    "held": "After these rounds, the parameters are not those of a step along the divided gradients in each round in "
    "which all of them are finite, and of none in the others.",
}
_COUNT = "clean_steps counts the rounds with finite gradients since the factor last changed"
FACTORS = {
    "factors": "Not finite: factor times backoff. As many finite ones in a row as growth_interval says: factor times "
    "growth. Otherwise it stays.",
    "clean_steps": f"{_COUNT}: it is 0 again after each change.",
    "early": "factor or clean_steps changes before `update` is called. `update` ends a round: it is what changes them.",
}
STATIC = {
    "factors": "With growth_interval=None the factor stays what it was given, whatever the gradients are.",
    "clean_steps": "With growth_interval=None clean_steps stays 0.",
}
multiplies = Requirement(
    "multiplies the loss by factor",
    make_probe_recording_exceptions(scales),
    {"scaled": "`scale(loss)` is not the loss times factor, or its gradient does not arrive at the loss."},
)
divides = Requirement(
    "divides the gradients in place",
    rounds("grads", "same", how="unscale_ and look"),
    GRADS
    | {"same": "You put another tensor into .grad, or other memory behind it. Divide the one that is there, in place."},
)
steps = Requirement("steps only where all gradients are finite", rounds("held"), HELD)
once = Requirement(
    "divides once in each round",
    combine_probes_in_order(
        rounds("grads", "held", how="unscale_"), rounds("grads", "held", how="unscale_ beside another")
    ),
    GRADS | HELD,
)
static = Requirement(
    "static: leaves its factor alone", rounds("factors", "clean_steps", "held"), HELD | STATIC, given=("held",)
)
backs_off = Requirement("dynamic: backs off after an overflow", rounds("factors", "clean_steps", "early"), FACTORS)
grows = Requirement("dynamic: grows after enough clean steps", rounds("factors", "clean_steps", "early"), FACTORS)


@exercise(
    tier="stretch",
    hints=(
        "What must be known at step that was found in unscale_? And what must be forgotten at update?",
        "Look at all gradients before you change any. An inf or a nan anywhere means: no step.",
        "In update: static? Then nothing changes. Not finite: back off, begin again at 0. Finite: count, perhaps grow.",
    ),
    spelled=_spelled,
)
def LossScaler(draw: Draw) -> Iterator[Case]:
    """Build a loss scaler."""
    factor = 2.0 ** draw.whole(3, 14)
    yield multiplies(torch.tensor(0.5), factor=4.0)
    yield multiplies(_gradients(draw, ".", factor), factor=factor)
    for pattern in (".", "0", "n"):
        yield divides(_gradients(draw, pattern, factor), factor=factor)
    for pattern in (".i.", "..n", "-", "n", "i", "N.", ".0.", ".h.", ".s."):
        yield steps(_gradients(draw, pattern, factor), factor=factor)
    yield once(_gradients(draw, "..i.", factor), factor=factor)
    yield static(_gradients(draw, "..i.n...", factor), factor=factor)
    rates = {"growth": draw.choice([2.0, 4.0]), "backoff": draw.choice([0.25, 0.125])}
    for pattern in ("i", "n.", "-", ".i.", "ii.."):
        gradients = _gradients(draw, pattern, factor)
        yield backs_off(gradients, factor=factor, growth_interval=draw.whole(4, 6), **rates)
    # At the ends of what a scaler might be kept within.
    yield backs_off(_gradients(draw, "i", 1.0), factor=1.0, growth_interval=4, **rates)
    yield grows(_gradients(draw, "..", 65536.0), factor=65536.0, growth_interval=1, **rates)
    for interval, pattern in ((1, "..."), (2, "....."), (3, "..i......"), (3, "...i..n....")):
        yield grows(_gradients(draw, pattern, factor), factor=factor, growth_interval=interval, **rates)


def _gradients(draw: Draw, pattern: str, factor: float) -> list[list[Tensor | None]]:
    """Gradients of two parameters, round by round, `factor` times the true ones.

    "." finite; "0" none for the first parameter; "i" an inf in the second, "N" a nan; "n" a nan in the first, "-" a
    -inf there, "h" a number that is finite and whose square is not, "s" such that their sum is not.
    """
    size = draw.whole(2, 4)
    drawn: list[list[Tensor | None]] = []
    for sign in pattern:
        first, second = factor * eighths(draw, size), factor * eighths(draw, 2, 2)
        first[-1] = {"n": torch.nan, "-": -torch.inf, "h": 2.0**90}.get(sign, first[-1])
        second[0, 1] = {"i": torch.inf, "N": torch.nan}.get(sign, second[0, 1])
        if sign == "s":
            first[:] = 2.0**127
        drawn.append([None if sign == "0" else first, second])
    return drawn
