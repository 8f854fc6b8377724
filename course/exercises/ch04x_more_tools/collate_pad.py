"""`collate_pad`: rows of different length become one table. Most hold numbers from 1 on, none of them a usual pad."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    make_probe_recording_exceptions,
    observe_changed_arguments,
    snapshot_value,
)
from autograder.exercises.seeded_draw import Draw


def collated(part: str) -> Probe:
    """One of the two results, `padded` or `lengths`, whether both came, and `inputs`: which of them changed."""

    def look(answer: Answer, case: Case) -> Observation:
        args, kwargs = copy_case_data(case.args), copy_case_data(case.kwargs)
        result = answer(*args, **kwargs)
        answer(
            *copy_case_data(case.args), **copy_case_data(case.kwargs) | {"pad": 50}
        )  # who writes into one table changes the first
        is_pair = isinstance(result, tuple | list) and len(result) == 2
        padded, lengths = map(snapshot_value, result if is_pair else (result, result))
        return {
            "pair": is_pair,
            "padded": padded,
            "lengths": lengths,
            "inputs": observe_changed_arguments(case, args, kwargs),
        }

    return make_probe_recording_exceptions(look, "pair", part, "inputs")


BOTH = {
    "pair": "What you return is not a pair: the table, and the list of lengths.",
    "inputs": "The list that you were given is no longer as it was, or its tensors are not. Make a new list, or new "
    "tensors.",
}
TABLE = BOTH | {
    "padded:shape": "The table has another shape than it should: a row for each tensor, as wide as the longest of "
    "them.",
    "padded:dtype": "The table has another dtype than the tensors.",
    "padded": "The numbers of the table are not those of the tensors, a row for each, in their order: first the "
    "entries, then `pad`.",
}
fills = Requirement("fills shorter rows up at their end", collated("padded"), TABLE)
pads = Requirement("fills up with the number it is given", collated("padded"), TABLE)
dtype = Requirement("keeps the dtype", collated("padded"), TABLE, needs=(pads,))
empty = Requirement("allows an empty tensor, and a single one", collated("padded"), TABLE)
lengths = Requirement(
    "tells the lengths before",
    collated("lengths"),
    BOTH | {"lengths": "The lengths are not a list of ints, how many entries each tensor had before it was filled up."},
)


@exercise(
    tier="core",
    hints=(
        "Make the table first, full of `pad`; then write each row into its beginning.",
        "`torch.full` takes a dtype. How long is the longest row?",
    ),
)
def collate_pad(draw: Draw) -> Iterator[Case]:
    """Pad rows of different length."""

    def rows(*lengths: int) -> list[Tensor]:
        return [draw.ints(1, 24, length) for length in lengths]

    yield fills(rows(1, 3, 2, 2))
    yield fills(rows(*draw.sizes(4, 1, 6)))
    yield fills([torch.tensor([5, 6]), torch.tensor([7])], pad=-1)
    yield pads(rows(*draw.sizes(3, 1, 5)), pad=-draw.whole(1, 100))
    yield pads([row - row[0] for row in rows(*draw.sizes(3, 2, 5))], pad=draw.whole(51, 99))
    yield dtype([row.double() / 4 for row in rows(*draw.sizes(3, 1, 5))])
    yield dtype([row.float() / 4 for row in rows(3, 1)], pad=draw.whole(1, 9) / 8)
    yield dtype([row.double() / 10 for row in rows(2, 1)])  # which float32 does not hold
    yield dtype([row + 2**24 for row in rows(2, 3)])
    yield dtype([row.int() for row in rows(*draw.sizes(3, 1, 5))])
    yield empty(rows(0, draw.whole(1, 4)))
    yield empty(rows(draw.whole(2, 5)), pad=7)
    yield empty(rows(*[0] * draw.whole(2, 4)))
    yield lengths(rows(*draw.sizes(4, 0, 6)))
    yield lengths([row - row[-1] for row in rows(*draw.sizes(3, 2, 5))])
