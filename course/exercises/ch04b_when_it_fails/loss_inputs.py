"""`loss_inputs`: each head's loss takes another form of target."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    make_probe_recording_exceptions,
    observe_changed_arguments,
    snapshot_value,
    snapshot_without_requires_grad,
)
from autograder.exercises.seeded_draw import Draw


@make_probe_recording_exceptions
def head_loss(answer: Answer, case: Case) -> Observation:
    """The loss of a head, and the gradient that arrives at the model's output."""
    head, output, target = copy_case_data(case.args)
    loss = answer(head, output.requires_grad_(), target)
    if isinstance(loss, Tensor) and loss.requires_grad and loss.numel() == 1:
        loss.sum().backward()
    given = [head, output.detach(), target]
    return {
        "returned": snapshot_without_requires_grad(loss),
        "gradient": snapshot_value(output.grad),
        "inputs": observe_changed_arguments(case, given, {}),
    }


def of_head(sentence: str, asked: str) -> Requirement:
    """What is required of one head's loss, and what is told where it is another number, or has another gradient."""
    tells = {
        "returned": f"Your loss is another number than {asked}.",
        "gradient": f"The gradient is not that of {asked}.",
    }
    return Requirement(sentence, head_loss, tells)


digit = of_head(
    "digit: cross-entropy of logits",
    "the mean cross-entropy of these logits, which does the softmax itself, however large they are, with these labels",
)
marked = of_head(
    "marked: cross-entropy with a 1 at the label",
    "the mean cross-entropy of these logits, a row each, with the class at which the target's row has its 1",
)
letters = of_head(
    "letters: cross-entropy of each letter",
    "the mean over all letters of the cross-entropy of a letter's k logits, the last dim, with its label",
)
spam = of_head(
    "spam: binary cross-entropy of logits, however large they are",
    "the mean binary cross-entropy of these logits, which does the sigmoid itself, with nothing done to them before",
)
price = of_head(
    "price: each prediction meets its own target",
    "the mean of the squared differences, row by row: n of them, since a column minus a row would be a table",
)


@exercise(
    tier="core",
    independent=True,
    hints=(
        "Look up what each loss takes: logits or probabilities? labels or one-hot rows, in which dtype and shape?",
        "Two of the losses apply softmax or sigmoid themselves. argmax has no gradient.",
        "Cross-entropy wants the classes in dim 1: one row per letter does it. Print the shapes of the last head.",
    ),
)
def loss_inputs(draw: Draw) -> Iterator[Case]:
    """Give each loss what it takes."""
    k, n, length = draw.sizes(3, 3, 6)
    labels, ones = draw.ints(0, k, n), one_hot(draw.ints(0, k, n), k)
    written = 2 * draw.normal(n, length, k)
    yield digit("digit", torch.zeros(n, k), labels)
    yield digit("digit", 2 * draw.normal(n, k), labels)
    yield digit("digit", 2 * draw.normal(n, k), draw.ints(0, k - 1, n))  # the last class does not occur
    yield digit("digit", 300 * draw.normal(n, k), labels)
    yield marked("marked", 2 * draw.normal(n, k), ones)
    yield letters("letters", written, draw.ints(0, k, n, length))
    yield spam("spam", 3 * draw.normal(n), draw.bools(n).float())
    far = torch.cat([draw.uniform(2, low=150.0, high=250.0), -draw.uniform(2, low=50.0, high=90.0)])
    yield spam("spam", far, torch.tensor([0.0, 1.0, 1.0, 0.0]))
    yield price("price", draw.normal(n, 1), draw.normal(n))
    yield digit("digit", 2 * draw.normal(n, k, dtype=torch.float64), labels)
