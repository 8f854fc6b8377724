"""`batched_einsum`: multiply batches of matrices and vectors."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, Requirement, exercise
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import Answer, copy_of, see, watched
from autograder.watching.probes.tensors import entries


@watched
def flat_entries(answer: Answer, case: Case) -> Observation:
    """The numbers of each entry of a returned dict in one row; another requirement looks at shapes."""
    result = answer(*copy_of(case.args))
    if not isinstance(result, dict):
        return {"returned": see(result)}
    return {"returned": {str(key): _flat(value) for key, value in result.items()}}


def _flat(value: object) -> Plain:
    return see(value.reshape(-1) if isinstance(value, Tensor) else value)


four = Requirement("returns the four entries, right for 1 by 1 matrices", flat_entries)
products = (
    Requirement("product: each a times its b", entries("product")),
    Requirement("gram: each a times its own transpose", entries("gram")),
    Requirement("applied: each a times its v", entries("applied")),
    Requirement("total: the sum of the products over the batch", entries("total")),
)


@exercise(
    tier="core",
    hints=(
        "Name the dims with letters: a is `bnk`, b is `bkm`, v is `bk`. A letter that is missing behind "
        "the arrow is summed.",
        "For `gram` the two rows that meet need two letters: the same tensor goes in as `bik` and as `bjk`.",
        "`total` differs from `product` by one letter behind the arrow.",
    ),
)
def batched_einsum(draw: Draw) -> Iterator[Case]:
    """Multiply batches of matrices and vectors."""
    for _ in range(2):
        yield four(*operands(draw, 1, 1, 1, 1))
    for entry in products:
        batch, n, k, m = draw.sizes(4, 2, 6)
        yield entry(*operands(draw, batch, n, k, m))
        yield entry(*operands(draw, 1, n, k, m))
    for entry in products:
        yield entry(*operands(draw, 2, 3, 4, 5))


def operands(draw: Draw, batch: int, n: int, k: int, m: int) -> tuple[Tensor, ...]:
    """A batch of a, of b and of v."""
    return draw.normal(batch, n, k), draw.normal(batch, k, m), draw.normal(batch, k)
