"""`pairwise_sq_dists`: measure every row of one set against every row of the other."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    make_probe_recording_exceptions,
    snapshot_value,
    snapshot_without_values,
)
from autograder.exercises.probes.tensor_functions import make_call_probe
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import no_loops


@make_probe_recording_exceptions
def negative(answer: Answer, case: Case) -> Observation:
    """Whether any number of the result is below 0, and what they add up to without their signs.

    With them, differences that cancel would leave nothing but rounding.
    """
    result = answer(*copy_case_data(case.args))
    if not isinstance(result, torch.Tensor):
        return {"returned": snapshot_value(result)}
    return {"negative": bool((result < 0).any()), "total": float(result.double().abs().sum())}


@make_probe_recording_exceptions
def digits(answer: Answer, case: Case) -> Observation:
    """The result, without its numbers where points are far away, and whether each is right to a thousandth."""
    a, b = case.args
    result = answer(*copy_case_data(case.args))
    right = ((a[:, None] - b) ** 2).sum(-1)
    fits = isinstance(result, torch.Tensor) and result.shape == right.shape
    kept = not fits or bool(((result.detach().double() - right).abs() <= 1e-3 * right).all())
    return {
        "returned": snapshot_without_values(result) if a.abs().max() > _FAR else snapshot_value(result),
        "digits_kept": kept,
    }


_FAR = 2.0**20
_PAIRS = {
    "returned:shape": "The result is to be (n, m): a row for each row of `a`, and in it a number for each row of `b`.",
    "returned:values": "In row i, column j stands the squared distance of row i of `a` from row j of `b`: of each "
    "coordinate the difference, each squared, and these added up. Some number of yours is another.",
}
_DIGITS = {
    "returned:values": "Far from the origin your numbers are others: the small difference of large numbers has lost "
    "its digits. Is anything squared, or rounded, before the points are subtracted?"
}
every_pair = Requirement("compares every row of a with every row of b", make_call_probe(), _PAIRS)
equally_many = Requirement("works for equally many rows, and for no rows at all", make_call_probe(), _PAIRS)
accurate = Requirement("stays accurate far from the origin", make_call_probe(), _DIGITS)
accurate_for_many = Requirement("stays accurate far from the origin for many points", make_call_probe(), _DIGITS)
dtype = Requirement(
    "keeps the dtype that it is given, and its digits",
    digits,
    tells={
        "digits_kept": "These points are float64 and so far from the origin that only float64 tells them apart; your "
        "numbers are others. Even float64 has no digits to spare: is anything squared, or rounded, before the points "
        "are subtracted?"
    },
)
not_negative = Requirement(
    "gives no negative distance, equal rows or not",
    negative,
    tells={
        "negative": "Some of your distances are below 0. What does your formula give for two equal rows? A small "
        "difference of large numbers is not safe: subtract the points themselves.",
        "total": "Your distances of these points, added up, are not what they should be.",
    },
    given=("total",),
)


@exercise(
    tier="core",
    rules=(no_loops,),
    hints=(
        "Which shape would hold the difference of every row of `a` and every row of `b`? It has three dims.",
        "Insert a dim of size 1 into `a` and another one into `b`, so that (n, 1, d) meets (1, m, d).",
        "Subtract first, then square, then add up the last dim. Expanding the square loses digits far from the origin.",
    ),
)
def pairwise_sq_dists(draw: Draw) -> Iterator[Case]:
    """Measure every row of one set against every row of the other."""
    n, m, d = draw.sizes(3, 2, 6)
    yield every_pair(draw.ints(0, 10, n, d).float(), draw.ints(0, 10, m, d).float())
    yield equally_many(draw.normal(n, d), draw.normal(n, d))
    yield every_pair(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]))
    yield every_pair(draw.normal(1, d), draw.normal(m, d))
    yield every_pair(draw.normal(d, n).T, draw.normal(d, m).T)
    yield dtype(draw.normal(n, d, dtype=torch.float64), draw.normal(m, d, dtype=torch.float64))
    yield dtype(*farther_points(draw, n, m))
    yield accurate(*far_points(draw, 9, 8))
    # From 26 points on, torch.cdist uses the expanded square unless it is told not to.
    yield accurate_for_many(*far_points(draw, 30, 7))
    # Of so many, an expanded square is sure to put some below 0.
    yield not_negative(*near_points(draw, 200, 7))
    yield every_pair(draw.normal(n, 1), draw.normal(m, 1))
    yield equally_many(draw.normal(0, d), draw.normal(m, d))


def far_points(draw: Draw, n: int, m: int) -> tuple[torch.Tensor, torch.Tensor]:
    """n and m points far from the origin, on two sides of it; an expanded square gets near ones wrong, always alike.

    In units: a = (8192 + k, 4p, 4q) and b = (8192, 4r, 4s). For these k, float32 rounds (8192 + k)**2, which is
    2**26 + 16384k + k*k, down to a multiple of 16; every other number of the expanded square is one already and below
    2**28, so no processor, in whatever order it adds, rounds again. k*k is 1, 4, 36 or 49, and comes out as 0, 0, 32 or
    48; what p, q, r and s contribute is right.
    """
    a, b = (4.0 * draw.ints(-1, 2, count, 3).float() for count in (n, m))
    a[:, 0] = 8192.0 + torch.tensor([1.0, 2.0, 6.0, 7.0])[draw.ints(0, 4, n)]
    b[:, 0] = 8192.0
    # Every other point goes to the other side of the origin: no shift brings all of them near it. Two points on
    # different sides are so far from one another that the last digits do not matter.
    a[1::2] *= -1
    b[1::2] *= -1
    unit = draw.choice([-1, 1]) * 2.0 ** draw.whole(-2, 2)
    return unit * a, unit * b


def farther_points(draw: Draw, n: int, m: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The same for float64, which has digits enough for the others.

    The squares are near 2**54, where float64 has multiples of 4 alone, and each k*k is odd. No distance is above 81, so
    that the error is more than a thousandth, whatever the order of a sum makes of the last bits.
    """
    a, b = (4.0 * draw.ints(-1, 2, count, 3).double() for count in (n, m))
    a[:, 0] = 2.0**27 + torch.tensor([1.0, 3.0, 5.0, 7.0], dtype=torch.float64)[draw.ints(0, 4, n)]
    b[:, 0] = 2.0**27
    unit = draw.choice([-1, 1]) * 2.0 ** draw.whole(-2, 2)
    return unit * a, unit * b


def near_points(draw: Draw, n: int, d: int) -> tuple[torch.Tensor, torch.Tensor]:
    """n points, and the same in another order, every other one moved by less than float32 holds of its square."""
    points = draw.normal(n, d)
    moved = points.flip(0)
    moved[::2] += 1e-5 * draw.normal(*moved[::2].shape)
    return points, moved
