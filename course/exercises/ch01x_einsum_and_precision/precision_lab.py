"""`precision_lab`: find out what 16 bits can hold, and what a loss averages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probes.tensor_functions import make_returned_dict_entries_probe
from autograder.exercises.seeded_draw import Draw

Interval = tuple[float, float]

easy = Requirement(
    "returns the four facts, right for easy numbers",
    make_returned_dict_entries_probe("moves", "survives", "counted", "averaged", floats=("counted",)),
    tells={
        "returned:values": "These numbers are easy ones, and yet not all of your four facts are right. Is a question "
        "answered the wrong way round, or another one answered?"
    },
)
moves = Requirement(
    "moves: whether 1 + step differs from 1 in bfloat16",
    make_returned_dict_entries_probe("moves"),
    tells={
        "returned:values": "Of this step your answer says the opposite of what bfloat16 does, which rounds 1 + step "
        "to the nearest number that it has."
    },
)
survives = Requirement(
    "survives: whether tiny is other than 0 in float16",
    make_returned_dict_entries_probe("survives"),
    tells={
        "returned:values": "Of this number your answer says the opposite of what float16 does, which rounds it to "
        "the nearest number that it has, and 0 is one of them."
    },
)
counted = Requirement(
    "counted: 0 plus 1, count times, in bfloat16",
    make_returned_dict_entries_probe("counted", floats=("counted",)),
    tells={
        "returned:values": "A counter that is bfloat16 after every single addition ends at another number than yours. "
        "It starts at 0, and stands still where it cannot hold the next whole number."
    },
)
averaged = Requirement(
    "averaged: (n,) meets (n, 1)",
    make_returned_dict_entries_probe("averaged"),
    tells={
        "returned:values": "This is not how many numbers there are where (n,) meets (n, 1): what shape comes of them?"
    },
)


@exercise(
    tier="core",
    hints=(
        "Try it: `torch.tensor(1.0, dtype=torch.bfloat16)` plus a small number. Results are rounded to "
        "the nearest value.",
        "Count in a loop, with the sum held in bfloat16, and look where it stops moving.",
        "Subtract a (n, 1) tensor from a (n,) tensor and count the elements of what you get.",
    ),
)
def precision_lab(draw: Draw) -> Iterator[Case]:
    """Find out what 16 bits can hold, and what a loss averages."""
    yield easy(short(draw.real(0.5, 2.0)), 0.5, draw.whole(2, 9), 1)
    yield easy(0.0, 0.0, draw.whole(10, 99), 1)
    yield easy(0.5, 0.5, 3, 1)
    # Steps on both sides of what bfloat16, float16 and half an eps can tell apart, away from the ties.
    # Two of each kind, so that a pattern tells what was tried; in an order that is drawn, so that none is known before.
    steps = ((2.2e-3, 3.5e-3), (4.5e-3, 7e-3), (2e-5, 3e-4), (0.01, 0.5))
    for low, high in shuffled(draw, 2 * steps):
        yield moves(short(draw.real(low, high)), 1.0, 3, 2)
    tinies = ((1e-9, 2e-8), (1e-7, 5e-5), (3.5e-8, 5.5e-8), (1e-4, 4e-4))  # the last are normal, and lost beside 1
    for low, high in shuffled(draw, 2 * tinies):
        yield survives(1.0, short(draw.real(low, high)), 3, 2)
    # Odd counts: below 256, below 512 and beyond what float16 can count.
    for least, most in ((5, 99), (150, 250), (1050, 1490)):
        yield counted(1.0, 1.0, 2 * draw.whole(least, most) + 1, 2)
    yield counted(1.0, 1.0, 0, 2)
    for n in draw.sizes(2, 3, 30):
        yield averaged(1.0, 1.0, 3, n)


def short(number: float) -> float:
    """The number with three digits, as a reader would type it."""
    return float(f"{number:.3g}")


def shuffled(draw: Draw, items: Sequence[Interval]) -> list[Interval]:
    """The same in an order that is drawn."""
    left = list(items)
    return [left.pop(draw.whole(0, len(left) - 1)) for _ in items]
