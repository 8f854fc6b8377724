"""`add_bias`: give every channel its own bias."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, copy_case_data, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.probes.tensor_functions import make_call_probe, observe_result_only
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import no_loops


@make_probe_recording_exceptions
def added(answer: Answer, case: Case) -> Observation:
    """The result; is what is added one number in each channel of a sample, and the same in all samples?"""
    x, bias = case.args
    result = answer(*copy_case_data((x, bias)))
    seen: Observation = {"one_number": True, "in_every_sample": True, "returned": snapshot_value(result)}
    if isinstance(result, torch.Tensor) and result.shape == x.shape:
        more = (result - x).detach()
        seen["one_number"] = bool(((more - more[:, :, :1]).abs() < 1e-3).all())
        seen["in_every_sample"] = bool(((more - more[:1]).abs() < 1e-3).all())
    return seen


each = Requirement(
    "adds to each channel its own bias",
    added,
    tells={
        "one_number": "Within one channel of a sample, different numbers are added. Each channel gets one, its bias.",
        "in_every_sample": "The samples of the batch get different numbers added. In all of them a channel gets its "
        "bias.",
        "returned:values": "Each channel gets one number added, the same in all samples, and it is not the channel's "
        "own bias.",
        "returned:shape": "Your result has another shape than `x`. It is `bias` that needs another one, so that its "
        "numbers meet the channels; if `x` is turned, it is turned back in the end.",
    },
)
any_number = Requirement("works for any number of channels", observe_result_only)
alike = Requirement("works where batch, channels and length are equal", observe_result_only)
dtype = Requirement("keeps the dtype that it is given", observe_result_only)
unchanged = Requirement(
    "leaves x and bias as they are",
    make_call_probe(sharing=True),
    tells={
        "sharing": "Your result lies in the memory of what you were given: whoever writes into one changes the other. "
        "A new tensor is asked for, also where nothing is to be added."
    },
    given=("returned",),
)


@exercise(
    tier="warm-up",
    rules=(no_loops,),
    hints=(
        "Broadcasting compares shapes from the right. Which dim of `x` does (channels,) meet?",
        "Give `bias` one more dim of size 1 behind the channels, by indexing with `None` or by `unsqueeze`.",
    ),
)
def add_bias(draw: Draw) -> Iterator[Case]:
    """Give every channel its own bias."""
    batch, length, channels = draw.sizes(3, 4, 7)
    yield each(draw.counting(2, 3, 4), 100 * (draw.counting(3) + 1))
    yield each(draw.normal(batch, 3, length), draw.normal(3))
    yield any_number(draw.normal(batch, channels, length), draw.normal(channels))
    yield alike(draw.normal(length, length, length), draw.normal(length))
    yield each(torch.zeros(1, 2, 3), torch.tensor([10.0, 20.0]))
    yield dtype(draw.normal(batch, 3, length, dtype=torch.float64), draw.normal(3, dtype=torch.float64))
    yield dtype(draw.ints(-9, 9, batch, channels, length), draw.ints(-9, 9, channels))
    yield any_number(draw.normal(channels, batch, length).transpose(0, 1), draw.normal(channels))
    yield any_number(draw.normal(1, channels, 1), draw.normal(channels))
    yield unchanged(draw.normal(batch, 3, length), draw.normal(3))
    yield unchanged(draw.normal(batch, 3, length), torch.zeros(3))
