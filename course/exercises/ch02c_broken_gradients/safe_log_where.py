"""`safe_log_where`: take a logarithm whose gradient is finite everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation, TensorSnapshot, dtype_without_module
from autograder.exercises.probe import Answer, copy_case_data, make_probe_recording_exceptions, select_facets
from autograder.exercises.probes.tensor_functions import make_call_probe, observe_result_only
from autograder.exercises.seeded_draw import Draw


def with_gradient(answer: Answer, case: Case) -> Observation:
    """The result, and the gradient that flows back to x; None where none does."""
    seen = select_facets(make_call_probe(grad=True), "returned", "gradient")(answer, case)
    gradient = seen.get("gradient")
    return seen | {"gradient": gradient["argument 1"]} if isinstance(gradient, dict) else seen


_gradient = make_probe_recording_exceptions(with_gradient, "gradient")


def numbers(answer: Answer, case: Case) -> Observation:
    """What the result holds, tracked or not, and the gradient."""
    seen = with_gradient(answer, case)
    result = seen.get("returned")
    return seen | {"returned": replace(result, requires_grad=False)} if isinstance(result, TensorSnapshot) else seen


@make_probe_recording_exceptions
def dtype_kept(answer: Answer, case: Case) -> Observation:
    """The dtype of the result."""
    result = answer(*copy_case_data(case.args))
    return {"dtype": dtype_without_module(result.dtype) if isinstance(result, torch.Tensor) else "none"}


logarithm = Requirement(
    "gives the logarithm of positive numbers",
    observe_result_only,
    tells={"returned:values": "All of these numbers are positive, and your result is not their natural logarithm."},
)
tiny = Requirement(
    "takes no small number for 0",
    numbers,
    tells={
        "returned:values": "These numbers are very small, and positive all the same: your result is not their "
        "logarithm."
    },
    given=("gradient",),
)
zero = Requirement(
    "gives 0 for negative numbers and for 0",
    observe_result_only,
    tells={
        "returned:values": "Somewhere your result is not right: it is to be 0 where `x` is 0 or below, and the "
        "logarithm elsewhere."
    },
)
gradient = Requirement(
    "has the gradient 1 / x, and 0 where x is negative",
    _gradient,
    tells={
        "gradient": "Somewhere what flows back to `x` is not right: it is to be what arrives times 1 / x where `x` is "
        "positive, and 0 where it is below 0."
    },
)
finite = Requirement(
    "has the gradient 0 at 0, not nan",
    _gradient,
    tells={
        "gradient": "Somewhere what flows back to `x` is not right: it is to be 0 where `x` is 0, and elsewhere what "
        "arrives times 1 / x."
    },
)
dtype = Requirement(
    "keeps the dtype that it is given",
    dtype_kept,
    tells={
        "dtype": "Your result has another dtype than `x`. A harmless number that stands in a tensor of its own "
        "brings a dtype along; a plain one does not."
    },
)
unchanged = Requirement("leaves x as it is", make_call_probe(), given=("returned",))


@exercise(
    tier="stretch",
    hints=(
        "The gradient of the branch that `torch.where` leaves out is computed too: 0 times infinity is nan.",
        "No log may meet a bad number, not even in the branch that is thrown away.",
        "Choose a harmless number first, with one `torch.where`; take the log of that.",
    ),
)
def safe_log_where(draw: Draw) -> Iterator[Case]:
    """Take a logarithm whose gradient is finite everywhere."""
    n, d = draw.sizes(2, 4, 7)
    positive = draw.uniform(n, low=0.2, high=3.0)
    yield logarithm(positive)
    signed = draw.uniform(n, d, low=0.2, high=3.0) * torch.tensor([-1.0, 1.0]).repeat(n, d)[:, :d]
    yield zero(signed)
    yield zero(torch.cat([torch.zeros(2), positive]))
    yield zero(torch.tensor([1.0, 0.0, -2.0]))
    yield tiny(positive[:3].double() * 1e-12)
    yield tiny(positive[:3].double() * 1e-6)
    yield tiny(positive[:3].double() * 1e-200)
    yield gradient(signed)
    yield gradient(torch.cat([positive, -torch.ones(2), -positive]))
    yield finite(torch.cat([positive, torch.zeros(2)]))
    yield dtype(signed.to(torch.bfloat16))
    yield dtype(signed.double())
    yield unchanged(torch.cat([torch.zeros(1), -positive, positive]))
    yield zero(-positive[0])
    yield gradient(torch.stack([signed, -signed]))
