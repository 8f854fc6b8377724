"""`grad_of`: get a gradient without leaving a trace."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from autograder.diagnosis.difference_messages import argument_text, call_from_parts
from autograder.exercises.compare_observations import Tolerance, first_difference
from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    make_probe_recording_exceptions,
    names_of_changed_values,
    snapshot_without_requires_grad,
)
from autograder.exercises.probes.gradients import fill_old_grads, tensor_state
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_FROM_X_MESSAGES, with_detached_loss_facet
from autograder.exercises.seeded_draw import Draw

from .._ch02_functions import FUNCTIONS, is_at, of_function, on_function
from .._ch02_traces import again, left, untracked, with_state_of_tensors


@make_probe_recording_exceptions
def at_x_alone(answer: Answer, case: Case) -> Observation:
    """The gradient, and where it is not the right one, whether the function was called elsewhere than at x."""
    name, x = copy_case_data(case.args)
    places: list[bool] = []

    def f(at: Tensor) -> Tensor:
        places.append(is_at(at, x))
        return FUNCTIONS[name](at)

    seen = snapshot_without_requires_grad(answer(f, x))
    right = snapshot_without_requires_grad(torch.func.grad(lambda at: FUNCTIONS[name](at).sum())(x))
    return {"at_x": all(places) or first_difference(right, seen, Tolerance()) is None, "returned": seen}


@make_probe_recording_exceptions
def beside_a_weight(answer: Answer, case: Case) -> Observation:
    """Whether the .grad of another tensor that requires grad, which the function uses, stays as it was."""
    (x,) = copy_case_data(case.args)
    weight = torch.arange(1, x.numel() + 1, dtype=x.dtype).reshape(x.shape)
    fill_old_grads(weight)
    before = tensor_state(weight)
    result = answer(lambda x: (weight * x**2).sum(), x)
    return {
        "returned": snapshot_without_requires_grad(result),
        "elsewhere": names_of_changed_values(before, tensor_state(weight)),
    }


def spelled(name: str, case: Case) -> str:
    """A case without a function has one that uses a weight which requires grad."""
    if isinstance(case.args[0], Tensor):
        return call_from_parts(name, "lambda x: (weight * x**2).sum()", *map(argument_text, case.args))
    return of_function(name, case)


one_number = Requirement(
    "gives the gradient of a function with one number",
    with_detached_loss_facet(at_x_alone, chosen=True),
    tells=DETACHED_FROM_X_MESSAGES
    | {
        "at_x": "`f` was called elsewhere than at `x`: beside it, as differences do, at something computed from `x`, "
        "or at `x` with fewer digits. Let autograd differentiate at `x` itself.",
        "returned:values": "This is not the gradient of `f` at `x`.",
        "returned:shape": "A gradient has the shape of `x`: for each entry, how much `f` grows with it.",
    },
)
several = Requirement(
    "differentiates the sum where f gives several numbers",
    on_function("returned"),
    tells={
        "returned:shape": "Here `f` gives several numbers, and what you return has not the shape of `x`. A gradient "
        "of each of them makes a table, a Jacobian; the gradient of their sum is shaped like `x`.",
        "returned:values": "Here `f` gives several numbers, and this is not the gradient of their sum.",
    },
)
elsewhere = Requirement(
    "changes no .grad anywhere else",
    beside_a_weight,
    tells={"elsewhere": "The .grad of another tensor, which `f` uses, has changed."},
    given=("returned",),
)


@exercise(
    tier="core",
    spelled=with_state_of_tensors(spelled),
    hints=(
        "Two things can be left behind: on `x`, and on other tensors that `f` uses. Which call writes no .grad?",
        "`torch.autograd.grad` returns gradients instead of storing them; give it a leaf of your own.",
        "It wants one number to start from. The sum of one number is that number, so sum in any case.",
    ),
)
def grad_of(draw: Draw) -> Iterator[Case]:
    """Get a gradient without leaving a trace."""
    n, d = draw.sizes(2, 3, 6)
    yield one_number("sum_of_squares", draw.counting(2, 3))
    yield one_number("sum_of_sines", draw.normal(n))
    yield one_number("sum_of_squares", draw.normal())
    yield one_number("mixed", draw.normal(n, d, dtype=torch.float64))
    yield several("sines", torch.zeros(2))
    yield several("squares", draw.normal(n, d))
    yield several("cubes_of_the_first_column", draw.normal(d, n))
    yield untracked("sum_of_squares", draw.normal(n))
    yield left("sum_of_squares", draw.normal(n))
    yield again("sum_of_sines", draw.normal(n, d))
    yield elsewhere(draw.normal(n, d))
