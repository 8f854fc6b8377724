"""`standardize`: center and scale along one dim.

No shape is square where a dim could be mistaken, and one is where only a mistake gets through. Who divides the variance
by n - 1 loses the line about that, and no other.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, Requirement, exercise
from autograder.watching.observation import Observation
from autograder.watching.probe import Answer, changed_inputs, copy_of, facets, see, watched
from autograder.watching.probes.tensors import result_only

from ._inputs import shifted_columns

_FAR = 0.05  # how far a float32 result may be off where the mean is ten thousand times the spread


def by_formula(x: Tensor, dim: int, eps: float, correction: int) -> Tensor:
    """What the formula gives in float64, where the variance divides by n - correction."""
    wide = x.double()
    mean, var = wide.mean(dim, keepdim=True), wide.var(dim, keepdim=True, correction=correction)
    return (wide - mean) / (var + eps).sqrt()


def near(result: object, numbers: Tensor, absolute: float) -> bool:
    """Whether a result is a tensor with these numbers."""
    if not isinstance(result, Tensor) or result.shape != numbers.shape:
        return False
    return torch.allclose(result.detach().double(), numbers, rtol=1e-4, atol=absolute)


@watched
def but_for_the_divisor(answer: Answer, case: Case) -> Observation:
    """What is returned, and which arguments changed; where n - 1 divides the variance, what is returned with n."""
    args, kwargs = copy_of(case.args), copy_of(case.kwargs)
    result = answer(*args, **kwargs)
    (x,), changed = case.args, changed_inputs(case, args, kwargs)
    if near(result, by_formula(x, correction=1, **case.kwargs), 1e-5):
        result = by_formula(x, correction=0, **case.kwargs).to(result.dtype)
    return {"returned": see(result), "inputs": changed}


@watched
def from_afar(answer: Answer, case: Case) -> Observation:
    """The exact result where the answer comes near it; what it is else hangs on last bits."""
    (x,) = case.args
    result = answer(x.clone(), **case.kwargs)
    exact, other = (by_formula(x, correction=one, **case.kwargs) for one in (0, 1))
    kept = near(result, exact, _FAR) or near(result, other, _FAR)
    return {"far": see(exact) if kept else f"nan, or numbers that are off by more than {_FAR}"}


in_value = facets(but_for_the_divisor, "returned")

columns = Requirement("works along dim 0", in_value)
any_dim = Requirement("works along any dim, also of a 3-D tensor", in_value)
population = Requirement("divides by n in the variance, not by n - 1", result_only)
eps_inside = Requirement("adds eps to the variance, so that equal numbers give 0", in_value)
far = Requirement(
    "keeps its digits far from 0",
    from_afar,
    tells={
        "far": "Where the numbers lie near 10000, your digits get lost. Squares of such numbers, for one, have no room "
        "for small differences: subtract the mean first, then square."
    },
)
dtype = Requirement("keeps the dtype that it is given", in_value)
unchanged = Requirement(
    "leaves x as it is",
    but_for_the_divisor,
    tells={"inputs": "After your call, `x` holds other numbers. Make a new tensor."},
    given=("returned",),
)


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
    n, d, k = draw.sizes(3, 3, 7)
    yield columns(shifted_columns(draw, n, d), dim=0, eps=1e-5)
    yield any_dim(shifted_columns(draw, n, d), dim=1, eps=1e-5)
    yield any_dim(shifted_columns(draw, d, d), dim=1, eps=1e-5)
    yield any_dim(torch.tensor([[1.0, 3.0]]), dim=1, eps=0.0)
    for dim in (1, -2, -1):
        yield any_dim(shifted_columns(draw, n, d, k), dim=dim, eps=1e-5)
    yield any_dim(shifted_columns(draw, n, d, k).transpose(0, 2), dim=1, eps=1e-5)
    yield population(shifted_columns(draw, n, d), dim=0, eps=1e-5)
    flat = shifted_columns(draw, n, d)
    flat[:, draw.whole(0, d - 1)] = 2.0
    yield eps_inside(flat, dim=0, eps=1e-5)
    yield eps_inside(shifted_columns(draw, n, d), dim=0, eps=draw.real(0.5, 2.0))
    yield far(shifted_columns(draw, n, d) + 10_000, dim=0, eps=1e-5)
    yield dtype(shifted_columns(draw, n, d).double(), dim=0, eps=1e-5)
    yield unchanged(shifted_columns(draw, n, d), dim=0, eps=1e-5)
