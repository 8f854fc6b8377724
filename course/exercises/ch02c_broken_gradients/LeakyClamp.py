"""`LeakyClamp`: write a Function with a forward and a backward of your own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from autograder.diagnosis.difference_messages import argument_text, call_from_parts
from autograder.diagnosis.number_format import number_text
from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    make_probe_recording_exceptions,
    snapshot_value,
    snapshot_without_requires_grad,
)
from autograder.exercises.seeded_draw import Draw

# --- what is watched


@make_probe_recording_exceptions
def result(answer: Answer, case: Case) -> Observation:
    """What one call of LeakyClamp.apply returns, and where it has the form of x, that by places."""
    y, like = _apply(answer, *copy_case_data(case.args)), case.args[0]
    fits = isinstance(y, Tensor) and (y.shape, y.dtype) == (like.shape, like.dtype)
    by_place = {place: snapshot_without_requires_grad(y[mask] if fits else like[mask]) for place, mask in _places(case)}
    return by_place | {"returned": snapshot_without_requires_grad(y)}


@make_probe_recording_exceptions
def gradient_of_x(answer: Answer, case: Case) -> Observation:
    """The gradient of x after a backward of a weighted sum: below the limits, inside, above, and all of it."""
    grad, like = _arrives(answer, case, 0, torch.ones_like(case.args[0])), case.args[0]
    fits = isinstance(grad, Tensor) and grad.shape == like.shape
    return {f"by_x_{place}": snapshot_value(grad[mask] if fits else None) for place, mask in _places(case)} | {
        "by_x": snapshot_value(grad)
    }


@make_probe_recording_exceptions
def gradient_of_slope(answer: Answer, case: Case) -> Observation:
    """The gradient of slope where only entries below the limits get something, inside, above, and where all do."""
    grads = {f"by_slope_{place}": _arrives(answer, case, 3, mask) for place, mask in _places(case)}
    return {facet: snapshot_value(grad) for facet, grad in grads.items()} | {
        "by_slope": snapshot_value(_arrives(answer, case, 3, torch.ones_like(case.args[0])))
    }


def _places(case: Case) -> list[tuple[str, Tensor]]:
    x, low, high, _ = case.args
    return [("below", x < low), ("inside", (x >= low) & (x <= high)), ("above", x > high)]


def _arrives(answer: Answer, case: Case, place: int, mask: Tensor) -> Any:
    """The gradient of the argument at a place, where only the entries of the mask have a weight other than 0."""
    args = copy_case_data(case.args)
    args[place].requires_grad_()
    y = _apply(answer, *args)
    if y.requires_grad:
        (_weights(y) * mask * y).sum().backward()
    return args[place].grad


def _apply(answer: Answer, *args: Any) -> Any:
    return answer.apply(*args)  # type: ignore[attr-defined]


def _weights(y: Tensor) -> Tensor:
    """A gradient that arrives from outside with another number, and another sign, for each entry."""
    return torch.linspace(-2.0, 3.0, y.numel(), dtype=y.dtype).reshape(y.shape)


@make_probe_recording_exceptions
def two_calls(answer: Answer, case: Case) -> Observation:
    """Two calls before the first backward; each has its own inputs."""
    x, low, high, slope = copy_case_data(case.args)
    one, other = x.clone().requires_grad_(), (2 * x).requires_grad_()
    slope.requires_grad_()
    first = _apply(answer, one, low, high, slope)
    second = _apply(answer, other, low - 1.0, high + 1.0, slope * 0.5)
    (_weights(first) * first).sum().backward()
    (_weights(second) * second).sum().backward()
    return {"by_x": [snapshot_value(one.grad), snapshot_value(other.grad)], "by_slope": snapshot_value(slope.grad)}


@make_probe_recording_exceptions
def needs(answer: Answer, case: Case) -> Observation:
    """What backward itself returns where only x, and where only slope, requires grad; and whether grad_out stays.

    Beside it, what it returns for x where both do.
    """
    by_both, kept = _backward(answer, case, 0, 3)
    return {
        "for_x_alone": _kinds(_backward(answer, case, 0)[0]),
        "for_slope_alone": _kinds(_backward(answer, case, 3)[0]),
        "grad_out_kept": kept,
        "by_x": snapshot_value(by_both[0]),
    }


def _kinds(grads: tuple[Any, ...]) -> list[str]:
    return ["None" if grad is None else "a tensor" for grad in grads]


def _backward(answer: Answer, case: Case, *tracked: int) -> tuple[tuple[Any, ...], bool]:
    """What backward returns where these arguments require grad, and whether it leaves what it is given as it was."""
    args = copy_case_data(case.args)
    for place in tracked:
        args[place].requires_grad_()
    y = _apply(answer, *args)
    given = _weights(y)
    with torch.no_grad():
        grads = answer.backward(y.grad_fn, given)  # type: ignore[attr-defined]
    grads = grads if isinstance(grads, tuple) else (grads,)
    return grads, torch.equal(given, _weights(y))


@make_probe_recording_exceptions
def gradcheck(answer: Answer, case: Case) -> Observation:
    """Whether gradcheck finds the gradients of x and slope to be those of the values; and the values."""
    x, low, high, slope = copy_case_data(case.args)
    inputs = (x.requires_grad_(), slope.requires_grad_())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        passes = torch.autograd.gradcheck(
            lambda x, slope: _apply(answer, x, low, high, slope), inputs, raise_exception=False
        )
    return {
        "gradcheck": bool(passes),
        "returned": snapshot_without_requires_grad(_apply(answer, *copy_case_data(case.args))),
    }


# --- what is required

_INSIDE = "Inside the limits the result is x itself, whatever slope is"
values_right = Requirement(
    "limits x, and lets slope times the excess through",
    result,
    tells={
        "below": "Where x lies below `low`, your result is not `low` plus `slope` times x - low, which is below 0.",
        "inside": f"{_INSIDE}. Yours is another.",
        "above": "Where x lies above `high`, your result is not `high` plus `slope` times x - high.",
    },
)
by_x = Requirement(
    "passes the right gradient on to x",
    gradient_of_x,
    tells={
        "by_x_below": "Where x lies below `low`, the gradient of x is not what arrives times the slope of your "
        "values there.",
        "by_x_inside": f"{_INSIDE}. Your gradient of x says something else there.",
        "by_x_above": "Where x lies above `high`, the gradient of x is not what arrives times the slope of your "
        "values there.",
        "by_x": "After backward, the gradient of x is not what follows from the values.",
    },
)
by_slope = Requirement(
    "gives slope its gradient",
    gradient_of_slope,
    tells={
        "by_slope_below": "Entries below `low` do not bring slope what they should: each what arrives there, times "
        "what sticks out, with its sign.",
        "by_slope_inside": f"{_INSIDE}. Your gradient of slope says something else.",
        "by_slope_above": "Entries above `high` do not bring slope what they should: each what arrives there, times "
        "what sticks out.",
        "by_slope": "After backward, the gradient of slope is not what follows from the values.",
    },
)
apart = Requirement(
    "keeps several calls apart",
    two_calls,
    tells={
        "by_x": "After two calls and two backwards, the gradients of the two x are not those of each alone.",
        "by_slope": "After two calls and two backwards, the gradient of slope is not the sum of both.",
    },
    needs=(by_x, by_slope),
)
none_unneeded = Requirement(
    "returns None for each input that needs no gradient",
    needs,
    tells={
        "for_x_alone": "Where only x requires grad, backward should return a tensor for x and None three times.",
        "for_slope_alone": "Where only slope requires grad, backward should return a tensor for slope, else None.",
        "grad_out_kept": "Your backward changes grad_out in place; it belongs to whoever called.",
    },
    given=("by_x",),
    needs=(by_slope,),
)
checked = Requirement(
    "passes gradcheck",
    gradcheck,
    tells={"gradcheck": "gradcheck compares your gradients with differences of your values: they do not agree."},
    given=("returned",),
    needs=(by_x, by_slope),
)


def spelled(name: str, case: Case) -> str:
    """A Function is used by its apply."""
    return call_from_parts(
        f"{name}.apply", *(number_text(arg) if isinstance(arg, float) else argument_text(arg) for arg in case.args)
    )


@exercise(
    tier="stretch",
    spelled=spelled,
    hints=(
        "Let `inside` be the clamped x; the result is inside + slope * (x - inside). What saves you three cases?",
        "By x: grad_out inside, slope * grad_out outside. By slope: the sum of grad_out times what sticks out.",
        "backward returns one entry for each input of forward; `ctx.needs_input_grad` says which are wanted.",
    ),
)
def LeakyClamp(draw: Draw) -> Iterator[Case]:
    """Write a Function with a forward and a backward of your own."""
    yield values_right(torch.tensor([0.5, 3.0]), 0.0, 1.0, torch.tensor(0.1))
    x, low, high, slope = clamped(draw)
    yield values_right(x.float(), low, high, slope.float())
    yield by_slope(draw.uniform(2, 3, low=0.1, high=0.9).double(), 0.0, 1.0, torch.tensor(0.3, dtype=torch.float64))
    for requirement in (values_right, by_x, by_x, by_slope, by_slope, apart, none_unneeded, checked):
        yield requirement(*clamped(draw))


def clamped(draw: Draw) -> tuple[Any, ...]:
    """Numbers below, inside and above, none of them near a corner; low is above 0, or high below it, by turns."""
    low = draw.choice([-1.0, 1.0]) * draw.real(1.0, 2.0)
    high = low + draw.real(1.0, 2.0)
    shares = draw.uniform(3, 2, low=0.1, high=0.9).double()
    shares[0] -= 1.0
    shares[2] += 1.0
    x = low + (high - low) * shares
    slope = torch.tensor(draw.real(0.1, 0.7), dtype=torch.float64)
    return x.T if draw.whole(0, 1) else x, low, high, slope
