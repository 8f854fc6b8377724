"""`accumulate`: get the gradient of a large batch from small ones."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from autograder.diagnosis.difference_messages import call_from_parts
from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    make_probe_recording_exceptions,
    names_of_changed_values,
    snapshot_value,
    snapshot_without_requires_grad,
)
from autograder.exercises.probes.gradients import Function, fill_old_grads
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_LOSS_MESSAGES, with_detached_loss_facet
from autograder.exercises.seeded_draw import Draw


def accumulated(*kept: str, old: bool = False, times: int = 1) -> Probe:
    """The gradients that are returned, those left in .grad, what became of the parameters, the calls of the loss."""

    def look(answer: Answer, case: Case) -> Observation:
        batches, tensors = copy_case_data(case.args)
        params: list[Tensor] = [nn.Parameter(tensor) for tensor in tensors]
        for param in params if old else ():
            fill_old_grads(param)
        start = {"params": [snapshot_without_requires_grad(param) for param in params]}
        loss = mean_loss(params)
        calls: list[int] = []

        def loss_fn(batch: Tensor) -> Tensor:
            calls.append(len(batch))
            return loss(batch)

        results = [_as_list(answer(loss_fn, batches, params)) for _ in range(times)]
        return {
            "factor": _factor(results[0], params, batches) if "factor" in kept else 1.0,
            "returned": results[0],
            "again": results[1:],
            "in_grad": [snapshot_value(param.grad) for param in params],
            "called_with": sorted(calls),
            "moved": bool(
                names_of_changed_values(start, {"params": [snapshot_without_requires_grad(param) for param in params]})
            ),
        }

    return make_probe_recording_exceptions(look, *kept)


def _as_list(result: object) -> Plain:
    seen = snapshot_value(result)
    return list(seen) if isinstance(seen, tuple) else seen


def _factor(result: Plain, params: list[Tensor], batches: list[Tensor]) -> float:
    """How many times as long as the right gradients those of a result are; 1 where they point elsewhere or are none."""
    fresh = [param.detach().clone().requires_grad_() for param in params]
    right = torch.cat([grad.flatten() for grad in torch.autograd.grad(mean_loss(fresh)(torch.cat(batches)), fresh)])
    grads = result if isinstance(result, list) else []
    if [getattr(grad, "shape", None) for grad in grads] != [tuple(param.shape) for param in params]:
        return 1.0
    mine = torch.cat([grad.values.double().flatten() for grad in grads])
    factor = float(mine @ right / (right @ right))
    return factor if torch.allclose(mine, factor * right, rtol=1e-3, atol=1e-6) else 1.0


def mean_loss(params: list[Tensor]) -> Function:
    """The mean squared error of a linear model; the last column of a batch holds the targets."""
    weight, bias = params
    return lambda batch: ((batch[:, :-1] @ weight + bias - batch[:, -1]) ** 2).mean()


def spelled(name: str, case: Case) -> str:
    """Batches are told by their rows."""
    batches, _ = case.args
    rows = ", ".join(str(len(batch)) for batch in batches)
    return call_from_parts(
        name, "loss_fn", f"<{'batches' if len(batches) > 1 else 'a batch'} of {rows} rows>", "params"
    )


_FACTOR = (
    "Your gradients are the right ones times one and the same number, 0 perhaps, where 1 is wanted: by what is a loss "
    "multiplied or divided that should not be, or not by that?"
)
single = Requirement(
    "gives the gradients for a single batch",
    with_detached_loss_facet(accumulated("factor", "returned")),
    tells=DETACHED_LOSS_MESSAGES
    | {
        "factor": _FACTOR,
        "returned:values": "Already for a single batch these are not the gradients of its mean loss.",
    },
)
unequal = Requirement(
    "counts every row alike in batches of different sizes",
    accumulated("factor", "returned"),
    tells={
        "factor": _FACTOR,
        "returned:values": "For one batch you are right, and for several these are not the gradients of the mean "
        "over all rows: each batch is to count, and by its share of the rows.",
    },
)
no_old = Requirement(
    "does not count an old .grad, nor that of an earlier call",
    accumulated("returned", "again", old=True, times=2),
    tells={
        "returned:values": "With a .grad that was there before, your gradients are others: it still counts.",
        "again": "A second call with the same parameters gives other gradients: the first one left "
        "something behind, in .grad or in the parameters themselves.",
    },
)
in_grad = Requirement(
    "leaves each gradient in .grad too",
    accumulated("in_grad", old=True),
    tells={"in_grad": "In the end .grad of a parameter does not hold its gradient of the mean over all rows."},
)
called_once = Requirement(
    "calls loss_fn once per batch, and leaves the parameters where they are",
    accumulated("called_with", "moved"),
    tells={
        "called_with": "`loss_fn` is to be called once for each batch, on that batch.",
        "moved": "The parameters themselves have changed. Only their .grad is to be filled.",
    },
)


@exercise(
    tier="core",
    spelled=spelled,
    hints=(
        "A batch's mean loss counts each of its rows as 1 / rows. It should count as 1 / (all rows).",
        "Scale each loss before its backward; backward adds the gradients up for you.",
        "What stands in .grad when you come must go, once, before the first backward.",
    ),
)
def accumulate(draw: Draw) -> Iterator[Case]:
    """Get the gradient of a large batch from small ones."""
    features = draw.whole(2, 4)
    yield single(*whole_batches(draw, features, 4))
    yield unequal(*whole_batches(draw, features, 1, 3))
    yield unequal(*batches(draw, features + 1, *draw.sizes(3, 1, 6)))
    yield no_old(*batches(draw, features, 4))
    yield in_grad(*batches(draw, features, 5))
    yield in_grad(*batches(draw, features, 2, 3))
    yield called_once(*batches(draw, features, *draw.sizes(2, 2, 5)))


def batches(draw: Draw, features: int, *rows: int) -> tuple[list[Tensor], list[Tensor]]:
    """Batches whose last column is the target, and the parameters of a linear model: weights and bias."""
    drawn = [draw.normal(n, features + 1, dtype=torch.float64) + i for i, n in enumerate(rows)]
    return drawn, [draw.normal(features, dtype=torch.float64), draw.normal(1, dtype=torch.float64)]


def whole_batches(draw: Draw, features: int, *rows: int) -> tuple[list[Tensor], list[Tensor]]:
    """The same in whole numbers, of which 4 rows have gradients that one can read; no prediction is its target."""
    drawn = [torch.cat([draw.ints(0, 4, n, features), -draw.ints(0, 4, n, 1)], dim=1).double() for n in rows]
    return drawn, [draw.ints(1, 4, features).double(), draw.ints(1, 4, 1).double()]
