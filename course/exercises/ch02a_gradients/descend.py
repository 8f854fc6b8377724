"""`descend`: go downhill by hand."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    make_probe_recording_exceptions,
    snapshot_without_requires_grad,
)
from autograder.exercises.probes.gradients import is_tensor_requiring_grad
from autograder.exercises.probes.repeated_calls import STATE_BETWEEN_CALLS_MESSAGES, with_second_call
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_FROM_X_MESSAGES, with_detached_loss_facet
from autograder.exercises.seeded_draw import Draw

from .._ch02_functions import FUNCTIONS, of_function, on_function
from .._ch02_traces import TRACKED, again, left, with_state_of_tensors


def steps_of(*kept: str) -> Probe:
    """Whether each call of the function meets a leaf, and whether the result is free and has its own memory.

    The x0 that is given requires grad.
    """

    def look(answer: Answer, case: Case) -> Observation:
        name, x0, *rest = copy_case_data(case.args)
        x0.requires_grad_(requires_grad=True)
        leaves: list[bool] = []

        def f(x: Tensor) -> Tensor:
            leaves.append(x.is_leaf)
            return FUNCTIONS[name](x)

        result = answer(f, x0, *rest, **case.kwargs)
        return {
            "returned": snapshot_without_requires_grad(result),
            "tracked": is_tensor_requiring_grad(result),
            "on_leaves": all(leaves),
            "own_memory": isinstance(result, Tensor) and result.data_ptr() != x0.data_ptr(),
        }

    return make_probe_recording_exceptions(look, *kept)


one_step = Requirement(
    "takes one step against the gradient",
    with_detached_loss_facet(with_second_call(on_function("returned")), chosen=True),
    tells=DETACHED_FROM_X_MESSAGES
    | STATE_BETWEEN_CALLS_MESSAGES
    | {"returned:values": "One step leads elsewhere than to x0 minus lr times the gradient of `f` at x0."},
)
many_steps = Requirement(
    "takes as many steps as asked for",
    on_function("returned"),
    tells={
        "returned:values": "In one step you were right, and these lead elsewhere: each begins where the last one "
        "ended, with the gradient there; there are `steps` of them, and the last place is the result."
    },
)
on_leaves = Requirement(
    "starts each step on a leaf, and returns a tensor that does not require grad",
    steps_of("on_leaves", "tracked", "returned"),
    tells={
        "on_leaves": "`f` was called on a tensor that an operation made: the graph reaches back to x0 or into earlier "
        "steps, also where the result is detached in the end.",
        "tracked": TRACKED,
    },
    given=("returned",),
)
own_memory = Requirement(
    "returns memory of its own, also after 0 steps",
    steps_of("returned", "own_memory"),
    tells={"own_memory": "Your result lives in the memory of x0: whoever changes one changes the other."},
)


def _spelled(name: str, case: Case) -> str:
    """A call; on_leaves and own_memory are shown by an x0 that requires grad."""
    state = ", on an x0 that requires grad" if case.requirement in (on_leaves.sentence, own_memory.sentence) else ""
    return with_state_of_tensors(of_function)(name, case) + state


@exercise(
    tier="core",
    spelled=_spelled,
    hints=(
        "Start with a leaf of your own. Which three things happen in each step?",
        "Clear the old gradient, call backward on f(x), move x. The last belongs under `no_grad`.",
        "Under `torch.no_grad()` the leaf is changed in place: `x -= ...`, not `x = x - ...`.",
    ),
)
def descend(draw: Draw) -> Iterator[Case]:
    """Go downhill by hand."""
    n, d = draw.sizes(2, 3, 6)

    def start() -> Tensor:
        return draw.normal(n, d, dtype=torch.float64)

    rate = round(draw.real(0.05, 0.2), 3)
    yield one_step("bowl_at_one", torch.tensor([[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]), lr=0.25, steps=1)
    yield one_step("bowl_at_one", start(), lr=rate, steps=1)
    yield one_step("sum_of_sines", draw.normal(d), lr=rate, steps=1)
    yield many_steps("sum_of_squares", torch.tensor([1.0]), lr=0.25, steps=2)
    yield many_steps("bowl_at_one", start(), lr=rate, steps=2)
    yield many_steps("sum_of_sines", start(), lr=rate, steps=draw.whole(5, 20))
    yield many_steps("sum_of_squares", draw.normal(dtype=torch.float64), lr=rate, steps=2)
    yield many_steps("sum_of_squares", torch.tensor([4e-4]), lr=0.25, steps=2)  # nearly flat, and not at the end
    yield many_steps("sum_of_squares", torch.tensor([1.0]), lr=1.5, steps=3)  # each step leads further away
    yield on_leaves("bowl_at_one", start(), lr=rate, steps=3)
    yield on_leaves("bowl_at_one", start(), lr=rate, steps=0)
    yield own_memory("bowl_at_one", start(), lr=rate, steps=0)
    yield left("bowl_at_one", start(), lr=rate, steps=1)
    yield again("bowl_at_one", start(), lr=rate, steps=1)
