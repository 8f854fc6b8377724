"""`train_step`: one step of training, its five lines."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from torch import Tensor, float64, tensor

from autograder.diagnosis.difference_messages import tensor_placeholder
from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probes.training_fixtures import FROZEN_BATCH_NORM_SUFFIX, IN_EVAL_SUFFIX
from autograder.exercises.probes.training_steps import (
    BROADCAST_LOSS_MESSAGES,
    GRADIENTS_NOT_CLEARED_MESSAGES,
    make_training_step_probe,
)
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_LOSS_MESSAGES, with_detached_loss_facet
from autograder.exercises.representation_mismatch import ROUNDED_MESSAGE
from autograder.exercises.seeded_draw import Draw

_HELD = "After your step, the parameters or buffers are not what they should be."

moves = Requirement(
    "moves the parameters against the gradient",
    with_detached_loss_facet(make_training_step_probe("spread", "held")),
    tells=DETACHED_LOSS_MESSAGES
    | BROADCAST_LOSS_MESSAGES
    | {
        "held": f"{_HELD} They move once, by the step of the optimizer that is given, along the gradient of "
        "criterion(prediction, y_batch), both as they are."
    },
)
clears = Requirement(
    "clears old gradients, and keeps the optimizer's memory",
    make_training_step_probe("held", "later", warm=True),
    tells=GRADIENTS_NOT_CLEARED_MESSAGES
    | {
        "held": f"{_HELD} Here .grad still holds an old gradient when you begin, and the optimizer remembers earlier "
        "steps: the first must go, the second stay.",
    },
)
in_grad = Requirement(
    "leaves the gradient of this batch in .grad",
    make_training_step_probe("grads", "arrived", warm=True),
    tells={
        "grads": "After your step, .grad does not hold the gradient of this batch alone.",
        "arrived": "No gradient has reached the parameters.",
    },
)
loss_before = Requirement(
    "returns the loss before the step, as a float",
    make_training_step_probe("rounded", "returned"),
    tells={
        "rounded": ROUNDED_MESSAGE,
        "returned": "You return another number than criterion(prediction, y_batch), once, from before the step.",
    },
)
once = Requirement(
    "calls the model and the criterion once",
    make_training_step_probe("forwards", "criterion"),
    tells={
        "forwards": "The model itself is to be called once: `model(x_batch)`. Its hooks saw something else.",
        "criterion": "The criterion is to be called once, with the prediction and then y_batch, as it is.",
    },
)
mode = Requirement(
    "leaves the model in its mode",
    make_training_step_probe("modes", "grads", warm=True),
    tells={
        "modes": "These modules are in train mode after your step, and they are not the same as before it.",
        "grads": "Of a model with dropout and batch norm, .grad is not what one forward pass, in the model's own mode, "
        "and one backward leave in it.",
    },
    given=("grads",),
)


def stepping(name: str, case: Case) -> str:
    """The call, with a model, an optimizer and a batch."""
    model, optimizer, x, y = case.args
    batch = f"{tensor_placeholder('x_batch', x)}, {tensor_placeholder('y_batch', y)}"
    return f"{name}(<{model}>, <{optimizer}>, criterion, {batch})"


@exercise(
    tier="core",
    hints=(
        "Five lines: clear, predict, compare, backward, step. Where must the clearing stand so that .grad is right?",
        "Call the model, not its `forward`. The criterion takes the prediction first.",
        "`item()` makes a float of the loss. The model's mode is the caller's business.",
    ),
    spelled=stepping,
)
def train_step(draw: Draw) -> Iterator[Case]:
    """Do one step of training."""
    n, d = draw.sizes(2, 3, 6)
    doubles = partial(draw.normal, dtype=float64)

    def batch() -> tuple[Tensor, Tensor]:
        return doubles(n, d), doubles(n, 1)

    example = "linear, weight 2 and bias 0", "SGD", tensor([[1.0]]), tensor([[5.0]])
    yield moves(*example)
    yield moves("linear", "SGD", *batch())
    yield moves("two layers", "Adam", *batch())
    x, y = batch()
    yield moves("linear", "SGD", 50 * x, 50 * y)  # a gradient that is long, as nobody shortens it
    yield clears("two layers", "SGD with momentum", *batch())
    yield clears("two layers", "Adam", *batch())
    yield in_grad("two layers", "SGD with momentum", *batch())
    yield loss_before(*example)
    yield loss_before("linear", "SGD", *batch())
    yield loss_before("dropout", "Adam", *batch())
    x = doubles(n, d)  # and a loss of which four decimals are 0
    yield loss_before("linear, weight 2 and bias 0", "SGD", x, 2 * x.sum(dim=1, keepdim=True) + draw.real(0.004, 0.006))
    yield once("dropout and batch norm", "SGD", *batch())
    yield mode("dropout and batch norm", "SGD with momentum", *batch())
    yield mode(f"dropout and batch norm{IN_EVAL_SUFFIX}", "SGD", *batch())
    yield mode(f"dropout and batch norm{FROZEN_BATCH_NORM_SUFFIX}", "Adam", *batch())
