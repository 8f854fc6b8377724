"""`train`: a trainer that can be stopped, and gone on with as if nothing had happened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograder.judging.words import call_of
from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, Requirement, exercise
from autograder.watching.observation import Observation
from autograder.watching.probe import Answer, see
from autograder.watching.probes.training_runs import Run, elsewhere, resumed, trained
from autograder.watching.probes.training_samples import image_model, images_of, optimizer_of

from ._images import named, outputs_of

_RATES = {"SGD": 0.1, "SGD with momentum": 0.05, "Adam": 0.02}


class _Training(Run):
    """A model, its optimizer and its images, as a case names them."""

    def __init__(self, case: Case, seed: int, device: str = "cpu") -> None:
        name, optimizer = case.args
        self._options = dict(case.kwargs)
        images, drawn, epochs = (self._options.pop(key) for key in ("images", "drawn", "epochs"))
        self.stop, self.epochs = epochs if isinstance(epochs, list) else (0, epochs)
        self.model = image_model(name, seed).to(device)
        self.optimizer = optimizer_of(optimizer, self.model.parameters(), _RATES[optimizer])
        self._sets = images_of(images, drawn), images_of(7, drawn + 1)

    def train(self, answer: Answer, epochs: int, *checkpoint: Any) -> Any:
        rest = {"checkpoint": checkpoint[0]} if checkpoint and checkpoint[0] is not None else {}
        return answer(self.model, self.optimizer, *self._sets, epochs, **self._options, **rest)

    def told(self, checkpoint: Any) -> Observation:
        known = checkpoint if isinstance(checkpoint, dict) else {}
        return {name: see(known.get(name)) for name in ("losses", "accuracies")}

    def left(self) -> Observation:
        return {"outputs": outputs_of(self.model)}


_OUTPUTS = {
    "outputs": "After your training, the model gives other outputs than it should: its weights are not right.",
}
_RESUMED = _OUTPUTS | {
    "same": "The training that was stopped and gone on with is not, bit for bit, the one that was not stopped.",
}

every_batch = Requirement("trains on every batch of an epoch", trained(_Training, "outputs"), _OUTPUTS)
order = Requirement("draws a new order for each epoch, from its seed", trained(_Training, "outputs"), _OUTPUTS)
mean = Requirement("gives the mean loss over the images of an epoch", trained(_Training, "losses"))
modes = Requirement(
    "measures in eval mode, trains in train mode",
    trained(_Training, "accuracies", "modes", "tracked"),
    tells={
        "modes": "The model was called in other modes: it should train in train mode, and be measured in eval mode.",
        "tracked": "While you measured, a graph was recorded that nobody needs.",
    },
)
goes_on = Requirement("goes on bit for bit, with another model", resumed(_Training), _RESUMED)
keeps = Requirement("gives a checkpoint that keeps", resumed(_Training, saved=True, reused=True), _RESUMED)
on_device = Requirement(
    "trains where the model is",
    elsewhere(_Training),
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
    spelled = call_of(name, *named(case), f"<{case.kwargs['images']} images>", "<7 images>", **options)
    return spelled if stop is None else f"{spelled[:-1]}, checkpoint=<of epoch {stop}>)"


@exercise(
    tier="core",
    hints=(
        "First the loop of chapter 4, without a checkpoint. Then ask of each thing that changes: who remembers it?",
        "Five things remember: model, optimizer, the generator of the order, torch's own generator, and the two lists.",
        "`while len(losses) < epochs` runs what is missing. Copy deeply when you save, and the optimizer's part when "
        "you load.",
    ),
    seconds=60.0,
    spelled=training,
)
def train(draw: Draw) -> Iterator[Case]:
    """Train, stop, and go on."""

    def case(requirement: Requirement, model: str, optimizer: str, images: int, epochs: Any) -> Case:
        given = {"images": images, "drawn": draw.whole(0, 9999), "epochs": epochs}
        return requirement(model, optimizer, **given, batch_size=4, seed=draw.whole(0, 9999))

    layered = "dropout and batch norm"
    yield case(every_batch, "linear", "SGD", 8, 1)
    yield case(every_batch, "conv", "SGD with momentum", draw.choice([9, 10, 11]), 1)
    yield case(order, "conv", "SGD with momentum", 8, draw.whole(3, 4))
    yield case(mean, "linear", "SGD with momentum", draw.choice([9, 10]), 2)
    yield case(modes, layered, "SGD with momentum", 12, 3)
    yield case(goes_on, "conv", "Adam", 6, [1, 3])
    yield case(goes_on, layered, "SGD with momentum", 8, [1, 2])
    yield case(keeps, "conv", "Adam", 6, [1, 2])
    yield case(on_device, "linear", "SGD", draw.choice([7, 10]), 2)
