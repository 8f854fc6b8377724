"""`flatten_images`: turn images into rows of pixels.

Images of one row come first: there, taking the pixels column by column does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation, dtype_without_module
from autograder.exercises.probe import Answer, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.probes.tensor_functions import make_call_probe
from autograder.exercises.seeded_draw import Draw


@make_probe_recording_exceptions
def dtype_of(answer: Answer, case: Case) -> Observation:
    """The dtype of the result, and its numbers in that of the input."""
    (x,) = case.args
    result = answer(x.clone())
    if not isinstance(result, torch.Tensor):
        return {"returned": snapshot_value(result)}
    return {"dtype": dtype_without_module(result.dtype), "returned": snapshot_value(result.to(x.dtype))}


side_by_side = Requirement("puts the channel values of each pixel side by side", make_call_probe())
reading_order = Requirement("keeps the pixels in reading order", make_call_probe())
any_batch = Requirement("works for any batch size", make_call_probe())
dtype = Requirement("keeps the dtype that it is given", dtype_of, given=("returned",))
any_channels = Requirement("works for any number of channels", make_call_probe())


@exercise(
    tier="core",
    hints=(
        "`reshape` reads the numbers in the order of the dims. In which order must the dims stand first?",
        "Bring the channels to the end: (N, H, W, C). Which method reorders dims?",
        "After `permute`, two neighboring dims remain to be merged into one; every size can be read from `x.shape`.",
    ),
)
def flatten_images(draw: Draw) -> Iterator[Case]:
    """Turn images into rows of pixels."""
    h, w, n = draw.sizes(3, 3, 6)
    yield side_by_side(draw.normal(2, 3, 1, w))
    yield side_by_side(draw.normal(2, 3, 1, w + 2))
    yield reading_order(draw.normal(2, 3, h, w))
    yield reading_order(draw.normal(2, h, w, 3).permute(0, 3, 1, 2))
    yield any_batch(draw.normal(n, 3, 1, w))
    yield any_batch(draw.normal(1, 3, 1, w))
    yield any_channels(draw.normal(2, 5, 1, w))
    yield any_channels(draw.normal(2, 1, 1, w))
    yield dtype(draw.ints(0, 256, 2, 3, 1, w).to(torch.uint8))
    yield dtype(draw.normal(2, 3, h, w, dtype=torch.float64))
