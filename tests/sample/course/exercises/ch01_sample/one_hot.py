"""`one_hot`: turn labels into rows with a single 1."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probes.tensor_functions import make_call_probe
from autograder.exercises.seeded_draw import Draw

column = Requirement("puts a 1 into the column of each label", make_call_probe())
k_columns = Requirement("has k columns, whichever labels occur", make_call_probe())
fewer_labels = Requirement("works for fewer labels than classes", make_call_probe())


@exercise(
    tier="core",
    hints=(
        "Entry (i, j) is 1 where label i is j. That is a comparison of every label with every column number.",
        "`torch.arange(k)` holds the column numbers. Which shape must the labels have to meet all of them?",
        "A comparison gives bools: convert them at the end.",
    ),
)
def one_hot(draw: Draw) -> Iterator[Case]:
    """Turn labels into rows with a single 1."""
    k = draw.whole(3, 6)
    yield column(labels_with_all(draw, k), k)
    yield k_columns(labels_with_all(draw, k), k + draw.whole(1, 3))
    yield fewer_labels(draw.ints(2, k + 3, 2), k + 3)
    yield fewer_labels(draw.ints(2, k, 1), k)
    yield fewer_labels(torch.tensor([2, 0]), 3)
    yield fewer_labels(draw.ints(0, k, 0), k)
    yield fewer_labels(draw.ints(1, k, 8)[::2], k)


def labels_with_all(draw: Draw, k: int) -> torch.Tensor:
    """Labels in a drawn order, each of 0..k-1 at least once."""
    labels = list(range(k)) + [draw.whole(0, k - 1) for _ in range(draw.whole(1, 3))]
    order = torch.argsort(draw.uniform(len(labels)))
    return torch.tensor(labels)[order]
