"""`standardize`: center and scale along one dim.

No shape is square where a dim could be mistaken, and one is where only a mistake gets through.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probes.tensor_functions import make_call_probe, observe_result_only
from autograder.exercises.seeded_draw import Draw

from ._inputs import shifted_columns

columns = Requirement("standardizes along dim 0", observe_result_only)
rows = Requirement("works along dim 1", observe_result_only)
any_dim = Requirement("works along any dim of a 3-D tensor", observe_result_only)
constant = Requirement("gives 0 where all numbers are equal", observe_result_only)
eps_inside = Requirement("adds eps to the variance", observe_result_only)
dtype = Requirement("keeps the dtype that it is given", observe_result_only)
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
    yield eps_inside(shifted_columns(draw, n, d), dim=0, eps=draw.real(0.5, 2.0))
    widths = torch.full((d,), 4.0)  # variances above eps, and one below
    widths[draw.whole(0, d - 1)] = 0.3
    yield eps_inside(draw.normal(n, d) * widths, dim=0, eps=draw.real(0.5, 1.0))
    yield dtype(shifted_columns(draw, n, d).double(), dim=0, eps=1e-5)
    yield unchanged(shifted_columns(draw, n, d), dim=0, eps=1e-5)
