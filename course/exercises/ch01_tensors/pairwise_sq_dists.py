"""`pairwise_sq_dists`: measure every row of one set against every row of the other."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, Requirement, exercise
from autograder.watching.observation import Observation
from autograder.watching.probe import Answer, copy_of, see, watched
from autograder.watching.probes.tensors import calling
from autograder.watching.rules import no_loops


@watched
def negative(answer: Answer, case: Case) -> Observation:
    """Whether any number of the result is below 0, and what they add up to."""
    result = answer(*copy_of(case.args))
    if not isinstance(result, torch.Tensor):
        return {"returned": see(result)}
    return {"negative": bool((result < 0).any()), "total": float(result.sum())}


every_pair = Requirement("compares every row of a with every row of b", calling())
equally_many = Requirement("works for equally many rows", calling())
accurate = Requirement(
    "stays accurate far from the origin",
    calling(),
    tells={
        "returned": "These distances are not right. The points lie in two groups, far from the origin and from each "
        "other: squares of such large numbers lose the digits that count, and no shift helps both groups. Subtract the "
        "points themselves, pair by pair."
    },
)
accurate_for_many = Requirement("stays accurate far from the origin for many points", calling())
dtype = Requirement("keeps the dtype that it is given", calling())
not_negative = Requirement(
    "gives no negative distance, equal rows or not",
    negative,
    tells={
        "negative": "Some of your distances are below 0. What does your formula give for two equal rows? A small "
        "difference of large numbers is not safe: subtract the points themselves."
    },
    given=("total",),
    needs=(accurate,),
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
    yield every_pair(draw.normal(n, d), draw.normal(m, d))
    yield equally_many(draw.normal(n, d), draw.normal(n, d))
    yield every_pair(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 1.0]]))
    yield every_pair(draw.normal(1, d), draw.normal(m, d))
    yield every_pair(draw.normal(d, n).T, draw.normal(d, m).T)
    yield dtype(draw.normal(n, d, dtype=torch.float64), draw.normal(m, d, dtype=torch.float64))
    yield accurate(*far_groups(draw, 9, 8))
    yield accurate(*far_groups_of_float64(draw, 5, 7))
    # From 26 points on, torch.cdist uses the expanded square unless it is told not to.
    yield accurate_for_many(*far_points(draw, 30, 28))
    # Of so many, an expanded square is sure to put some below 0.
    yield not_negative(*near_points(draw, 200, 7))


def far_points(draw: Draw, n: int, m: int) -> tuple[torch.Tensor, torch.Tensor]:
    """n and m points far from the origin, whose squared distances an expanded square gets wrong, everywhere alike.

    In units: a = (8192 + k, 4p, 4q) and b = (8192, 4r, 4s). For these k, float32 rounds (8192 + k)**2, which is
    2**26 + 16384k + k*k, down to a multiple of 16; every other number of the expanded square is one already and below
    2**28, so no processor, in whatever order it adds, rounds again. k*k is 1, 4, 36 or 49, and comes out as 0, 0, 32 or
    48; what p, q, r and s contribute is right.
    """
    a, b = (4.0 * draw.ints(-1, 2, count, 3).float() for count in (n, m))
    a[:, 0] = 8192.0 + torch.tensor([1.0, 2.0, 6.0, 7.0])[torch.arange(n) % 4]
    b[:, 0] = 8192.0
    unit = draw.choice([-1, 1]) * 2.0 ** draw.whole(-2, 2)
    return unit * a, unit * b


def far_groups(draw: Draw, n: int, m: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Twice as many points, in two groups: around (8192, 0, 0) as in `far_points`, and the same around (0, 8192, 0).

    Whatever is subtracted from all of them, the squares of one group lose the 1 that one of its distances is.
    """
    a, b = far_points(draw, 2 * n, 2 * m)
    return _two_groups(a), _two_groups(b)


def far_groups_of_float64(draw: Draw, n: int, m: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The same for float64, around (2**28, 0, 0) and (0, 2**28, 0): 1, 4 and 36 come out as 0, 0 and 32."""
    a, b = (8.0 * draw.ints(-1, 2, 2 * count, 3).double() for count in (n, m))
    a[:, 0] = 2.0**28 + torch.tensor([1.0, 2.0, 6.0], dtype=torch.float64)[torch.arange(2 * n) % 3]
    b[:, 0] = 2.0**28
    return _two_groups(a), _two_groups(b)


def _two_groups(points: torch.Tensor) -> torch.Tensor:
    """One half far along the first axis, the other along the second; along the other of the two, all are at 0."""
    first, second = points.chunk(2)
    none = torch.zeros_like(first[:, 0])
    return torch.cat([torch.stack([first[:, 0], none, first[:, 2]], 1), torch.stack([none, *second[:, [0, 2]].T], 1)])


def near_points(draw: Draw, n: int, d: int) -> tuple[torch.Tensor, torch.Tensor]:
    """n points, and the same in another order, every other one moved by less than float32 holds of its square."""
    points = draw.normal(n, d)
    moved = points.flip(0)
    moved[::2] += 1e-5 * draw.normal(*moved[::2].shape)
    return points, moved
