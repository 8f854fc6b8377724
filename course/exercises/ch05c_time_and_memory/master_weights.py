"""`master_weights`: weights in float32 beside their 16-bit copy; the two that are returned are watched one by one."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, select_facets
from autograder.exercises.probes.tensor_functions import make_call_probe, observe_result_only
from autograder.exercises.seeded_draw import Draw

from .._ch05_models import eighths


def one_of_two(index: int) -> Probe:
    """One item of the pair that is returned, `alone` or `master`; whatever else is returned, as it is."""

    def probe(answer: Answer, case: Case) -> Observation:
        seen = observe_result_only(answer, case)
        pair = seen.get("returned")
        if not isinstance(pair, tuple) or len(pair) != 2:
            return seen
        return {("alone", "master")[index]: pair[index]}

    return probe


holds = Requirement(
    "takes one step that 16 bits can hold",
    observe_result_only,
    {"returned": "After one step w - lr * grad, what you return is not (alone, master): in bfloat16, then in float32."},
)
alone = Requirement(
    "alone: rounds to bfloat16 at each step",
    one_of_two(0),
    {"alone": "`alone` takes `steps` steps w - lr * grad, and what comes of each is rounded to bfloat16."},
)
master = Requirement(
    "master: stays in float32 throughout",
    one_of_two(1),
    {"master": "`master` takes `steps` steps w - lr * grad, each of them in float32 from the first to the last."},
)
unchanged = Requirement("leaves w16 and grad as they were", select_facets(make_call_probe(), "inputs"))


@exercise(
    tier="stretch",
    hints=(
        "There are two loops in one, with two dtypes. In which dtype must each intermediate result be?",
        "`.float()` before the loop for the master, of weights and gradient; nothing is turned back within it.",
    ),
)
def master_weights(draw: Draw) -> Iterator[Case]:
    """Keep weights in float32 beside their 16-bit copy."""
    brain = torch.bfloat16
    n, d = draw.sizes(2, 2, 4)

    def ones(*shape: int) -> Tensor:
        """1 or -1, and nothing between."""
        return (draw.bools(*shape).float() * 2 - 1).to(brain)

    yield holds(ones(n), ones(n) / 2, lr=0.5, steps=1)
    yield holds(eighths(draw, n, d).to(brain), ones(n, d), lr=0.25, steps=1)
    w = ones(n)
    one = torch.ones(1, dtype=brain)
    yield alone(one, one, lr=0.001, steps=100)
    yield alone(w, w.abs() / 4, lr=2.0**-8, steps=draw.whole(20, 60))
    yield alone(2 * w, 0.75 * w, lr=2.0**-7, steps=draw.whole(20, 60))
    yield alone(ones(n, d), eighths(draw, n, d).to(brain), lr=0.5, steps=draw.whole(3, 6))
    yield master(one, one, lr=0.001, steps=100)
    yield master(w, w, lr=0.001, steps=draw.whole(80, 120))
    yield master(eighths(draw, n, d).to(brain), draw.normal(n, d).to(brain), lr=0.3, steps=draw.whole(3, 9))
    yield master(ones(n), ones(n), lr=0.5, steps=0)
    yield master(ones(1)[0], ones(1)[0], lr=0.3, steps=draw.whole(3, 9))
    yield unchanged(ones(n), draw.normal(n).to(brain), lr=0.3, steps=draw.whole(1, 3))
