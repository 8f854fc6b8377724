"""`resume_training`: a training that can be stopped, and gone on with as if nothing had happened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation, Plain, TensorSnapshot
from autograder.exercises.probe import Answer, snapshot_value
from autograder.exercises.probes.training_runs import make_resumed_training_probe, make_training_run_probe
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_LOSS_MESSAGES, with_detached_loss_facet
from autograder.exercises.representation_mismatch import ROUNDED_MESSAGE
from autograder.exercises.seeded_draw import Draw

from .._ch06_training import (
    BATCHES,
    IN_ORDER,
    KEYS,
    MEAN,
    MODES,
    OUTPUTS,
    SHARE,
    Training,
    case_of,
    on_device,
    training,
)

_RESUMED = OUTPUTS | {
    "epochs": "After a resume, the list of losses is too short or too long: one for each epoch from epoch 0 on, "
    "`epochs` in all.",
    "batches:length": "After a resume, the optimizer takes another number of steps than one for each batch of the "
    "epochs that are left. `epochs` counts all of them, also those of the checkpoint.",
    "batches": "After a resume, other images come to the model before a step than in a training that is not stopped "
    "(counted from 0): their order does not go on.",
    "epochs:type": 'Under "losses" there is to be a list.',
    "same_weights": "The training that was stopped and gone on with is not, bit for bit, the one that was not stopped: "
    "weights, optimizer, orders or torch's own generator are not where they were at the stop.",
    "same_losses": "The weights are those of a training that was not stopped, but the losses are not: first those of "
    "the checkpoint, then those of the new epochs.",
    "same_accuracies": "The weights are those of a training that was not stopped, but the accuracies are not: first "
    "those of the checkpoint, then those of the new epochs.",
    "rounded": ROUNDED_MESSAGE,
    "losses": "The losses are the same with a stop and without one, but they are not those of this training.",
    "accuracies": "The accuracies are the same with a stop and without one, but they are not those of this training.",
}


class _Stopped(Training):
    """A training of which the numbers are told, whatever holds them: that they are floats is asked for elsewhere."""

    def checkpoint_facts(self, checkpoint: Any) -> Observation:
        return {name: _numbers(seen) for name, seen in super().checkpoint_facts(checkpoint).items()}


def _numbers(seen: Plain) -> Plain:
    """What was seen, with the number that each tensor of a list holds in its place."""
    if not isinstance(seen, list):
        return seen
    return [
        one.values.item() if isinstance(one, TensorSnapshot) and one.values is not None and one.shape == () else one
        for one in seen
    ]


def _gone_on_with(**how: bool) -> Probe:
    """A training that is stopped and gone on with: how many epochs it tells of, and what of it is the same."""
    look = make_resumed_training_probe(_Stopped, **how)

    def told(answer: Answer, case: Case) -> Observation:
        seen = look(answer, case)
        if "same" not in seen:
            return seen
        same, losses = seen.pop("same"), seen["losses"]
        told = {"epochs": len(losses) if isinstance(losses, list) else snapshot_value(losses)}
        told |= {"batches": seen.pop("batches")}
        return told | {f"same_{name}": same[name] for name in ("weights", "losses", "accuracies")} | seen

    return told


whole = Requirement(
    "trains as `train` does when nothing is stopped",
    with_detached_loss_facet(make_training_run_probe(Training)),
    DETACHED_LOSS_MESSAGES | KEYS | BATCHES | IN_ORDER | MODES | MEAN | SHARE,
)
goes_on = Requirement("goes on bit for bit, with another model", _gone_on_with(), _RESUMED)
keeps = Requirement("gives a checkpoint that keeps", _gone_on_with(saved=True, reused=True), _RESUMED)


@exercise(
    tier="core",
    hints=(
        "Begin with a copy of your `train`, and let it return its two lists in a dict. Then list what else changes "
        "during an epoch: all of that belongs in the checkpoint.",
        "Five things belong in it: the states of the model, the optimizer, the generator of the order and torch's "
        "own generator, and the two lists.",
        "`while len(losses) < epochs` runs the epochs that are missing. Use `copy.deepcopy` on all that you save, "
        "and on the optimizer's state when you load it.",
    ),
    seconds=60.0,
    spelled=training,
)
def resume_training(draw: Draw) -> Iterator[Case]:
    """Train, stop, and go on."""
    layered = "dropout and batch norm"
    yield case_of(draw, whole, "conv", "SGD with momentum", draw.choice([9, 10]), 2)
    for optimizer in ("SGD with momentum", "SGD with maximize=True"):
        yield case_of(draw, whole, "conv", optimizer, 8, 3, chosen=True)
    yield case_of(draw, goes_on, "conv", "Adam", 6, [1, 3])
    yield case_of(draw, goes_on, layered, "SGD with momentum", 8, [2, 3])
    yield case_of(draw, keeps, "conv", "Adam", 6, [1, 2])
    yield case_of(draw, on_device, "linear", "SGD", draw.choice([7, 10]), 2)
