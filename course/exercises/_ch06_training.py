"""What the trainings of chapter 6 share: how one is called, watched and spelled."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from autograder.diagnosis.difference_messages import call_from_parts
from autograder.exercises.exercise import Case, Requirement
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, snapshot_value
from autograder.exercises.probes.training_fixtures import image_model, labeled_images, optimizer_by_name
from autograder.exercises.probes.training_runs import TrainingScenario, make_meta_device_training_probe
from autograder.exercises.probes.training_steps import fill_gradients
from autograder.exercises.representation_mismatch import ROUNDED_MESSAGE, are_rounded, are_rounded_shares
from autograder.exercises.seeded_draw import Draw

from ._ch06_images import named, outputs_of

_MEASURED = 67  # images of val_set: few of them would often give two epochs, or two models, the same accuracy
_RATES = {"SGD": 0.1, "SGD with momentum": 0.05, "SGD with maximize=True": 0.1, "Adam": 0.02}
# Seeds of 8 images and of three orders for which "conv" has the best accuracy before the last epoch; where it
# climbs, the smallest loss too. Whoever puts back the best weights has others than those of the last step.
_BEST_IS_NOT_LAST = {"SGD with momentum": (3947, 9219), "SGD with maximize=True": (2138, 1391)}


class Training(TrainingScenario):
    """A model, its optimizer and its images, as a case names them."""

    def __init__(self, case: Case, seed: int, device: str = "cpu") -> None:
        name, optimizer = case.args
        self._options = dict(case.kwargs)
        images, drawn, epochs = (self._options.pop(key) for key in ("images", "drawn", "epochs"))
        self.stop, self.epochs = epochs if isinstance(epochs, list) else (0, epochs)
        self.model = image_model(name, seed).to(device)
        fill_gradients(self.model, 1.0)  # of an earlier backward
        self.optimizer = optimizer_by_name(optimizer, self.model.parameters(), _RATES[optimizer])
        self._sets = labeled_images(images, drawn), labeled_images(_MEASURED, drawn + 1)

    def train(self, answer: Answer, epochs: int, *checkpoint: Any) -> Any:
        rest = {"checkpoint": checkpoint[0]} if checkpoint and checkpoint[0] is not None else {}
        return answer(self.model, self.optimizer, *self._sets, epochs, **self._options, **rest)

    def checkpoint_facts(self, checkpoint: Any) -> Observation:
        known = checkpoint if isinstance(checkpoint, dict) else {}
        names = ("losses", "accuracies")
        seen: Observation = {"keys": [name for name in names if name in known]}
        seen["losses_rounded"] = are_rounded(known.get("losses"))
        seen["accuracies_rounded"] = are_rounded_shares(known.get("accuracies"), _MEASURED)
        return seen | {name: snapshot_value(known.get(name)) for name in names}

    def training_row_indices(self, x: Tensor) -> list[int]:
        images, _ = self._sets[0]
        if x.shape[1:] != images.shape[1:]:
            return []
        return [int(place) for row in x.to(images) for place in (row == images).all((1, 2, 3)).nonzero()]

    def facts_after_training(self) -> Observation:
        return {"outputs": outputs_of(self.model)}


OUTPUTS = {
    "outputs": "After your training, the model gives other outputs than it should: its weights are not right.",
}
IN_ORDER = {
    "outputs": "In the end the weights are not those of a step on the mean loss of each batch, images with their own "
    "labels, in the orders that torch.randperm draws from one generator, seeded with `seed`.",
}
BATCHES = {
    "batches:length": "The optimizer that you are given took another number of steps than one for each batch of each "
    "epoch. Listed are the images, counted from 0, that came to the model before each of its steps.",
    "batches": "These images, counted from 0, came to the model before each step. Each epoch goes through "
    "torch.randperm's order batch by batch, drawn from one generator that is seeded with `seed`.",
}
KEYS = {
    "keys": 'What you return is to be a dict with the keys "losses" and "accuracies".',
}
MODES = {
    "modes": "The model was called in other modes: it should train in train mode, and be measured in eval mode.",
    "tracked": "The model was called in eval mode, and a graph was built. To train, it is to be in train mode; to be "
    "measured, in eval mode and without a graph, which eval mode alone does not keep torch from.",
}

_LENGTH = (
    "There is to be one float for each epoch of this call. A list that is made once, as a default argument or outside "
    "of the function, keeps those of earlier calls."
)
MEAN = {
    "losses_rounded": ROUNDED_MESSAGE,
    "losses:length": _LENGTH,
    "losses": "Each image of an epoch counts alike: the losses of all of them, added up, divided by how many they are.",
}
SHARE = {
    "accuracies_rounded": ROUNDED_MESSAGE,
    "accuracies:length": _LENGTH,
    "accuracies": "After the steps of an epoch, the share of val_set that is right is measured: how many of its images "
    "are, divided by how many there are.",
}

on_device = Requirement(
    "trains where the model is",
    make_meta_device_training_probe(Training),
    tells={
        "places": "The model is on the meta device; your images came to it from somewhere else.",
        "steps": "On another device, your optimizer took another number of steps.",
    },
)


def training(name: str, case: Case) -> str:
    """A training; one that is stopped goes on from a checkpoint."""
    epochs = case.kwargs["epochs"]
    stop, end = epochs if isinstance(epochs, list) else (None, epochs)
    options = {"epochs": end} | {key: case.kwargs[key] for key in ("batch_size", "seed")}
    spelled = call_from_parts(
        name, *named(case), f"<{case.kwargs['images']} images>", f"<{_MEASURED} images>", **options
    )
    return spelled if stop is None else f"{spelled[:-1]}, checkpoint=<of epoch {stop}>)"


def case_of(
    draw: Draw,
    requirement: Requirement,
    model: str,
    optimizer: str,
    images: int,
    epochs: Any,
    *,
    chosen: bool = False,
) -> Case:
    """A training of a model by an optimizer, on so many images; a pair of epochs is one that is stopped.

    Where its seeds are `chosen`, its best epoch is not its last.
    """
    seeds = _BEST_IS_NOT_LAST[optimizer] if chosen else (draw.whole(0, 9999), draw.whole(0, 9999))
    given = {"images": images, "drawn": seeds[0], "epochs": epochs}
    return requirement(model, optimizer, **given, batch_size=4, seed=seeds[1])
