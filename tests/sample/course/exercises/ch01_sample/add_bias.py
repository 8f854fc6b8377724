"""`add_bias`: give every channel its own bias."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probes.tensor_functions import make_call_probe, observe_result_only
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import no_loops

each = Requirement("adds to each channel its own bias", observe_result_only)
any_number = Requirement("works for any number of channels", observe_result_only)
alike = Requirement("works where batch, channels and length are equal", observe_result_only)
dtype = Requirement("keeps the dtype that it is given", observe_result_only)
unchanged = Requirement("leaves x as it is", make_call_probe(), given=("returned",))


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
    yield each(draw.normal(batch, 3, length), draw.normal(3))
    yield any_number(draw.normal(batch, channels, length), draw.normal(channels))
    yield alike(draw.normal(length, length, length), draw.normal(length))
    yield each(torch.zeros(1, 2, 3), torch.tensor([10.0, 20.0]))
    yield dtype(draw.normal(batch, 3, length, dtype=torch.float64), draw.normal(3, dtype=torch.float64))
    yield dtype(draw.ints(-9, 9, batch, channels, length), draw.ints(-9, 9, channels))
    yield any_number(draw.normal(channels, batch, length).transpose(0, 1), draw.normal(channels))
    yield any_number(draw.normal(1, channels, 1), draw.normal(channels))
    yield unchanged(draw.normal(batch, 3, length), draw.normal(3))
