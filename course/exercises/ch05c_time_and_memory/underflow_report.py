"""`underflow_report`: count the gradients that float16 loses, scale by scale, of a loss with given gradients."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from autograder.diagnosis.difference_messages import call_from_parts
from autograder.diagnosis.number_format import number_text
from autograder.diagnosis.value_format import shorten
from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, copy_case_data, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.seeded_draw import Draw


def report(*seen: str, warm: bool = False) -> Probe:
    """One report on a loss whose gradients are those of the case (None: that parameter has no part in it).

    Facets: `returned`, and `grads_kept`: whether each .grad is what it was, the same tensor. Only a `warm` one meets
    gradients that are there already, so that who lets backward add to them can show the rest.
    """

    def look(answer: Answer, case: Case) -> Observation:
        wanted, scales = copy_case_data(case.args)
        params = [torch.ones(3) if slope is None else torch.ones_like(slope) for slope in wanted]
        olds = [torch.full_like(param, 7.0) if warm else None for param in params]
        for param, old in zip(params, olds, strict=True):
            param.requires_grad_().grad = old

        def loss_fn() -> tuple[Tensor, list[Tensor]]:
            parts = [(param * slope).sum() for param, slope in zip(params, wanted, strict=True) if slope is not None]
            return torch.stack(parts).sum() + 1.5, params

        result = answer(loss_fn, scales)
        same = [
            p.grad is old and (old is None or bool((old == 7.0).all())) for p, old in zip(params, olds, strict=True)
        ]
        return {"returned": snapshot_value(result), "grads_kept": all(same)}

    return make_probe_recording_exceptions(look, *seen)


def _spelled(name: str, case: Case) -> str:
    """The gradients of a loss, one list for each parameter."""
    wanted, scales = case.args
    slopes = ["None" if one is None else f"[{', '.join(map(number_text, one.tolist()))}]" for one in wanted]
    return f"{call_from_parts(name, 'loss_fn', repr(scales))}, with gradients {shorten(', '.join(slopes))}"


returned = report("returned")
KEYS = {"returned:keys": "The keys of your dict are not the scales as they are given, which are floats."}
counts = Requirement(
    "counts what float16 turns to 0",
    returned,
    KEYS
    | {
        "returned": "Asked for is a share, from 0 to 1: of the gradients that are not 0, those that become 0 when they "
        "are turned to float16."
    },
)
each = Requirement(
    "gives a share for each scale",
    returned,
    KEYS
    | {"returned": "For each scale: of the gradients of scale * loss, turned to float16, those are lost that are 0."},
)
already = Requirement(
    "leaves out what is 0 in float32 already",
    returned,
    KEYS
    | {"returned": "What is 0 in float32 counts nowhere: neither among the lost nor among those that the share is of."},
    needs=(each,),
)
together = Requirement(
    "counts the entries of all parameters together",
    returned,
    KEYS
    | {"returned": "There is one share for all parameters: of all their entries, in one count, those that are lost."},
    needs=(each,),
)
unused = Requirement(
    "leaves out a parameter without a gradient",
    returned,
    KEYS | {"returned": "Where the loss does not depend on a parameter, the share is of the entries of the others."},
    needs=(each,),
)
empty = Requirement(
    "gives 0.0 where nothing is to be counted",
    returned,
    KEYS | {"returned": "Where no entry is to be counted, the share is 0.0."},
)
kept = Requirement(
    "leaves .grad as it was",
    report("grads_kept", "returned", warm=True),
    {"grads_kept": "After your report, the .grad of a parameter is not what it was. `autograd.grad` leaves it alone."},
    given=("returned",),
)


LOST = (-12.0, -8.0)  # powers of ten: gradients between these are 0 in float16
ROUNDED = (-7.5, -7.25)  # these are below its smallest number, and are rounded up to it
SMALLEST = (-7.2, -7.02)  # these are rounded down to it, and lie below 1e-7
TINY = (-7.0, -4.5)  # these float16 holds with few digits, below its smallest normal number
FINE = (-4.0, -1.0)  # these float16 holds well


@exercise(
    tier="core",
    hints=(
        "Which entries are counted at all? Those whose float32 gradient is not 0.",
        "The scale must come before float16: scale the loss, take the float32 gradients, then turn them to float16.",
        "`torch.autograd.grad(..., allow_unused=True)` leaves .grad alone, and gives None for one that has no part.",
    ),
    spelled=_spelled,
)
def underflow_report(draw: Draw) -> Iterator[Case]:
    """Count the gradients that float16 loses."""
    scales = [1.0, 2.0 ** draw.whole(5, 9), 2.0 ** draw.whole(14, 18)]
    yield counts([torch.tensor([1e-9, 1e-3])], [1.0])
    yield counts([_slopes(draw, (LOST, draw.whole(2, 9)), (TINY, 1), (FINE, draw.whole(2, 19)))], [1.0])
    yield counts([_slopes(draw, (LOST, draw.whole(2, 9)), (TINY, 4), (FINE, draw.whole(1, 19)))], [1.0])
    yield each([_slopes(draw, (LOST, 7), (TINY, 2), (FINE, 2))], scales)
    yield each([_slopes(draw, (LOST, 9), (ROUNDED, 2), (SMALLEST, 1))], scales[::-1])
    beyond = [_slopes(draw, ((-14.0, -13.0), draw.whole(2, 4)), (LOST, 2), ((0.5, 1.0), 3))]
    yield each(beyond, [1.0, 131072.0])  # of its gradients some are 0 and some inf then
    yield already([torch.tensor([1e-9, 1e-3, 0.0])], [1.0, 1024.0])
    for some in (_slopes(draw, (LOST, 3), (FINE, 4)), _slopes(draw, (LOST, 2), (TINY, 3))):
        yield already([torch.cat([torch.zeros(draw.whole(1, 4)), some])], [1.0, scales[2]])
    yield together([_slopes(draw, (LOST, 1), (FINE, 1)), _slopes(draw, (LOST, 3), (FINE, 2))], [1.0])
    yield together(
        [_slopes(draw, (FINE, draw.whole(4, 6))), _slopes(draw, (LOST, 2)), _slopes(draw, (TINY, 1))], scales
    )
    pair = _slopes(draw, (FINE, 1))
    yield together([torch.cat([pair, -pair]), _slopes(draw, (LOST, 2))], [1.0])  # one with a sum of 0
    yield unused([_slopes(draw, (LOST, 1), (FINE, draw.whole(2, 4))), None], [1.0])
    yield unused([None, _slopes(draw, (LOST, 2)), _slopes(draw, (FINE, 3))], [1.0, scales[1]])
    yield empty([torch.zeros(draw.whole(2, 5))], [1.0, scales[1]])
    yield kept([_slopes(draw, (LOST, 2), (FINE, draw.whole(2, 19))), _slopes(draw, (FINE, 2))], [1.0, scales[1]])


def _slopes(draw: Draw, *parts: tuple[tuple[float, float], int]) -> Tensor:
    """Gradients of both signs: between two powers of ten so many, between two others so many."""
    slopes = torch.cat([10 ** draw.uniform(count, low=low, high=high) for (low, high), count in parts])
    return slopes * (draw.bools(len(slopes)).float() * 2 - 1)
