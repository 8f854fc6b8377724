"""`hessian_vector_product`: multiply a Hessian by a vector without building it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    make_probe_recording_exceptions,
    snapshot_without_requires_grad,
)
from autograder.exercises.probes.devices import OperationCallbackMode
from autograder.exercises.seeded_draw import Draw

from .. import _ch02_traces as _traces
from .._ch02_functions import FUNCTIONS, is_at, of_function, on_function


@make_probe_recording_exceptions
def cost(answer: Answer, case: Case) -> Observation:
    """Whether a tensor with as many entries as the Hessian is made, and whether a backward pass per entry of x is."""
    name, x, v = copy_case_data(case.args)
    largest: list[int] = []  # of the tensors that each operation makes, the entries of the largest

    def note(_: str, made: Any) -> None:
        largest.append(max([0, *(leaf.numel() for leaf in tree_leaves(made) if isinstance(leaf, Tensor))]))

    with OperationCallbackMode(note):
        result = answer(FUNCTIONS[name], x, v)
    # The fewest operations of a loop over x are some ten per entry; two passes need far fewer, whatever x is.
    many = len(largest) > 8 * x.numel()
    return {
        "returned": snapshot_without_requires_grad(result),
        "full_hessian": max(largest, default=0) >= x.numel() ** 2,
        "many_passes": many,
    }


@make_probe_recording_exceptions
def places(answer: Answer, case: Case) -> Observation:
    """Whether the function is called at x alone, as who takes differences does not."""
    name, x, v = copy_case_data(case.args)
    at_x: list[bool] = []

    def f(at: Tensor) -> Tensor:
        at_x.append(is_at(at, x))
        return FUNCTIONS[name](at)

    result = answer(f, x, v)
    return {"returned": snapshot_without_requires_grad(result), "at_x": all(at_x)}


_SHAPE = {"returned:shape": "The product has the shape of `x`: for each entry, how the gradient there changes along v."}
second = Requirement(
    "multiplies v by second derivatives",
    on_function("returned"),
    tells=_SHAPE
    | {
        "returned:values": "Here each entry of `x` stands for itself, and its number in the result is its v times "
        "the second derivative of `f` there. Yours is another."
    },
)
mixed = Requirement(
    "counts mixed second derivatives too",
    on_function("returned"),
    tells=_SHAPE
    | {
        "returned:values": "Here entries of `x` meet in products, so that the gradient at one of them changes with "
        "another, too. Your result is not, or not exactly, that of all these changes."
    },
)
untracked = Requirement(
    "returns a tensor that does not require grad",
    _traces.tracking,
    tells={
        "tracked": "Your result requires grad, through a graph of your own or through `v`. A tensor without a graph "
        "is asked for.",
        "returned:values": _traces.REQUIRED,
    },
    given=("returned",),
)
again = replace(_traces.again, given=("returned", "again"))  # a wrong product is told by the lines on values
cheap = Requirement(
    "never builds the full Hessian",
    cost,
    tells={
        "full_hessian": "You build all entries of the Hessian on the way to the product, row by row or all at once.",
        "many_passes": "Your work grows with the entries of x, as with a backward pass for each. Two are enough.",
    },
    given=("returned",),
)

exact = Requirement(
    "differentiates, at x alone",
    places,
    tells={
        "at_x": "`f` was called elsewhere than at `x`. Differences of gradients come near; differentiate the gradient."
    },
    given=("returned",),
)


@exercise(
    tier="stretch",
    spelled=_traces.with_state_of_tensors(of_function),
    hints=(
        "The Hessian times v is the gradient of a number: of (gradient of f) times v, summed up.",
        "The first gradient must have a graph of its own: look at `create_graph`.",
        "Two calls of `torch.autograd.grad`: the second differentiates the first, with v as `grad_outputs`.",
    ),
)
def hessian_vector_product(draw: Draw) -> Iterator[Case]:
    """Multiply a Hessian by a vector without building it."""
    n, d = draw.sizes(2, 3, 6)
    doubles = partial(draw.normal, dtype=torch.float64)
    yield second("sum_of_cubes", torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0]))
    yield second("sum_of_cubes", doubles(n), doubles(n))
    yield mixed("mixed", draw.normal(n), draw.normal(n))
    yield mixed("mixed", doubles(n, d), doubles(n, d))
    yield untracked("mixed", doubles(n), doubles(n))
    yield _traces.left("mixed", doubles(d), doubles(d))
    yield again("mixed", doubles(d), doubles(d))
    yield exact("mixed", doubles(n), doubles(n))
    yield cheap("mixed", doubles(60), doubles(60))
