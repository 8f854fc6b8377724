"""`linear_mse`: find three bugs.

One bug at a time: where rows and columns hold the same numbers the wrong dim does no harm, and where all targets are
equal comparing each prediction with all of them does none. How a loss changes is watched up to one factor, which is all
that another divisor makes of it; the loss itself is asked for once, at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    make_probe_recording_exceptions,
    observe_changed_arguments,
    snapshot_value,
)
from autograder.exercises.probes.tensor_functions import observe_result_only
from autograder.exercises.seeded_draw import Draw

from .._inputs import shifted_columns

_OTHERS = 3  # so many other targets, or weights
_LEAST = 1e-6  # of a loss: what changes by less is rounding


def losses(results: list[Any]) -> list[float]:
    """Each loss as a number: of several, the mean."""
    return [float(torch.as_tensor(result).detach().double().mean()) for result in results]


def changes(results: list[object]) -> Plain:
    """By how much the losses differ from the first, the largest of these as 1; None where one is no loss."""
    if not all(isinstance(result, Tensor | float) for result in results):
        return None
    first, *others = losses(results)
    steps = [other - first for other in others]
    most = max(map(abs, steps))
    shares = [step / most if most > _LEAST * abs(first) else 0.0 for step in steps]
    return snapshot_value(
        torch.tensor(shares, dtype=torch.float64)
    )  # in one tensor, so that a report shows all of them


@make_probe_recording_exceptions
def by_targets(answer: Answer, case: Case) -> Observation:
    """How the loss changes as the targets change places; where it does not, what it is."""
    x, w, y = case.args
    results = [answer(*copy_case_data((x, w, y.roll(places)))) for places in range(_OTHERS + 1)]
    found = changes(results)
    if found is None:
        return {"returned": snapshot_value(results[0])}
    depends = bool(found.values.any())
    return {"depends": depends, "targets": found, "always": None if depends else losses(results)[0]}


def by_weights(answer: Answer, case: Case) -> Observation:
    """How the loss changes as one weight after the other is twice as large, and which arguments a call changes."""
    x, w, y = case.args
    args = copy_case_data(case.args)
    doubled = [w * (1 + torch.eye(len(w), dtype=w.dtype)[:, [place]]) for place in range(_OTHERS)]
    results = [answer(*args), *(answer(*copy_case_data((x, other, y))) for other in doubled)]
    found = changes(results)
    seen: Observation = {"inputs": observe_changed_arguments(case, args, {}), "weights": found}
    return {"returned": snapshot_value(results[0])} if found is None else seen


def by_columns(answer: Answer, case: Case) -> Observation:
    """The loss where the right one is 0, whatever it is divided by; elsewhere how it changes with the weights."""
    if case.args[2].any():
        seen = by_weights(answer, case)
        return {facet: seen[facet] for facet in seen if facet != "inputs"}
    result = answer(*copy_case_data(case.args))
    return (
        {"loss": round(losses([result])[0], 6)}
        if isinstance(result, Tensor | float)
        else {"returned": snapshot_value(result)}
    )


_SAME = (
    "Your loss is the same number whichever order the targets have. Each prediction has a target of its own: print the "
    "shapes of both."
)
own_target = Requirement(
    "compares each prediction with its own target",
    by_targets,
    tells={
        "depends": _SAME,
        "always": _SAME,
        "targets": "When the targets change places, your loss does not change as it should: as what each prediction "
        "is off its own target, squared. Compared are the changes of the loss after one, two and three times "
        "`y = y.roll(1)`, divided by the largest.",
    },
)
columns = Requirement(
    "standardizes each column",
    make_probe_recording_exceptions(by_columns),
    tells={
        "loss": "Both columns hold one feature, in two units, and the weights are opposite: of standardized columns "
        "every prediction is 0. So is every target, and yet your loss is not 0.",
        "weights": "With one weight doubled, your loss changes otherwise than that of the standardized columns, each "
        "times its weight, added up. Compared are the changes for the first, the second and the third weight, divided "
        "by the largest.",
    },
)
unchanged = Requirement(
    "leaves x, w and y as they are",
    make_probe_recording_exceptions(by_weights),
    tells={"inputs": "After your call, a tensor that it was given has other numbers, or another shape."},
    given=("weights",),
)
any_data = Requirement(
    "gives the loss of any data",
    observe_result_only,
    tells={
        "returned:values": "Your loss changes with targets and weights as it should, but for a factor, and is "
        "another number all the same: look at what is divided by, and at what is added.",
        "returned:shape": "A loss is one number, a tensor without axes.",
    },
    needs=(own_target, columns),
)


@exercise(
    tier="core",
    hints=(
        "Take the example of the docstring. Print every shape, and print `x` after the call.",
        "A feature is a column. Over which dim do you average to get one mean per column?",
        "Two lines write into the caller's tensor, and (n, 1) minus (n,) is (n, n).",
    ),
    independent=True,
)
def linear_mse(draw: Draw) -> Iterator[Case]:
    """Find three bugs."""
    n, d = draw.sizes(2, 4, 7)
    doubles = partial(draw.normal, dtype=torch.float64)
    for size in (n, d):
        x = same_in_rows_and_columns(draw, size)
        yield own_target(x, doubles(size, 1), doubles(size))
    level = draw.real(1.0, 3.0)
    feature, weight = doubles(n, 1), draw.real(1.0, 3.0)
    units = torch.cat([feature, draw.real(2.0, 5.0) * feature + level], dim=1)  # of one feature, as two columns
    yield columns(units, torch.tensor([[weight], [-weight]]).double(), torch.zeros(n).double())
    for rows, cols in ((n, d), (d, n)):
        x, targets = shifted_columns(draw, rows, cols).double(), torch.full((rows,), level).double()
        yield columns(x, doubles(cols, 1), targets)
    for size in (n, 5 * n):  # of so many, who puts x back does not hit the last digit of each
        yield unchanged(same_in_rows_and_columns(draw, size), doubles(size, 1), torch.full((size,), level).double())
    yield any_data(torch.tensor([[1.0], [3.0]]), torch.tensor([[2.0]]), torch.tensor([-2.0, 2.0]))
    for rows in (n, 3 * n):
        x = shifted_columns(draw, rows, d)
        yield any_data(x, draw.normal(d, 1), draw.normal(rows))
    yield any_data(shifted_columns(draw, n, d).double(), doubles(d, 1), doubles(n))
    yield any_data(1e-3 * shifted_columns(draw, n, d).double(), doubles(d, 1), doubles(n))


def same_in_rows_and_columns(draw: Draw, size: int) -> torch.Tensor:
    """A (size, size) tensor each of whose rows and columns holds the same numbers in another order."""
    numbers = (draw.normal(size) * 2 + torch.arange(size)).double()
    index = torch.arange(size)
    return numbers[(index[:, None] + index) % size]
