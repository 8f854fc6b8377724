"""The exercises of chapter 4 that let an answer train: a sine, two optimizers side by side, house prices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

import torch
from torch import Tensor, nn

from autograder.watching.difference import Tolerance
from autograder.watching.draw import Draw
from autograder.watching.exercise import Case
from autograder.watching.probe import in_part
from autograder.watching.rules import avoids

from . import _ch04_calls as calls
from . import _ch04_fits as fits
from ._ch04_hints import HINTS
from ._ch04_stretch import EXERCISES

__all__ = ["EXERCISES"]

_IN_PLACE, _ADAM = "trains the model that it is given, by SGD", "trains by Adam"
_STAYS, _FIT = "leaves the model as it was with 0 steps", "comes near the sine after a whole training"


@EXERCISES.add(
    "sin_fit",
    tier="core",
    hints=HINTS["sin_fit"],
    spelled=calls.fitting,
    probe=in_part(
        {_IN_PLACE: fits.short_fit, _ADAM: fits.short_fit, _STAYS: fits.short_fit, _FIT: fits.long_fit},
        otherwise=fits.new_model,
    ),
    compare=fits.compare_fits,
    keep=fits.facts_of_a_training,
    tells={
        "shapes": "The parameters of the model are not those of two linear layers, 1 -> 16 -> 1.",
        "relu_net": "From its weights, a network with a ReLU between the two layers gives other numbers than yours.",
        "fits": "The mean squared error, computed anew from your weights, is far above that of an honest training.",
        "in_place": "The model that comes back is not the one that was given.",
        "parameters": "The weights after these steps are not where the five lines lead.",
    },
    rules=(
        avoids(
            "Sequential",
            requirement="builds the model without nn.Sequential",
            sentence="You use nn.Sequential. Write the two layers and their order yourself: __init__ and forward.",
        ),
    ),
    seconds=60.0,
)
def sin_fit(draw: Draw) -> Iterator[Case]:
    """Fit a sine."""
    yield Case("makes a model of two layers with a ReLU between", fits.named_seed(draw))
    rate = round(draw.real(0.03, 0.08), 3)
    yield Case(_IN_PLACE, fits.first_weights(draw), steps=1, lr=rate)
    yield Case(_IN_PLACE, fits.first_weights(draw), steps=draw.whole(3, 6), lr=rate, optimizer="sgd")
    yield Case(_ADAM, fits.first_weights(draw), steps=draw.whole(3, 6), lr=0.5 * rate, optimizer="adam")
    yield Case(_STAYS, fits.first_weights(draw), steps=0, lr=rate)
    # The visible case is the chapter's own training; the fresh ones, of which grading runs many, are shorter.
    steps, lr = (1000, 0.01) if draw.seed == 0 else (300, 0.03)
    yield Case(_FIT, fits.named_seed(draw), steps=steps, lr=lr, optimizer="adam")


_SEVERAL, _LIMIT, _RATIO = "counts for each seed", "gives the limit where the goal is not reached", "divides the sums"


@EXERCISES.add(
    "compare_optimizers",
    tier="core",
    hints=HINTS["compare_optimizers"],
    probe=in_part({_RATIO: fits.counted("ratio")}, otherwise=fits.counted("sgd", "adam")),
    seconds=60.0,
)
def compare_optimizers(draw: Draw) -> Iterator[Case]:
    """Measure which optimizer is faster."""

    def seeds(count: int) -> list[int]:
        drawn = iter(lambda: draw.whole(0, 9999), None)
        return list(islice(filter(_begins_above_all_goals, drawn), count))

    rates = {"sgd_lr": round(draw.real(0.05, 0.1), 3), "adam_lr": round(draw.real(0.02, 0.04), 3)}
    yield Case("counts the steps of both for one seed", seeds(1), **rates, goal=0.2, limit=60)
    yield Case("counts the steps of both for one seed", seeds(1), **rates, goal=0.25, limit=60)
    yield Case(_SEVERAL, seeds(3), **rates, goal=0.25, limit=60)
    yield Case(_LIMIT, seeds(2), **rates, goal=0.01, limit=draw.whole(4, 7))
    yield Case(_RATIO, seeds(3), **rates, goal=0.25, limit=60)


def _begins_above_all_goals(seed: int) -> bool:
    """Whether the first weights of a seed leave something to do: with none, both optimizers take no step at all."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
    x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
    with torch.no_grad():
        return bool(((model(x) - torch.sin(x)) ** 2).mean() > 0.25)


_UNITS = "comes near the best line, whatever the units"
_NEW, _RAW = "prices new houses by that line", "gives weights in the units of x and y"
_LEFT = "tracks nothing, and leaves its inputs alone"


@EXERCISES.add(
    "house_prices",
    tier="core",
    hints=HINTS["house_prices"],
    probe=in_part(
        {
            _RAW: fits.priced("weight"),
            _NEW: fits.priced("prices", "added_up"),
            _LEFT: fits.priced("tracked", "inputs"),
        },
        otherwise=fits.priced("line"),
    ),
    # A hundredth of the spread is what the docstring promises; only a line that is far off meets the relative part.
    tolerance=Tolerance(relative=1e-4, absolute=0.01),
    tells={
        "line": "Your line is not near the best one. These are its prices for x, as distances from the mean of y, in "
        "spreads of y.",
        "weight": "The weights are not those of the best line. Here they are in spreads of y per spread of a column.",
        "prices": "The prices of the new houses are not right. Here they are in spreads of y, from the mean of y.",
        "added_up": "The prices are not what your weight and bias give for the new houses.",
        "tracked": "Some of the results are still tracked.",
    },
    seconds=60.0,
)
def house_prices(draw: Draw) -> Iterator[Case]:
    """Mend a regression that does not converge."""
    for requirement in ("comes near the best line", _UNITS, _RAW, _NEW, _LEFT):
        columns = 2 if requirement == _UNITS else 3
        yield Case(requirement, *_houses(draw, columns, 1000.0 if requirement == _UNITS else 1.0))


def _houses(draw: Draw, columns: int, unit: float) -> tuple[Tensor, Tensor, Tensor]:
    """Area, rooms, age of some houses, their prices, and new houses; the first column perhaps in other units."""
    low, high = torch.tensor([40.0 * unit, 1.0, 0.0])[:columns], torch.tensor([180.0 * unit, 7.0, 60.0])[:columns]

    def houses(n: int) -> Tensor:
        return low + (high - low) * draw.uniform(n, columns)

    x, new = houses(20), houses(draw.whole(2, 4))
    worth = torch.tensor([draw.real(2.0, 4.0) / unit, draw.real(5.0, 15.0), -draw.real(0.5, 1.5)])[:columns]
    return x, x @ worth + 50.0 + 10.0 * draw.normal(20), new
