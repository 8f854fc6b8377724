"""`standardize`: center and scale along one dim.

No shape is square where a dim could be mistaken, and one is where only a mistake gets through.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probes.tensor_functions import (
    make_call_probe,
    make_dim_function_probe,
    make_probe_ignoring_16_bit_values,
    observe_result_only,
)
from autograder.exercises.seeded_draw import Draw

from .._inputs import shifted_columns

_NEAR = 1e-2  # what a mean or a variance of the result may be off


def centered(_x: torch.Tensor, numbers: torch.Tensor, dim: int) -> torch.Tensor:
    """Whether the means along a dim are 0."""
    return (numbers.mean(dim).abs() < _NEAR).all()


def scaled(_x: torch.Tensor, numbers: torch.Tensor, dim: int) -> torch.Tensor:
    """Whether the variances along a dim, by n, are 1."""
    return ((numbers.var(dim, correction=0) - 1).abs() < _NEAR).all()


moments = make_dim_function_probe(centered=centered, scaled=scaled)
MOMENTS = {
    "centered": "Along `dim` the means of your result are not 0. Mean and deviation are both taken along that dim.",
    "scaled": "Along `dim` the means of your result are 0, and its variances, by n, are not 1, as they are "
    "after a division by the standard deviation along that dim.",
}
columns = Requirement("standardizes along dim 0", moments, MOMENTS)
rows = Requirement("works along dim 1", moments, MOMENTS)
any_dim = Requirement("works along any dim of a 3-D tensor", moments, MOMENTS)
constant = Requirement(
    "gives 0 where all numbers are equal",
    observe_result_only,
    tells={
        "returned:values": "Here one column holds a single number all the way: its mean is that number, its variance "
        "0, and the result there is 0. The others are standardized as ever."
    },
)
eps_inside = Requirement(
    "adds eps to the variance",
    observe_result_only,
    tells={
        "returned:values": "With an eps that is not small your result is another one: it is added to the variance, "
        "and the root is taken of both together."
    },
)
dtype = Requirement("keeps the dtype that it is given", make_probe_ignoring_16_bit_values(observe_result_only))
unchanged = Requirement("leaves x as it is", make_call_probe(), given=("returned",))


@exercise(
    tier="core",
    hints=(
        "Write the formula down as it stands. Mean and variance are methods of `x` that take `dim`.",
        "Mean and variance must still line up with `x`: look at `keepdim`.",
        "torch's variance divides by n - 1 unless you say `correction=0`; `eps` goes under the root.",
    ),
)
def standardize(draw: Draw) -> Iterator[Case]:
    """Center and scale along one dim."""
    n, d = draw.sizes(2, 3, 7)
    yield columns(shifted_columns(draw, n, d), dim=0, eps=1e-5)
    yield rows(shifted_columns(draw, n, d), dim=1, eps=1e-5)
    yield rows(shifted_columns(draw, d, d), dim=1, eps=1e-5)
    yield rows(torch.tensor([[1.0, 3.0]]), dim=1, eps=0.0)
    small = draw.sizes(3, 2, 5)  # every answer of the bank travels with each notebook that is shared
    for dim in (1, -2, -1):
        yield any_dim(shifted_columns(draw, *small), dim=dim, eps=1e-5)
    yield any_dim(shifted_columns(draw, *small).transpose(0, 2), dim=1, eps=1e-5)
    flat = shifted_columns(draw, n, d)
    flat[:, draw.whole(0, d - 1)] = 2.0
    yield constant(flat, dim=0, eps=1e-5)
    yield eps_inside(shifted_columns(draw, n, d), dim=0, eps=round(draw.real(0.5, 2.0), 2))
    widths = torch.full((d,), 4.0)  # variances above eps, and one below
    widths[draw.whole(0, d - 1)] = 0.3
    yield eps_inside(draw.normal(n, d) * widths, dim=0, eps=round(draw.real(0.5, 1.0), 2))
    yield dtype(shifted_columns(draw, n, d).double(), dim=0, eps=1e-5)
    for kind in (torch.float16, torch.bfloat16):
        yield dtype(shifted_columns(draw, n, d).to(kind), dim=0, eps=1e-2)
    yield unchanged(shifted_columns(draw, n, d), dim=0, eps=1e-5)
    yield unchanged(shifted_columns(draw, n, d).double(), dim=0, eps=1e-5)
    yield eps_inside(1e-4 * draw.normal(n, d), dim=0, eps=0.0)
