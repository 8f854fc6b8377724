"""`linear_mse`: find three bugs.

One bug at a time: where rows and columns hold the same numbers the wrong dim does no harm, and where all targets are
equal comparing each prediction with all of them does none.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, Requirement, exercise
from autograder.watching.probes.tensors import calling, result_only

from ._inputs import shifted_columns

own_target = Requirement("compares each prediction with its own target", result_only)
columns = Requirement("standardizes each column", result_only)
unchanged = Requirement("leaves x as it is", calling(), given=("returned",))
any_data = Requirement("gives the loss of any data", result_only, needs=(own_target, columns))


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
    for size in (n, d):
        x = same_in_rows_and_columns(draw, size)
        yield own_target(x, draw.normal(size, 1), draw.normal(size))
    level = draw.real(1.0, 3.0)
    for rows, cols in ((n, d), (d, n)):
        x, targets = shifted_columns(draw, rows, cols), torch.full((rows,), level)
        yield columns(x, draw.normal(cols, 1), targets)
    yield unchanged(same_in_rows_and_columns(draw, n), draw.normal(n, 1), torch.full((n,), level))
    yield any_data(torch.tensor([[1.0], [3.0]]), torch.tensor([[2.0]]), torch.tensor([-2.0, 2.0]))
    for rows in (n, 3 * n):
        x = shifted_columns(draw, rows, d)
        yield any_data(x, draw.normal(d, 1), draw.normal(rows))
    x, w, y = shifted_columns(draw, n, d).double(), draw.normal(d, 1, dtype=torch.float64), draw.normal(n)
    yield any_data(x, w, y.double())


def same_in_rows_and_columns(draw: Draw, size: int) -> torch.Tensor:
    """A (size, size) tensor each of whose rows and columns holds the same numbers in another order."""
    numbers = draw.normal(size) * 2 + torch.arange(size)
    index = torch.arange(size)
    return numbers[(index[:, None] + index) % size]
