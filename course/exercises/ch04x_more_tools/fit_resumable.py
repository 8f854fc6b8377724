"""`fit_resumable`: a training that can be stopped, and gone on with as if nothing had happened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, float64
from torch.utils.data import DataLoader, TensorDataset

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import Answer, copy_case_data, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.probes.random_results import temporarily_seeded
from autograder.exercises.probes.training_fixtures import optimizer_by_name, row_model
from autograder.exercises.probes.training_runs import TrainingScenario, make_resumed_training_probe
from autograder.exercises.probes.training_steps import model_values
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_LOSS_MESSAGES, with_detached_loss_facet
from autograder.exercises.representation_mismatch import ROUNDED_MESSAGE, are_rounded
from autograder.exercises.seeded_draw import Draw


class _Fit(TrainingScenario):
    """A model, its optimizer, scheduler and loader, as a case names them."""

    def __init__(self, case: Case, seed: int, device: str = "cpu") -> None:
        name, optimizer, factor, order, x, y, self.stop, self.epochs = copy_case_data(case.args)
        self.model = row_model(name, x.shape[1], seed=seed).to(device)
        self.optimizer = optimizer_by_name(optimizer, self.model.parameters(), 0.05)
        self._scheduler = _scheduler(self.optimizer, factor, **case.kwargs)
        self._loader = DataLoader(TensorDataset(x, y), batch_size=3, shuffle=order == "shuffled")

    def train(self, answer: Answer, epochs: int, *checkpoint: Any) -> Any:
        return answer(self.model, self.optimizer, self._scheduler, self._loader, epochs, *checkpoint)

    def train_one_more_epoch(self, answer: Answer) -> None:
        for x, y in self._loader:
            self.optimizer.zero_grad()
            ((self.model(x) - y) ** 2).mean().backward()
            self.optimizer.step()

    def checkpoint_facts(self, checkpoint: Any) -> Observation:
        return {"losses": [_number(loss) for loss in checkpoint["losses"]]}

    def facts_after_training(self) -> Observation:
        return {"held": model_values(self.model)}


def _number(noted: object) -> Plain:
    """A loss as it is, or the number that a tensor holds: the tensor itself is a fault of another requirement."""
    return float(noted) if isinstance(noted, Tensor) and noted.numel() == 1 else snapshot_value(noted)


def _scheduler(optimizer: torch.optim.Optimizer, factor: float, chained: bool = False) -> Any:
    """Times a factor each epoch: counted from the first rate, or chained, each rate made from the one before."""
    if chained:
        return torch.optim.lr_scheduler.ExponentialLR(optimizer, factor)
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: factor**epoch)


@make_probe_recording_exceptions
def trained(answer: Answer, case: Case) -> Observation:
    """One training from the beginning: the losses of its epochs, parameters and buffers."""
    run = _Fit(case, 11)
    with temporarily_seeded(5):
        checkpoint = run.train(answer, run.epochs)
    if not isinstance(checkpoint, dict) or "losses" not in checkpoint:
        return {"returned": snapshot_value(checkpoint)}
    history = checkpoint["losses"]
    return {"rounded": are_rounded(history), "losses": snapshot_value(history)} | run.facts_after_training()


def going_on(asked: str) -> dict[str, str]:
    """What is told of a training that was stopped, and what else has to go on in it."""
    return {
        "held": f"The model does not end with the right weights and buffers. {asked}",
        "rounded": ROUNDED_MESSAGE,
        "losses": f"The losses are not one float for each epoch since the first, as if it had never stopped. {asked}",
        "same": "Stopped and gone on with, the training does not end where the uninterrupted one ends, bit for bit. "
        + asked,
    }


trains = Requirement(
    "trains for some epochs, with one loss for each",
    with_detached_loss_facet(trained),
    DETACHED_LOSS_MESSAGES
    | {
        "held": "The model does not end with the right weights and buffers: in train mode, a step for each batch, by "
        "F.mse_loss, and scheduler.step() after each epoch.",
        "rounded": ROUNDED_MESSAGE,
        "losses": '"losses" does not hold a float for each epoch, the plain mean of its batch losses.',
    },
)
memory = Requirement(
    "goes on with the optimizer's memory",
    make_resumed_training_probe(_Fit),
    going_on("What momentum and Adam have kept must be there again, and only the missing epochs be run."),
)
rate = Requirement(
    "goes on with the learning rate",
    make_resumed_training_probe(_Fit),
    going_on("The rate goes on where it was, and the scheduler's count of epochs too."),
)
chance = Requirement(
    "goes on with the random numbers",
    make_resumed_training_probe(_Fit),
    going_on(
        "Shuffling and dropout draw from torch's global generator: it must be where it was when the checkpoint was "
        "made."
    ),
)
buffers = Requirement(
    "goes on with buffers, in train mode",
    make_resumed_training_probe(_Fit),
    going_on("A batch norm has buffers too, and train mode is asked for again in each call."),
)
file = Requirement(
    "survives torch.save and torch.load",
    make_resumed_training_probe(_Fit, saved=True),
    going_on("The checkpoint has been in a file here."),
)
kept = Requirement(
    "is not changed by later training",
    make_resumed_training_probe(_Fit, reused=True, by_itself=True),
    going_on(
        "Training went on here before the checkpoint was used: what is in it must be copies, when it is made and when "
        "used."
    ),
    needs=(memory, rate),
)


def resuming(name: str, case: Case) -> str:
    """A training to some epochs, or one that is stopped and gone on with."""
    model, optimizer, factor, order, x, _, stop, epochs = case.args
    scheduler = f"<scheduler: times {factor} each epoch>"
    parts = f"<{model}>, <{optimizer}>, {scheduler}, <loader: {len(x)} samples, {order}>"
    if case.requirement.startswith("trains"):
        return f"{name}({parts}, {epochs})"
    return f"{name}({parts}, {stop}), then {name}(..., {epochs}, checkpoint)"


@exercise(
    tier="stretch",
    hints=(
        "What has a memory besides the weights? The optimizer, the scheduler, the random numbers, your list of losses.",
        "`state_dict()` shows living tensors, and an optimizer takes over those that it loads: where are copies due?",
        "`torch.get_rng_state` and `torch.set_rng_state` for the random numbers; `copy.deepcopy` for the rest.",
    ),
    spelled=resuming,
)
def fit_resumable(draw: Draw) -> Iterator[Case]:
    """Stop a training, and go on as if nothing had happened."""
    stop = draw.whole(1, 2)

    def case(
        requirement: Requirement,
        model: str,
        optimizer: str,
        factor: float,
        order: str = "in order",
        *,
        missing: int = 2,
        **more: bool,
    ) -> Case:
        n = draw.choice([5, 8])  # two or three batches, the last one smaller
        x, y = draw.normal(n, 3, dtype=float64), draw.normal(n, 1, dtype=float64)
        return requirement(model, optimizer, factor, order, x, y, stop, stop + missing, **more)

    yield case(trains, "two layers", "SGD", 0.5)
    yield case(memory, "two layers", "SGD with momentum", 1.0)
    yield case(memory, "two layers", "Adam", 1.0)
    yield case(memory, "two layers", "SGD", 1.0, missing=0)
    yield case(rate, "two layers", "SGD", 0.5)
    yield case(rate, "linear", "SGD", 0.5, chained=True)
    yield case(chance, "dropout", "SGD", 1.0, "shuffled")
    yield case(buffers, "batch norm, in eval mode", "SGD", 1.0)
    yield case(file, "linear", "SGD", 1.0, chained=True)
    yield case(kept, "linear", "Adam", 0.5)
