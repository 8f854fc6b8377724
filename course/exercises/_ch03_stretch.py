"""The stretch exercises of chapter 3: Dropout, BatchNorm1d, and shapes without numbers."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case
from autograder.watching.probe import in_part

from . import _ch03_calls as calls
from . import _ch03_chance as chance
from . import _ch03_core
from . import _ch03_functions as functions
from . import _ch03_norm as norm
from ._ch03_hints import HINTS
from ._ch03_probes import ready_made

__all__ = ["EXERCISES"]
EXERCISES = _ch03_core.EXERCISES

_SCALED = "divides the others by 1 - p"
_SINGLY = "drops each number independent of the others"
_CALM = "drops nothing in eval mode"
_ANEW = "draws anew at each call, and never seeds"
_GENTLY = "keeps dtype, gradient and x as they should be"


@EXERCISES.add(
    "Dropout",
    tier="stretch",
    hints=HINTS["Dropout"],
    spelled=calls.made_and_called,
    probe=in_part(
        {
            _SCALED: chance.drops_scaled,
            _SINGLY: chance.drops_singly,
            _CALM: chance.drops_in_training_only,
            _ANEW: chance.drops_anew,
            _GENTLY: chance.drops_gently,
        },
        otherwise=chance.drops_share,
    ),
    rules=(
        ready_made(
            *("Dropout", "dropout", "dropout_", "Dropout1d", "dropout1d", "alpha_dropout", "native_dropout"),
            requirement="does without ready-made dropout",
            sentence="You use a ready-made dropout. Here you draw the mask yourself.",
        ),
    ),
    tells={
        "share": "The share of numbers that you set to 0 is not p.",
        "factors": "The numbers that stay are not multiplied by 1 / (1 - p).",
        "rows_mixed": "Whole rows are dropped, or kept.",
        "columns_mixed": "Whole columns are dropped, or kept.",
        "count_varies": "You drop the same number of entries each time; such draws are not independent.",
        "in_eval": "In eval mode the result is not x.",
        "after_train": "After eval mode, back in training, nothing is dropped any more.",
        "anew": "Two calls in a row drop the same numbers.",
        "global": "The same seed of torch's global generator gives other numbers.",
        "untouched": "After your call torch's global generator goes on from one place, whatever its seed was.",
        "unchanged": "Your code changes x in place.",
        "flows": "The gradient is not 1 / (1 - p) where numbers stay, and 0 where they are dropped.",
    },
)
def dropout(draw: Draw) -> Iterator[Case]:
    """Drop numbers in training."""
    basic = "drops about a share p of the numbers in training"
    for requirement in (basic, basic, _SCALED, _SINGLY, _CALM, _ANEW, _GENTLY):
        yield Case(requirement, draw.choice([0.2, 0.3, 0.4, 0.6, 0.7]), x=(draw.whole(30, 40), draw.whole(41, 50)))
    yield Case(_SCALED, 0.0, x=(draw.whole(3, 9), draw.whole(3, 9)))


_REGISTERS = "holds weight and bias as parameters, the running values as buffers"
_RUNNING = "moves the running values toward those of each batch"
_EVAL = "uses the running values in eval mode, and leaves them"
_FLOWS = "lets the gradient flow through mean and variance"
_NO_GRAPH = "keeps no graph in the running values"


@EXERCISES.add(
    "BatchNorm1d",
    tier="stretch",
    hints=HINTS["BatchNorm1d"],
    spelled=calls.made_and_called,
    probe=in_part(
        {
            _REGISTERS: norm.registered,
            _FLOWS: norm.gradients,
            _RUNNING: norm.running,
            _EVAL: norm.in_eval,
            _NO_GRAPH: norm.without_graph,
        },
        otherwise=norm.in_training,
    ),
    rules=(
        ready_made(
            *("BatchNorm1d", "batch_norm", "native_batch_norm", "BatchNorm2d", "SyncBatchNorm", "LazyBatchNorm1d"),
            requirement="does without ready-made batch norm",
            sentence="You use a ready-made batch norm. Here you write down the formula yourself.",
        ),
    ),
    tells={
        "parameters": "The parameters are not a weight of ones and a bias of zeros.",
        "buffers": "The buffers are not a running_mean of zeros and a running_var of ones.",
        "scaled": "The values with another weight and bias are not right.",
        "to_x": "The gradient that arrives at x is not right: mean and variance depend on x as well.",
        "to_weight": "The gradient that arrives at weight is not right.",
        "to_bias": "The gradient that arrives at bias is not right.",
        "in_eval": "In eval mode, the values are not those from the running mean and variance.",
        "moved": "The running values change in eval mode.",
        "tracked": "A running value is tracked: it keeps the graphs of all batches so far.",
    },
)
def batch_norm(draw: Draw) -> Iterator[Case]:
    """Write batch norm."""
    n, rows, others = draw.sizes(3, 2, 7)

    def batch(size: int) -> Tensor:
        return draw.normal(size, n, dtype=torch.float64) * 2 + torch.arange(n) - 1

    basic = "standardizes each feature over the batch in training"
    yield Case(basic, n, x=batch(rows))
    yield Case(basic, n, x=batch(others) * 1e-3)
    yield Case(basic, n, x=batch(rows).float())
    yield Case(_REGISTERS, n, x=batch(rows))
    yield Case(_FLOWS, n, x=batch(others + 1))
    yield Case(_RUNNING, n, x=batch(rows))
    yield Case(_RUNNING, n, batches=[batch(others), batch(rows), batch(others)])
    yield Case(_EVAL, n, batches=[batch(rows), batch(1)])
    yield Case(_NO_GRAPH, n, x=batch(rows))


_LEAVES = "lists leaves only, at any depth"
_AS_RUN = "follows the order of running, and lists twice what runs twice"
_ALONE = "lists a module that is a leaf itself"
_META = "runs the module once, on the meta device"
_LEFT = "leaves the module as it was"


@EXERCISES.add(
    "shape_trace",
    tier="stretch",
    hints=HINTS["shape_trace"],
    spelled=calls.on_module,
    probe=in_part({_META: functions.traced_on, _LEFT: functions.tracing_leaves}, otherwise=functions.traced),
    tells={
        "met": "What a layer in the module met is not one float32 input on the meta device.",
        "left": "The shapes are right, but the module is no longer as it was.",
    },
    seconds=60.0,  # the first number that is not computed on the meta device makes torch import its compiler
)
def shape_trace(draw: Draw) -> Iterator[Case]:
    """Find all shapes without computing a number."""
    a, b, c, n = draw.sizes(4, 2, 9)
    yield Case("lists names and output shapes", "two layers", a, b, c, [n, a])
    yield Case("lists names and output shapes", "images", b, [n, b, 8, 6 + c])
    yield Case(_LEAVES, "nested layers", a, b, c, [c, n, a])
    yield Case(_AS_RUN, "a layer that runs several times", a, draw.whole(2, 3), [n, a])
    yield Case(_ALONE, "a linear layer", a, b, [n, a])
    yield Case(_META, "two layers", a, b, c, [n, a])
    yield Case(_LEFT, "layers with batch norm", a, b, c, [n, a])
