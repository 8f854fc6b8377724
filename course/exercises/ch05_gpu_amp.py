"""The exercises of chapter 5: the bug hunt; three more modules hold the others.

Models, programs and devices stand in the cases by name, since a case is plain data. Everything runs on a CPU: the meta
device stands in for an accelerator, a fake one with a clock of its own for whatever takes time.
"""

from __future__ import annotations

from collections.abc import Iterator

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case
from autograder.watching.probe import in_part

from . import _ch05_calls as calls
from . import _ch05_hunt as hunt
from . import _ch05_stretch
from ._ch05_core import eighths
from ._ch05_hints import HINTS

__all__ = ["EXERCISES"]
EXERCISES = _ch05_stretch.EXERCISES

_PLACES = "AddPlaces makes its numbers where x is"
_KEEP = "the mask of KeepColumns moves along, and is not learned"
_STACK = "all layers of Stack move, and are learned"
_START = "start gives the optimizer the parameters of the model as it then is"
_BATCHES = "epoch moves its batches"
_LOSS = "epoch waits for no value, and returns the mean loss as a tensor without a record"
_PARTS = {
    _PLACES: hunt.part("places"),
    _KEEP: hunt.part("keep"),
    _STACK: hunt.part("stack"),
    _START: hunt.part("start"),
    _BATCHES: hunt.part("epoch: batches"),
    _LOSS: hunt.part("epoch: loss"),
}


@EXERCISES.add(
    "make_agnostic",
    tier="core",
    hints=HINTS["make_agnostic"],
    spelled=calls.hunting,
    probe=in_part(_PARTS, otherwise=hunt.any_mended),
    tells={
        "mended": "None of the five does yet what it should on another device.",
        "learned": "The count of numbers that are learned is not what it should be.",
        "left_behind": "After `.to`, these tensors of the module are still where they were (their shapes).",
        "fresh": "On the CPU, what comes out of a new module is not what it should be.",
        "input_kept": "The module changes the tensor that it is given.",
        "here": "On the CPU, what comes out is not what it should be.",
        "elsewhere": "On the meta device, what comes out is not what it should be.",
        "cpu": "On the CPU, what start leaves is not what it should be.",
        "meta": "On the meta device, what start leaves is not what it should be.",
        "held": "After the epoch, the parameters of the model are not what they should be.",
        "steps_elsewhere": "On the meta device, the optimizer is to step once for each batch.",
        "waits": "A value is asked for within epoch: a GPU would have to be waited for.",
    },
)
def make_agnostic(draw: Draw) -> Iterator[Case]:
    """Mend five parts that only work on the CPU."""
    n, d = draw.sizes(2, 4, 7)
    yield Case("one of the five at least is mended", eighths(draw, 4, d), draw.ints(0, 3, 4), 2)
    for length in draw.sizes(2, 2, 6):
        yield Case(_PLACES, eighths(draw, 2, length, d))
    yield Case(_KEEP, eighths(draw, n, d), sorted(draw.sizes(2, 0, 3)))
    yield Case(_KEEP, eighths(draw, 2, n, d), [draw.whole(0, 3)])
    yield Case(_STACK, eighths(draw, n, d), list(draw.sizes(3, 2, 5)))
    yield Case(_STACK, eighths(draw, n, d), [draw.whole(2, 5)])
    yield Case(_START, eighths(draw, n, d), draw.whole(2, 5))
    for requirement in (_BATCHES, _LOSS):
        for rows, size in ((5, 2), (4, 3)):  # few steps: each takes milliseconds on the meta device
            yield Case(requirement, eighths(draw, rows, d), draw.ints(0, 3, rows), size)
