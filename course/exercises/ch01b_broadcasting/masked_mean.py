"""`masked_mean`: average what a mask keeps.

Dims are counted from both ends, a row of the mask may be empty, and nan and inf stand where the mask keeps nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.exercises.compare_observations import Tolerance, first_difference
from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.probes.tensor_functions import make_call_probe, observe_result_only
from autograder.exercises.seeded_draw import Draw

from .._inputs import shifted_columns

_GONE = "As with `mean`, the dim that is named disappears, and the others stay."


@make_probe_recording_exceptions
def in_parts(answer: Answer, case: Case) -> Observation:
    """The means, and two facts about them: does what is left out count, and are means of ones alone 1?"""
    x, mask = case.args

    def mean(of: torch.Tensor) -> object:
        return answer(of, mask.clone(), **case.kwargs)

    result, other, ones = mean(x.clone()), mean(torch.where(mask, x, x + 1)), mean(torch.ones_like(x))
    return {
        "by_left_out": first_difference(snapshot_value(result), snapshot_value(other), Tolerance()) is not None,
        "ones": isinstance(ones, torch.Tensor) and bool(((ones - 1).abs() < 1e-3).all()),
        "returned": snapshot_value(result),
    }


kept = Requirement(
    "averages the entries that the mask keeps",
    in_parts,
    tells={
        "by_left_out": "Another number where the mask is False, and your result is another one: what is left out "
        "counts.",
        "ones": "Where all entries are 1, your result is not: what you add up and what you divide by do not go "
        "together.",
        "returned:shape": _GONE,
        "returned:values": "These are not the means of what is kept: of each slice the sum of its kept entries, "
        "divided by how many these are, zeros among them counted.",
    },
)
any_dim = Requirement(
    "works along any dim",
    observe_result_only,
    tells={
        "returned:values": "Along this dim your means are others. Both what is added up and the count go along `dim`.",
        "returned:shape": _GONE,
    },
)
nothing_kept = Requirement(
    "gives 0 where nothing is kept",
    observe_result_only,
    tells={
        "returned:values": "Here a slice keeps nothing: its mean is to be 0, and the means of the others stay what "
        "they are."
    },
)
unwanted_out = Requirement(
    "does not mind nan or inf in what is left out",
    observe_result_only,
    tells={"returned:values": "What is left out holds nan or inf here, and your means are others than without it."},
)
dtype = Requirement("keeps the dtype that it is given", observe_result_only)
unchanged = Requirement("leaves x and mask as they are", make_call_probe(), given=("returned",))


@exercise(
    tier="core",
    tolerance=Tolerance(relative=1e-5, absolute=1e-6),  # a small number in each count is seen
    hints=(
        "A mean is a sum divided by a count. Both should see only what the mask keeps.",
        "nan times 0 is nan: put a 0 in the place of what is left out with `torch.where` or `masked_fill`.",
        "The sum of a bool tensor along `dim` counts its True entries; `clamp` keeps that count from being 0.",
    ),
)
def masked_mean(draw: Draw) -> Iterator[Case]:
    """Average what a mask keeps."""
    n, d, k = draw.sizes(3, 3, 7)
    x, mask = shifted_columns(draw, n, d), mask_with_both(draw, n, d)
    yield kept(draw.counting(3, 4), mask_with_both(draw, 3, 4), dim=1)
    yield kept(x, mask, dim=1)
    yield kept(torch.tensor([[1.0, 3.0, 9.0]]), torch.tensor([[True, True, False]]), dim=1)
    # Among what is kept there are zeros: they count.
    yield kept(draw.ints(0, 3, n, 4 * d).float(), mask_with_both(draw, n, 4 * d), dim=1)
    yield any_dim(shifted_columns(draw, n, d), mask_with_both(draw, n, d), dim=0)
    for dim in (1, -1, -3):
        yield any_dim(shifted_columns(draw, n, d, k), mask_with_both(draw, n, d, k), dim=dim)
    empty = mask_with_both(draw, n, d)
    empty[draw.whole(0, n - 1)] = False
    yield nothing_kept(x, empty, dim=1)
    for unwanted in (torch.nan, torch.inf):
        yield unwanted_out(torch.where(mask, x, unwanted), mask, dim=1)
    yield dtype(x.double(), mask, dim=1)
    yield unchanged(x, mask, dim=1)
    yield nothing_kept(x, torch.zeros_like(mask), dim=1)
    yield nothing_kept(draw.normal(n, 0), draw.bools(n, 0), dim=1)
    yield kept(draw.normal(2, 300), draw.bools(2, 300) | (torch.arange(300) > 20), dim=1)  # more than eight bits count
    yield any_dim(shifted_columns(draw, d, n).T, mask_with_both(draw, d, n).T, dim=0)


def mask_with_both(draw: Draw, *shape: int) -> torch.Tensor:
    """A bool mask with True and False in every slice along each dim; each size is at least 3."""
    diagonal = torch.zeros(shape, dtype=torch.int64)
    for dim, size in enumerate(shape):
        diagonal += torch.arange(size).reshape(-1, *[1] * (len(shape) - dim - 1))
    diagonal %= min(shape)
    mask = draw.bools(*shape)
    mask[diagonal == 0] = True
    mask[diagonal == 1] = False
    return mask
