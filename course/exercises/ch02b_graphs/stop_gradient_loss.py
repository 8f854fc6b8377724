"""`stop_gradient_loss`: let the gradient through to one side only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from autograder.exercises.compare_observations import Difference, Tolerance, first_difference
from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation, TensorSnapshot
from autograder.exercises.probe import (
    Answer,
    combine_probes_in_order,
    copy_case_data,
    make_probe_recording_exceptions,
    names_of_changed_values,
    snapshot_value,
    snapshot_without_requires_grad,
)
from autograder.exercises.probes.gradients import OLD_GRAD, fill_old_grads, is_tensor_requiring_grad, tensor_state
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import forbid_names

from .._ch02_traces import CHANGED


class _WatchRecording(TorchFunctionMode):
    """Note whether anything is computed while gradients are off."""

    off = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.off = self.off or not torch.is_grad_enabled()
        return func(*args, **(kwargs or {}))


def stopped(*kept: str, leaves: bool = False) -> Probe:
    """The loss of two tensors that require grad, the gradients that arrive behind each, and what became of the two."""

    def look(answer: Answer, case: Case) -> Observation:
        sources = copy_case_data(case.args)
        fill_old_grads(*sources)
        given = sources if leaves else [source * 1 for source in sources]
        before = [tensor_state(tensor) for tensor in given]
        with _WatchRecording() as watch:
            loss = answer(*given)
        seen: Observation = {
            "returned": snapshot_without_requires_grad(loss),
            "tracked": is_tensor_requiring_grad(loss),
        }
        seen["left"] = [
            names_of_changed_values(was, tensor_state(tensor)) for was, tensor in zip(before, given, strict=True)
        ]
        if isinstance(loss, Tensor) and loss.requires_grad and loss.numel() == 1:
            loss.sum().backward()
        seen["to_a"], seen["to_b"] = (snapshot_value(source.grad - OLD_GRAD) for source in sources)
        return seen | {"recording_off": watch.off}

    return make_probe_recording_exceptions(look, *kept)


@make_probe_recording_exceptions
def graph_behind_b(answer: Answer, case: Case) -> Observation:
    """Whether a first gradient, if only of zeros, arrives behind b and at b itself."""
    sources = [source.requires_grad_() for source in copy_case_data(case.args)]
    given = [source * 1 for source in sources]
    given[1].retain_grad()
    loss = answer(*given)
    if isinstance(loss, Tensor) and loss.requires_grad and loss.numel() == 1:
        loss.sum().backward()
    return {"zeros_to_b": [each.grad is not None for each in (given[1], sources[1])]}


def compare_stopped(expected: Observation, got: Observation, tolerance: Tolerance) -> Difference | None:
    """The usual comparison, but how the gradient was stopped matters only where none arrives at all.

    A right answer may switch gradients off for a copy of b. Of two answers that lose the gradient of a, it tells
    which mistake was made.
    """
    seen = [{facet: value for facet, value in one.items() if facet != "recording_off"} for one in (expected, got)]
    difference = first_difference(seen[0], seen[1], tolerance)
    arrives = isinstance(expected.get("to_a"), TensorSnapshot) and bool(expected["to_a"].values.any())
    return difference if difference or arrives else first_difference(expected, got, tolerance)


loss = Requirement(
    "gives the mean squared difference",
    stopped("returned", leaves=True),
    tells={
        "returned:values": "This is not the mean of the squares of a - b.",
        "returned:shape": "A loss is one number, a tensor without axes: the mean over all entries.",
    },
)
to_a = Requirement(
    "sends the gradient to a",
    stopped("to_a", "tracked", "recording_off"),
    tells={
        "to_a": "The gradient that arrives behind a is not the one of the mean squared difference.",
        "tracked": "Your loss has no graph: no gradient can come back from it.",
    },
)
not_to_b = Requirement(
    "sends no gradient to what is behind b",
    combine_probes_in_order(stopped("to_b"), graph_behind_b),
    tells={
        "to_b": "A gradient arrives behind b, which counts as a constant.",
        "zeros_to_b": "A gradient arrives at b and behind it, if only zeros: b is part of the graph. After backward, "
        "neither is to have one.",
    },
)
left = Requirement(
    "leaves a and b as they were",
    combine_probes_in_order(stopped("left", "returned", leaves=True), stopped("left", "returned")),
    tells={"left": CHANGED},
    given=("returned",),
)


@exercise(
    tier="core",
    rules=(
        forbid_names(
            "data",
            requirement="does without .data",
            sentence="`.data` reaches behind autograd's back: a later change in place goes unnoticed. "
            "Another method makes a tensor without history.",
        ),
    ),
    compare=compare_stopped,
    hints=(
        "One of the two should take part as a number without history. Which one, and which method does that?",
        "`detach` gives a tensor without history and leaves the original alone. Then: subtract, square, mean.",
    ),
)
def stop_gradient_loss(draw: Draw) -> Iterator[Case]:
    """Let the gradient through to one side only."""
    n, d = draw.sizes(2, 3, 6)
    for requirement in (loss, to_a):  # of eight numbers, whose gradients are fourths
        yield requirement(draw.counting(2, 4), draw.ints(0, 10, 2, 4).float())
    for requirement in (loss, to_a, not_to_b, left):
        yield requirement(draw.normal(n, d), draw.normal(n, d))
    yield loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    n, d = draw.sizes(2, 3, 30)
    yield not_to_b(draw.normal(n, d), draw.normal(n, d))  # zeros of this shape are not those of other cases by chance
    yield loss(draw.normal(n, dtype=torch.float64), draw.normal(n, dtype=torch.float64))
    a = 2.0**25 + draw.ints(0, 9, n).double()  # which float32 does not tell from one another
    yield loss(a, a + 2 * draw.ints(0, 2, n).double() - 1)
