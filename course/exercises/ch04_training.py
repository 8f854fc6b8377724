"""The exercises of chapter 4: one step, evaluation, diagnosis, the bug hunt; three more modules hold the others.

Models, optimizers and faults stand in the cases by name, since a case is plain data.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case
from autograder.watching.probe import in_part

from . import _ch04_calls as calls
from . import _ch04_loops as loops
from . import _ch04_steps as steps
from . import _ch04_trainings
from ._ch04_core import doubles
from ._ch04_hints import HINTS
from ._ch04_models import FROZEN, IN_EVAL
from ._ch04_trials import diagnosed

__all__ = ["EXERCISES"]
EXERCISES = _ch04_trainings.EXERCISES

_STALE = "clears old gradients, and keeps the optimizer's memory"
_IN_GRAD = "leaves the gradient of this batch in .grad"
_LOSS = "returns the loss before the step, as a float"
_ONCE = "calls the model and the criterion once"
_MODE = "leaves the model in its mode"


@EXERCISES.add(
    "train_step",
    tier="core",
    hints=HINTS["train_step"],
    spelled=calls.stepping,
    probe=in_part(
        {
            _STALE: steps.one_step("held", warm=True),
            _IN_GRAD: steps.one_step("grads", "arrived", warm=True),
            _LOSS: steps.one_step("returned"),
            _ONCE: steps.one_step("forwards", "criterion"),
            _MODE: steps.one_step("modes", "held", warm=True),
        },
        otherwise=steps.one_step("held"),
    ),
    tells={
        "held": "After your step, the parameters or buffers are not what they should be.",
        "grads": "After your step, .grad does not hold the gradient of this batch alone.",
        "arrived": "No gradient has reached the parameters.",
        "forwards": "The model itself is to be called once: `model(x_batch)`. Its hooks saw something else.",
        "criterion": "The criterion is to be called once, with the prediction and then y_batch.",
        "modes": "A module is in another mode than before: train mode is True, eval mode is False.",
    },
)
def train_step(draw: Draw) -> Iterator[Case]:
    """Do one step of training."""
    n, d = draw.sizes(2, 3, 6)

    def batch() -> tuple[Tensor, Tensor]:
        return doubles(draw, n, d), doubles(draw, n, 1)

    yield Case("moves the parameters against the gradient", "linear", "SGD", *batch())
    yield Case("moves the parameters against the gradient", "two layers", "Adam", *batch())
    yield Case(_STALE, "two layers", "SGD with momentum", *batch())
    yield Case(_STALE, "two layers", "Adam", *batch())
    yield Case(_IN_GRAD, "two layers", "SGD with momentum", *batch())
    yield Case(_LOSS, "linear", "SGD", *batch())
    yield Case(_LOSS, "dropout", "Adam", *batch())
    yield Case(_ONCE, "dropout and batch norm", "SGD", *batch())
    yield Case(_MODE, "dropout and batch norm", "SGD with momentum", *batch())
    yield Case(_MODE, f"dropout and batch norm{IN_EVAL}", "SGD", *batch())
    yield Case(_MODE, f"dropout and batch norm{FROZEN}", "Adam", *batch())


_UNEQUAL = "counts each sample once when the last batch is smaller"
_FLOATS = "returns plain floats"
_IN_EVAL = "evaluates in eval mode, and changes nothing"
_BACK = "puts every submodule back into its mode"
_NO_GRAPH = "records no graph"


@EXERCISES.add(
    "evaluate",
    tier="core",
    hints=HINTS["evaluate"],
    spelled=calls.evaluating,
    probe=in_part(
        {
            _FLOATS: steps.evaluated("types"),
            _IN_EVAL: steps.evaluated("returned", "left"),
            _BACK: steps.evaluated("modes"),
            _NO_GRAPH: steps.evaluated("tracked"),
        },
        otherwise=steps.evaluated("returned"),
    ),
    tells={
        "types": "Both values should be plain floats.",
        "left": "Something of the model changed: evaluation should leave it as it is.",
        "modes": "Afterwards, a module is in another mode than before: train mode is True, eval mode is False.",
        "tracked": "The model's predictions are tracked: a graph was recorded that nobody needs.",
    },
)
def evaluate(draw: Draw) -> Iterator[Case]:
    """Measure a model."""

    def samples(n: int, batch_size: int) -> tuple[Tensor, Tensor, int]:
        return 2 * doubles(draw, n, 3), draw.ints(0, 3, n), batch_size

    yield Case("gives the loss and accuracy of one batch", "linear", *samples(7, 7))
    yield Case("gives the loss and accuracy of one batch", "two layers", *samples(8, 8))
    yield Case(_UNEQUAL, "linear", *samples(draw.choice([7, 10, 13]), 3))
    yield Case(_UNEQUAL, "two layers", *samples(draw.choice([9, 13]), 4))
    yield Case(_FLOATS, "linear", *samples(8, 4))
    yield Case(_IN_EVAL, "dropout and batch norm", *samples(8, 4))
    for mode in ("", IN_EVAL, FROZEN):
        yield Case(_BACK, f"dropout and batch norm{mode}", *samples(6, 3))
    yield Case(_NO_GRAPH, "two layers", *samples(6, 3))


_TRIALS = {
    "tells a sound trial from one without a step": ("sound", "optimizer.step is missing"),
    "finds shuffled labels": ("labels in another order each time",),
    "finds a frozen parameter": ("first layer frozen", "last bias frozen"),
    "finds parameters that the optimizer does not have": (
        "optimizer made for a copy",
        "optimizer without the last bias",
    ),
    "finds a step that moves nothing": ("gradients cleared before the step",),
    "finds a learning rate that is too low or too high": ("learning rate 0.00001", "learning rate 100"),
    "does not suspect what is sound": ("sound: two groups in Adam", "sound: the last layer begins at 0"),
}


@EXERCISES.add(
    "overfit_one_batch",
    tier="core",
    hints=HINTS["overfit_one_batch"],
    spelled=calls.examining,
    probe=diagnosed,
    seconds=60.0,
)
def overfit_one_batch(draw: Draw) -> Iterator[Case]:
    """Find out why one batch cannot be learned."""
    for requirement, names in _TRIALS.items():
        for name in names:
            yield Case(requirement, name, draw.whole(0, 9999))


_LOOPS = {
    "loop a learns": "a",
    "loop b learns": "b",
    "loops d and e learn": "de",
    "loops g and h learn": "gh",
    "loop f learns": "f",
    "loop c learns": "c",
}
_STEPS = {"c": 240, "f": 110, "h": 60}


@EXERCISES.add(
    "broken_loops",
    tier="core",
    hints=HINTS["broken_loops"],
    spelled=calls.looping,
    probe=loops.loop_run,
    compare=loops.compare_loops,
    tells={
        "learned": "The last losses of this loop are not a small part of the first.",
        "trained": "The losses fall, but the model that was given has not learned.",
        "optimizers": "The loop should keep its kind of optimizer.",
    },
    rules=(loops.few,),
    seconds=60.0,
)
def broken_loops(draw: Draw) -> Iterator[Case]:
    """Mend eight broken loops."""
    for requirement, letters in _LOOPS.items():
        for letter in letters:
            yield Case(requirement, letter, *loops.line_data(draw), _STEPS.get(letter, 28))
