"""`flatten_images`: turn images into rows of pixels.

Images of one row come first: there, taking the pixels column by column does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, Requirement, exercise
from autograder.watching.probes.tensors import calling

side_by_side = Requirement("puts the channel values of each pixel side by side", calling())
reading_order = Requirement("keeps the pixels in reading order", calling())
any_batch = Requirement("works for any batch size", calling())
dtype = Requirement("keeps the dtype that it is given", calling())
any_channels = Requirement("works for any number of channels", calling())


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
    yield any_batch(draw.normal(n, 3, h, w))
    yield any_batch(draw.normal(1, 3, h, w))
    yield any_channels(draw.normal(2, 5, w, h))
    yield any_channels(draw.normal(2, w, h, 5).permute(0, 3, 1, 2))
    yield any_channels(draw.normal(2, 1, h, w))
    yield dtype(draw.ints(0, 256, n, 3, h, w).to(torch.uint8))
    yield dtype(draw.normal(2, 3, h, w, dtype=torch.float64))
