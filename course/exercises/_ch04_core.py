"""The exercises of chapter 4 about data, losses and small tools: data sets, padding, rates, clipping."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, ExerciseSet
from autograder.watching.probe import facets, in_part
from autograder.watching.probes.tensors import calling

from . import _ch04_calls as calls
from . import _ch04_data as data
from ._ch04_hints import HINTS

EXERCISES = ExerciseSet("ch04_training")


def doubles(draw: Draw, *shape: int) -> Tensor:
    """Standard normal numbers in float64."""
    return draw.normal(*shape, dtype=torch.float64)


_PAIR_PARTS = {
    "has as many items as there are rows": data.pairs("length"),
    "counts from the end with a negative place": data.pairs("from_end"),
    "raises IndexError beyond its ends": data.pairs("beyond"),
    "refuses inputs and targets of different length": data.unequal,
    "feeds a DataLoader": data.pairs("batches"),
}


@EXERCISES.add(
    "PairDataset",
    tier="core",
    hints=HINTS["PairDataset"],
    probe=in_part(_PAIR_PARTS, otherwise=data.pairs("items")),
    tells={
        "length": "`len` of the data set is not the number of rows.",
        "beyond": "Asked for a place that is not there, after the last or before the first, raise IndexError.",
        "refused": "Other lengths of x and y should be a ValueError when the data set is made.",
    },
)
def pair_dataset(draw: Draw) -> Iterator[Case]:
    """Make a data set of pairs."""
    for requirement in ("gives the pair at each place", *_PAIR_PARTS):
        n, d = draw.sizes(2, 3, 6)
        more = draw.whole(1, 2) if "different" in requirement else 0
        yield Case(requirement, draw.normal(n, d), draw.ints(0, 9, n + more))


_PAD, _DTYPE, _LENGTHS = "fills up with the number it is given", "keeps the dtype", "tells the lengths before"
_EMPTY = "allows an empty tensor, and a single one"


@EXERCISES.add(
    "collate_pad",
    tier="core",
    hints=HINTS["collate_pad"],
    probe=in_part({_LENGTHS: data.collated(1)}, otherwise=data.collated(0)),
)
def collate_pad(draw: Draw) -> Iterator[Case]:
    """Pad rows of different length."""
    yield Case("fills shorter rows up at their end", _rows(draw, 1, 3, 2))
    yield Case("fills shorter rows up at their end", _rows(draw, *draw.sizes(4, 1, 6)))
    yield Case(_PAD, _rows(draw, *draw.sizes(3, 1, 5)), pad=-draw.whole(1, 100))
    yield Case(_PAD, [row - row[0] for row in _rows(draw, *draw.sizes(3, 2, 5))], pad=draw.whole(51, 99))
    yield Case(_DTYPE, [row.double() / 4 for row in _rows(draw, *draw.sizes(3, 1, 5))])
    yield Case(_DTYPE, [row.float() / 4 for row in _rows(draw, 3, 1)], pad=draw.whole(1, 9) / 8)
    yield Case(_EMPTY, _rows(draw, 0, draw.whole(1, 4)))
    yield Case(_EMPTY, _rows(draw, draw.whole(2, 5)), pad=7)
    yield Case(_LENGTHS, _rows(draw, *draw.sizes(4, 0, 6)))


def _rows(draw: Draw, *lengths: int) -> list[Tensor]:
    """Whole numbers from 1 on: none of them is a usual pad."""
    return [draw.ints(1, 50, length) for length in lengths]


@EXERCISES.add("loss_inputs", tier="core", hints=HINTS["loss_inputs"], probe=data.head_loss)
def loss_inputs(draw: Draw) -> Iterator[Case]:
    """Give each loss what it takes."""
    k, n, length = draw.sizes(3, 3, 6)
    labels, marked = draw.ints(0, k, n), one_hot(draw.ints(0, k, n), k)
    letters = 2 * draw.normal(n, length, k)
    yield Case("digit: cross-entropy of logits", "digit", 2 * draw.normal(n, k), labels)
    yield Case("marked: cross-entropy with a 1 at the label", "marked", 2 * draw.normal(n, k), marked)
    yield Case("letters: cross-entropy of each letter", "letters", letters, draw.ints(0, k, n, length))
    yield Case("spam: binary cross-entropy of logits", "spam", 3 * draw.normal(n), draw.bools(n).float())
    yield Case("price: each prediction meets its own target", "price", draw.normal(n, 1), draw.normal(n))


_COSINE, _END, _COLD = "follows half a cosine", "ends at min_lr, and stays there", "does without a warm-up"


@EXERCISES.add("lr_at", tier="core", hints=HINTS["lr_at"], probe=facets(calling(), "returned"))
def lr_at(draw: Draw) -> Iterator[Case]:
    """Follow a schedule."""
    rates = {"base_lr": draw.real(0.2, 0.9), "min_lr": draw.real(0.02, 0.1)}
    warmup, rest = draw.whole(4, 6), draw.whole(8, 12)
    plan: dict[str, Any] = rates | {"warmup_steps": warmup, "total_steps": warmup + rest}
    for step in (1, 0, warmup - 1):
        yield Case("warms up in equal parts", step, **plan)
    for step in (warmup, warmup + 1, warmup + rest // 2, warmup + rest - 1):
        yield Case(_COSINE, step, **plan)
    for step in (warmup + rest, warmup + rest + draw.whole(2, 5)):
        yield Case(_END, step, **plan)
    for step in (0, draw.whole(2, 5)):
        yield Case(_COLD, step, **plan | {"warmup_steps": 0})


_SHORT, _RETURNS, _PLACE = "leaves short gradients as they are", "returns the norm before, as a float", "works in place"
_NONE, _ONCE = "leaves out what has no gradient", "takes a generator"


@EXERCISES.add(
    "clip_grad_norm",
    tier="core",
    hints=HINTS["clip_grad_norm"],
    spelled=calls.clipping,
    probe=in_part(
        {
            _RETURNS: data.clipped("returned"),
            _PLACE: data.clipped("in_place"),
            _NONE: data.clipped("returned", "grads"),
            _ONCE: data.clipped("returned", "grads", generator=True),
        },
        otherwise=data.clipped("grads"),
    ),
    tells={"in_place": "A .grad is another tensor than before. Change the one that is there."},
)
def clip_grad_norm(draw: Draw) -> Iterator[Case]:
    """Shorten gradients that are too long."""
    n, d = draw.sizes(2, 2, 5)

    def grads() -> list[Tensor]:
        return [3 * doubles(draw, n, d), 2 + doubles(draw, d)]

    limit = draw.real(0.5, 1.5)
    yield Case("shortens all gradients together", grads(), limit)
    yield Case("shortens all gradients together", [doubles(draw, n, d), torch.zeros(3), 9 + doubles(draw, 1)], limit)
    yield Case(_SHORT, [0.01 * grad for grad in grads()], limit)
    yield Case(_RETURNS, grads(), limit)
    yield Case(_RETURNS, [0.01 * grad for grad in grads()], limit)
    yield Case(_PLACE, grads(), limit)
    first, second = grads()
    yield Case(_NONE, [None, first, None, second], limit)
    yield Case(_NONE, [None, None], limit)
    yield Case(_ONCE, grads(), limit)
