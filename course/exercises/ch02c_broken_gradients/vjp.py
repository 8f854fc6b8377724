"""`vjp`: pull a vector back through a function."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.seeded_draw import Draw

from .._ch02_functions import of_function, on_function
from .._ch02_traces import again, left, untracked, with_state_of_tensors

_SHAPE = {"returned:shape": "Your result has not the shape of `x`: for each entry of `x` it is to hold one number."}
of_ones = Requirement(
    "gives the gradient of a sum for a v of ones",
    on_function("returned"),
    _SHAPE
    | {
        "returned:values": "Here v is all ones, so that every output counts once; yours is not the gradient of their "
        "sum."
    },
)
weighs = Requirement(
    "weighs each output with its v",
    on_function("returned"),
    _SHAPE
    | {
        "returned:values": "With a v of ones you are right, and here not: each output is to count as its entry of v "
        "says."
    },
)
sums = Requirement(
    "sums over all outputs that depend on an input",
    on_function("returned"),
    _SHAPE
    | {
        "returned:values": "Here an entry of `x` has a part in several outputs. It is to get the sum of what these "
        "send back, each times its own entry of v."
    },
)


@exercise(
    tier="core",
    spelled=with_state_of_tensors(of_function),
    hints=(
        "v says how much each output counts. Could you make one number of f(x) and v whose gradient this is?",
        "`torch.autograd.grad` takes v as `grad_outputs`; no Jacobian is needed.",
        "Give it a leaf of your own instead of `x`.",
    ),
)
def vjp(draw: Draw) -> Iterator[Case]:
    """Pull a vector back through a function."""
    n, d = draw.sizes(2, 4, 6)
    doubles = partial(draw.normal, dtype=torch.float64)
    yield of_ones("squares", draw.counting(2, 3), torch.ones(2, 3))
    yield of_ones("squares", doubles(n, d), torch.ones(n, d).double())
    yield weighs("squares", torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0]))
    yield weighs("squares", doubles(n), doubles(n))
    yield weighs("sines", draw.normal(d, n), draw.normal(d, n))
    yield weighs("sum_of_squares", doubles(n), doubles())
    yield sums("mix_entries", doubles(n), doubles(n))
    yield sums("mix_to_three", doubles(n), doubles(3))
    yield sums("row_products", doubles(n, d), doubles(n))
    yield untracked("mix_entries", doubles(n), doubles(n))
    yield left("mix_entries", doubles(n), doubles(n))
    yield again("squares", doubles(n), torch.ones(n).double())
