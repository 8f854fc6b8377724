"""`fix_inplace`: mend three programs that change a tensor in place."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    make_probe_recording_exceptions,
    snapshot_value,
    snapshot_without_requires_grad,
    snapshot_without_values,
)
from autograder.exercises.probes.gradients import make_tensor_arguments_probe
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import StyleRemark, calls_method_more_often_than

from .._ch02_traces import CHANGED


@make_probe_recording_exceptions
def outlines(answer: Answer, case: Case) -> Observation:
    """The keys of a returned dict, with shape, dtype and tracking of each entry; others look at the numbers."""
    result = answer(*copy_case_data(case.args))
    if not isinstance(result, dict):
        return {"returned": snapshot_value(result)}
    return {"returned": {str(key): snapshot_without_values(result[key]) for key in sorted(result, key=str)}}


def numbers_of(key: str) -> Probe:
    """One entry of a returned dict, whatever the others are; whether it requires grad is another line's matter."""

    def look(answer: Answer, case: Case) -> Observation:
        result = answer(*copy_case_data(case.args))
        if not isinstance(result, dict):
            return {"returned": snapshot_value(result)}
        return {"returned": {key: snapshot_without_requires_grad(result[key])} if key in result else {}}

    return make_probe_recording_exceptions(look)


def entry(key: str, what: str, tells: str) -> Requirement:
    """One of the four results, and what to say of other numbers."""
    return Requirement(f"{key}: {what}", numbers_of(key), {"returned:values": tells})


runs = Requirement("runs, and returns four tensors that do not require grad", outlines)
requirements = (
    runs,
    entry(
        "exp_grad", "a gradient through exp", "This is not the gradient of sum(exp(x) + 1): the 1 has no part in it."
    ),
    entry(
        "stepped",
        "a step of gradient descent",
        "This is not x after one step: it goes against the gradient of sum(x ** 2), by 0.1 times it.",
    ),
    entry(
        "square_grad",
        "the gradient of the uncut scores",
        "This is not the gradient of sum((3 * x) ** 2): the scores are squared as they are, and the factor 3 counts "
        "twice.",
    ),
    entry("report", "the scores, cut off", "This is not 3 * x with what lies above 1 cut off, and the rest as it is."),
    Requirement("leaves x as it was", make_tensor_arguments_probe("left"), tells={"left": CHANGED}, needs=(runs,)),
)


@exercise(
    tier="core",
    independent=True,
    notes=(
        StyleRemark(
            "Right. You clone in many places, and each clone costs memory and time: what an operation saved stays safe "
            "where the next one makes a new tensor, as `y + 1` does.",
            calls_method_more_often_than("clone", more_than=5),
        ),
    ),
    hints=(
        "Read which operation the error names. Which of its tensors was changed, and had it been saved?",
        "`exp` saves its result: make a new tensor. A leaf may be changed only under `no_grad`.",
        "The third program raises nothing. Compare `square_grad` with 18 * x, and look at what `.data` hides.",
    ),
)
def fix_inplace(draw: Draw) -> Iterator[Case]:
    """Mend three programs that change a tensor in place."""
    # The first is about shapes alone: three in a row are not those of other cases by chance.
    yield runs(draw.uniform(2, draw.whole(3, 5), low=-1.0, high=2.0))
    for requirement in (runs, *requirements):
        if requirement in requirements[1:5]:  # the docstring's own example
            yield requirement(torch.tensor([0.0, 1.0]))
        low, high = draw.uniform(2, low=-2.0, high=0.2), draw.uniform(draw.whole(1, 30), low=0.6, high=2.0)
        yield requirement(torch.cat([low, high]))
