"""`flatten_images`: turn images into rows of pixels.

Images of one row come first: there, taking the pixels column by column does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.diagnosis.difference_messages import call_from_parts, case_call_text, tensor_placeholder
from autograder.exercises.compare_observations import Tolerance
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


@make_probe_recording_exceptions
def on_a_part(answer: Answer, case: Case) -> Observation:
    """What is returned where x is a part of larger images: its rows do not follow one another in memory."""
    (x,) = case.args
    larger = torch.zeros(*x.shape[:2], x.shape[2] + 2, x.shape[3] + 1, dtype=x.dtype)
    larger[:, :, 2:, 1:] = x
    return {"returned": snapshot_value(answer(larger[:, :, 2:, 1:]))}


_SHAPE = (
    "The result is to be (N, H*W, C): for each image a row for each of its pixels, and in it a number for each channel."
)
_ANY = (
    "With another number of images or channels your result has not the shape (N, H*W, C) any more: every length can "
    "be read from `x.shape`, and one of 1 stays."
)
side_by_side = Requirement(
    "puts the channel values of each pixel side by side",
    make_call_probe(),
    tells={
        "returned:shape": _SHAPE,
        "returned:values": "These images are one row high, and yet row i of the result does not hold the channel "
        "values of pixel i: other numbers stand side by side.",
    },
)
reading_order = Requirement(
    "keeps the pixels in reading order",
    make_call_probe(),
    tells={
        "returned:shape": _SHAPE,
        "returned:values": "These images have several rows, and row i of the result is not pixel i in reading "
        "order: along the first row, from left to right, and then along the next.",
    },
)
any_batch = Requirement("works for any batch size", make_call_probe(), {"returned:shape": _ANY})
dtype = Requirement(
    "keeps the dtype that it is given",
    dtype_of,
    tells={
        "dtype": "Your result has another dtype than `x`, though no number has to be computed.",
        "returned:values": "A number of your result is not, to its last digit, the one in `x`.",
    },
    given=("returned",),
)
any_channels = Requirement("works for any number of channels", make_call_probe(), {"returned:shape": _ANY})
cut_out = Requirement(
    "works for a part of larger images too",
    on_a_part,
    tells={
        "returned:values": "Here `x` is a part of larger images: its rows do not follow one another in memory, and "
        "some number of yours is not the one in `x`."
    },
    needs=(side_by_side, reading_order, any_batch, any_channels),
)


def spelled(name: str, case: Case) -> str:
    """A part of larger images is told as one: an x of the same shape that is none may do."""
    if case.requirement != cut_out.sentence:
        return case_call_text(name, case)
    return call_from_parts(name, *(tensor_placeholder("part of larger images", x) for x in case.args))


@exercise(
    tier="core",
    spelled=spelled,
    tolerance=Tolerance(0.0, 0.0),  # numbers only move
    hints=(
        "`reshape` reads the numbers in the order of the dims. In which order must the dims stand first?",
        "Bring the channels to the end: (N, H, W, C). Which method reorders dims?",
        "After `permute`, two neighboring dims remain to be merged into one; every size can be read from `x.shape`.",
    ),
)
def flatten_images(draw: Draw) -> Iterator[Case]:
    """Turn images into rows of pixels."""
    h, w, n = draw.sizes(3, 3, 6)
    yield side_by_side(draw.counting(2, 3, 1, w))
    yield side_by_side(draw.normal(2, 3, 1, w + 2))
    yield reading_order(draw.counting(2, 3, h, w))
    yield reading_order(draw.normal(2, 3, w, h))
    yield any_batch(draw.normal(n, 3, 1, w))
    yield any_batch(draw.normal(1, 3, 1, w))
    yield any_channels(draw.normal(2, 5, 1, w))
    yield any_channels(draw.normal(2, 1, 1, w))
    yield cut_out(draw.normal(2, 3, h, w))
    yield dtype(draw.normal(2, 3, h, w).to(torch.bfloat16))
    yield dtype(draw.ints(0, 256, 2, 3, 1, w).to(torch.uint8))
    yield dtype(draw.normal(2, 3, h, w, dtype=torch.float64))
    yield reading_order(draw.normal(5, 3, 8, 8))
