"""`PairDataset`: a data set of pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader

from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import Answer, copy_case_data, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.seeded_draw import Draw


def pairs(facet: str, of: Callable[[Any, int], Plain], *, before_another: bool = False) -> Probe:
    """A data set of some pairs, whether it `takes` them, and what a function says of it and of their number.

    Perhaps the data set was made `before_another` one, of the same rows in another order.
    """

    def look(answer: Answer, case: Case) -> Observation:
        x, y = copy_case_data(case.args)
        try:
            made = answer(x, y)
            if before_another:
                answer(x.flip(0), y.flip(0))
        except ValueError as error:
            return {"takes": f"ValueError: {error}", facet: None}
        return {"takes": "no error", facet: of(made, len(x))}

    return make_probe_recording_exceptions(look)


@make_probe_recording_exceptions
def refusing(answer: Answer, case: Case) -> Observation:
    """The error that inputs and targets of different length raise when the data set is made; and none where equal."""
    x, y = copy_case_data(case.args)
    made = answer(x, y[: len(x)])
    return {
        "refused": [error_of(lambda: answer(x, y)), error_of(lambda: answer(y, x))],
        "first": snapshot_value(made[0]),
    }


def error_of(call: Callable[[], Any]) -> str:
    """The name of the error that a call raises, or what it returns instead."""
    try:
        return f"no error, but {type(call()).__name__}"
    except Exception as error:
        return type(error).__name__


def item(made: Any, place: int) -> Plain:
    """The item at a place, or the name of the error that asking for it raises."""
    try:
        return snapshot_value(made[place])
    except IndexError as error:
        return type(error).__name__


TAKES = {
    "takes": "x and y have equally many rows here, and making the data set raises a ValueError. In the shapes of their "
    "rows they may differ."
}
items = Requirement(
    "gives the pair at each place",
    pairs("items", lambda made, n: [snapshot_value(made[i]) for i in range(n)]),
    tells={**TAKES, "items": "Item i is not the pair (x[i], y[i]): a tuple of two, each as x and y have it."},
)
length = Requirement(
    "has as many items as there are rows",
    pairs("length", lambda made, n: snapshot_value(len(made))),
    tells={"length": "`len` of the data set is not the number of rows."},
    given=("takes",),
)
from_end = Requirement(
    "counts from the end with a negative place",
    pairs("from_end", lambda made, n: [item(made, -i) for i in range(1, n + 1)]),
    tells={"from_end": "For a place that is negative, counted from the end, the item is not the pair of that row."},
    given=("takes",),
)
beyond = Requirement(
    "raises IndexError beyond its ends",
    pairs("beyond", lambda made, n: [error_of(lambda: made[n]), error_of(lambda: made[-n - 1])]),
    tells={
        "beyond": "Asked for a place that is not there, after the last or before the first, raise IndexError.",
    },
    given=("takes",),
)
unequal = Requirement(
    "refuses inputs and targets of different length",
    refusing,
    tells={
        "refused": "Other lengths of x and y should be a ValueError when the data set is made.",
        "first": "With equally many rows, item 0 is not the pair (x[0], y[0]).",
    },
    given=("first",),
)
feeds = Requirement(
    "feeds a DataLoader",
    pairs(
        "batches",
        lambda made, n: [snapshot_value(batch) for batch in DataLoader(made, batch_size=2)],
        before_another=True,
    ),
    tells={
        "batches": "A DataLoader does not get from your data set, two pairs at a time, what it gets from a list of "
        "them. (Here another data set is made before the first batch.)"
    },
    given=("takes",),
    needs=(length,),
)


@exercise(
    tier="core",
    hints=(
        "Keep x and y, or their pairs, in __init__. Where can lengths be compared?",
        "Lists and tensors know negative places and raise IndexError by themselves: let them.",
    ),
)
def PairDataset(draw: Draw) -> Iterator[Case]:
    """Make a data set of pairs."""
    yield items(torch.tensor([1.0, 2.0]), torch.tensor([0, 1]))
    for requirement in (items, length, from_end, beyond, unequal, feeds):
        n, d = draw.whole(7, 30), draw.whole(3, 6)
        more = draw.whole(1, 2) if requirement is unequal else 0
        yield requirement(draw.normal(n, d), draw.ints(0, 9, n + more))
    yield items(draw.normal(3, 2, draw.whole(2, 4)), draw.normal(3, 2))
    yield items(draw.normal(4, 1), draw.normal(4, 1, 1))
