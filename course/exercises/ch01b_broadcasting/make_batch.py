"""`make_batch`: draw a batch that can be repeated, without touching the global random numbers."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probe import select_facets
from autograder.exercises.probes.random_results import observe_seeded_batch
from autograder.exercises.seeded_draw import Draw

batch = Requirement(
    "draws an (n, d) batch of the given dtype",
    select_facets(observe_seeded_batch, "returned", "varied"),
    tells={
        "returned:shape": "The batch is to have n rows and d columns.",
        "varied": "Many of your numbers are the same. Normal numbers, each drawn on its own, hardly ever are.",
    },
)
repeats = Requirement(
    "gives the same numbers for the same seed, others for another",
    select_facets(observe_seeded_batch, "own_memory", "repeats", "default", "seeds_differ", "returned"),
    tells={
        "own_memory": "A second call gives the very tensor of the first: who writes into one changes the other. Each "
        "call is to make a new one.",
        "repeats": "Two calls with one seed gave different numbers: is your generator your own, seeded "
        "anew at each call, and with `seed` alone?",
        "default": "Without a seed, your call gave other numbers than with seed=0, the default that was given.",
        "seeds_differ": "Two different seeds gave the same numbers. Does `seed` reach your generator?",
    },
    given=("returned",),
)
normal = Requirement(
    "draws standard normal numbers",
    select_facets(observe_seeded_batch, "normal", "uniform", "as_drawn", "returned"),
    tells={
        "normal": "These are no standard normal numbers. Look at their mean and their spread.",
        "uniform": "These numbers are spread evenly between two ends, as uniform ones are: normal ones are not.",
        "as_drawn": "Whatever the seed, your batch has mean 0 or spread 1 exactly. Leave the numbers as drawn.",
    },
    given=("returned",),
)
alone = Requirement(
    "leaves the global random numbers alone",
    select_facets(observe_seeded_batch, "global_untouched", "put_back", "returned"),
    tells={
        "global_untouched": "Your call changed a global generator, torch's, NumPy's or Python's: you drew from it, or "
        "seeded it. Use a `torch.Generator` of your own.",
        "put_back": "You seed a global generator and put it back afterwards. Whoever draws from it in between gets "
        "your numbers. Use a `torch.Generator` of your own.",
    },
    given=("returned",),
)


@exercise(
    tier="core",
    hints=(
        "`torch.manual_seed` moves the one generator that everybody shares. You can make one of your own.",
        "A `torch.Generator` has a method `manual_seed`, which also returns the generator.",
        "`torch.randn` takes the generator and the dtype as keyword arguments.",
    ),
)
def make_batch(draw: Draw) -> Iterator[Case]:
    """Draw a batch that can be repeated, without touching the global random numbers."""
    n, d = draw.sizes(2, 4, 40)
    yield batch(2, 3, seed=7)
    yield batch(n, d)
    yield batch(d, n, seed=draw.whole(1, 9999))
    yield batch(n + 1, d, dtype=torch.float64, seed=draw.whole(1, 9999))
    yield batch(d, n + 2, dtype=torch.float16, seed=draw.whole(1, 9999))
    yield repeats(n, d, seed=draw.whole(1, 9999))
    yield repeats(d, n, dtype=torch.float64)
    yield normal(60 + n, 50 + d, seed=draw.whole(1, 9999))
    yield alone(n, d, seed=draw.whole(1, 9999))
