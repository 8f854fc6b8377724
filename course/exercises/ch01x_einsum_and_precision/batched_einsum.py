"""`batched_einsum`: multiply batches of matrices and vectors."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import Answer, copy_case_data, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.probes.tensor_functions import make_returned_dict_entries_probe
from autograder.exercises.seeded_draw import Draw


@make_probe_recording_exceptions
def plain_entries(answer: Answer, case: Case) -> Observation:
    """The single number in each entry of a returned dict; another requirement looks at shapes."""
    result = answer(*copy_case_data(case.args))
    if not isinstance(result, dict):
        return {"returned": snapshot_value(result)}
    return {"returned": {str(key): _plain(value) for key, value in result.items()}}


def _plain(value: object) -> Plain:
    return snapshot_value(value.item() if isinstance(value, Tensor) and value.numel() == 1 else value)


four = Requirement(
    "returns the four entries, right for 1 by 1 matrices",
    plain_entries,
    tells={
        "returned:type": "One of the four is no tensor of the shape that is asked for: with all lengths 1, as here, it "
        "has one number.",
        "returned:values": "Here all lengths are 1, so that each of the four is a single plain product; one of yours "
        "is another.",
    },
)


def entry(key: str, what: str, shape: str, numbers: str) -> Requirement:
    """One of the four, and what to say where its shape is another one, or else its numbers."""
    return Requirement(
        f"{key}: {what}", make_returned_dict_entries_probe(key), {"returned:shape": shape, "returned:values": numbers}
    )


products = (
    entry(
        "product",
        "each a times its b",
        "`product` is to be (B, n, m): in each a, rows meet the columns of its b, and k alone is summed away.",
        "In `product`, a row of an a meets a column of the b at the same place in the batch; some number of yours "
        "is another.",
    ),
    entry(
        "gram",
        "each a times its own transpose",
        "`gram` is to be (B, n, n): each row of an a meets every row of the same a, and k alone is summed away.",
        "In `gram`, row i of an a meets row j of the same a; some number of yours is another.",
    ),
    entry(
        "applied",
        "each a times its v",
        "`applied` is to be (B, n): each row of an a meets its v, and k alone is summed away.",
        "In `applied`, the rows of an a meet the v at the same place in the batch; some number of yours is another.",
    ),
    entry(
        "total",
        "the sum of the products over the batch",
        "`total` is to be (n, m): of the products, the batch is summed away and nothing else.",
        "`total` has other numbers than the sum of the products over the batch.",
    ),
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
    yield four(*whole_operands(draw, 1, 1, 1, 1))
    yield four(*operands(draw, 1, 1, 1, 1))
    for product in products:
        batch, n, k, m = draw.sizes(4, 2, 6)
        yield product(*whole_operands(draw, batch, n, k, m))
        yield product(*operands(draw, 1, n, k, m))
    for product in products:
        yield product(*operands(draw, 2, 3, 4, 5))


def operands(draw: Draw, batch: int, n: int, k: int, m: int) -> tuple[Tensor, ...]:
    """A batch of a, of b and of v."""
    return draw.normal(batch, n, k), draw.normal(batch, k, m), draw.normal(batch, k)


def whole_operands(draw: Draw, *sizes: int) -> tuple[Tensor, ...]:
    """The same of small whole numbers, whose products a reader checks in the head."""
    a, b, v = operands(draw, *sizes)
    return tuple(draw.ints(1, 10, *tensor.shape).float() for tensor in (a, b, v))
