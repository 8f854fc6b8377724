"""`fit`: the loop around the step, with a look at data that it does not learn from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, float64, nn
from torch.utils.data import DataLoader, TensorDataset

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, copy_case_data, snapshot_value
from autograder.exercises.probes.training_fixtures import optimizer_by_name, row_model
from autograder.exercises.probes.training_runs import TrainingScenario, make_training_run_probe
from autograder.exercises.probes.training_steps import model_values
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_LOSS_MESSAGES, with_detached_loss_facet
from autograder.exercises.representation_mismatch import ROUNDED_MESSAGE, are_rounded
from autograder.exercises.seeded_draw import Draw

_KINDS = 3
_CRITERIA = {
    "cross-entropy": nn.functional.cross_entropy,
    "smoothed cross-entropy": nn.CrossEntropyLoss(label_smoothing=0.2),
}


class _Fit(TrainingScenario):
    """A classifier, its optimizer, its criterion and two loaders, as a case names them."""

    def __init__(self, case: Case, seed: int, device: str = "cpu") -> None:
        name, optimizer, criterion, order, known, drawer, self.epochs = copy_case_data(case.args)
        self.stop = 0
        self.model = row_model(name, known[0].shape[1], _KINDS, seed=seed).to(device)
        self.optimizer = optimizer_by_name(optimizer, self.model.parameters(), 0.05)
        self._criterion = _CRITERIA[criterion]
        self._loader, self._drawer = _loader(*known, shuffle=order == "shuffled"), _loader(*drawer, shuffle=False)

    def train(self, answer: Answer, epochs: int, *checkpoint: Any) -> Any:
        return answer(self.model, self.optimizer, self._criterion, self._loader, self._drawer, epochs)

    def checkpoint_facts(self, checkpoint: Any) -> Observation:
        if not isinstance(checkpoint, list) or not all(map(_is_row, checkpoint)) or len(checkpoint) != self.epochs:
            wrong = dict.fromkeys(("rows", "rounded", "measured_rounded"), False)
            return wrong | dict.fromkeys(("losses", "measured_losses", "shares"), snapshot_value(checkpoint))
        return {
            "rows": True,
            "rounded": are_rounded([row[0] for row in checkpoint]),
            "losses": snapshot_value([row[0] for row in checkpoint]),
            "measured_rounded": are_rounded([row[1] for row in checkpoint]),
            "measured_losses": snapshot_value([row[1] for row in checkpoint]),
            "shares": snapshot_value([row[2] for row in checkpoint]),
        }

    def facts_after_training(self) -> Observation:
        return {"held": model_values(self.model)}


def _loader(x: Tensor, y: Tensor, *, shuffle: bool) -> DataLoader[Any]:
    """Batches of three, in orders of its own: what else an answer draws or looks at does not change them."""
    draw = torch.Generator().manual_seed(3)
    return DataLoader(TensorDataset(x, y), batch_size=3, shuffle=shuffle, generator=draw)


def _is_row(row: object) -> bool:
    return isinstance(row, list | tuple) and len(row) == 3


def _still_right() -> tuple[Tensor, Tensor]:
    """Eight samples with the labels that the model "linear" gives them before it is trained.

    An optimizer that climbs from there makes each epoch worse than the one before, in loss and in accuracy: who puts
    back the best weights has others than those of the last step.
    """
    x = 3 * Draw(3).normal(8, 4, dtype=float64)
    return x, row_model("linear", 4, _KINDS)(x).argmax(dim=1)


_HELD = {
    "held": "The model does not end with the right weights and buffers: those of one step for each batch of loader, "
    "in each epoch, by the optimizer that is given, and of nothing else that moves them."
}
_ROWS = {"rows": "The history is to be a list, with a row of three numbers for each epoch of this call, and no others."}
_OF_WHICH = "each counted once, in eval mode, of the model as it is after the epoch's last step."
_MEASURED = {
    "measured_rounded": ROUNDED_MESSAGE,
    "measured_losses": "The second number of a row is not the mean loss by `criterion` over all samples of the drawer, "
    f"{_OF_WHICH}",
    "shares": "The third number of a row is not the share of all samples of the drawer whose largest logit is at the "
    f"label, {_OF_WHICH}",
}

trains = Requirement(
    "takes one step for each batch, epoch after epoch",
    with_detached_loss_facet(make_training_run_probe(_Fit, "held")),
    DETACHED_LOSS_MESSAGES | _HELD,
)
anew = Requirement("goes through the loader anew in each epoch", make_training_run_probe(_Fit, "held"), _HELD)
noted = Requirement(
    "notes the mean of the batch losses of each epoch",
    make_training_run_probe(_Fit, "rows", "rounded", "losses"),
    _ROWS
    | {
        "rounded": ROUNDED_MESSAGE,
        "losses": "The first number of each row is not the mean of the epoch's batch losses, as a float.",
    },
)
measures = Requirement(
    "measures the drawer after each epoch, each sample once",
    make_training_run_probe(_Fit, "rows", "measured_rounded", "measured_losses", "shares"),
    _ROWS | _MEASURED,
)
modes = Requirement(
    "trains in train mode and measures in eval mode, in each epoch",
    make_training_run_probe(_Fit, "modes", "rows", "held"),
    _HELD
    | _ROWS
    | {"modes": "The model was called in other modes: train mode is for the steps, eval mode for the drawer."},
    given=("rows", "held"),
)
no_graph = Requirement(
    "builds no graph while it measures",
    make_training_run_probe(_Fit, "tracked"),
    {"tracked": "While you measured, a graph was built that nobody needs."},
    needs=(modes,),
)


def fitting(name: str, case: Case) -> str:
    """The call, with what the case names."""
    model, optimizer, criterion, order, known, drawer, epochs = case.args
    loaders = f"<loader: {len(known[0])} samples, {order}>, <drawer: {len(drawer[0])} samples>"
    return f"{name}(<{model}>, <{optimizer}>, <{criterion}>, {loaders}, {epochs})"


@exercise(
    tier="core",
    hints=(
        "It is the loop of this section: one `for` over the epochs, and in it one over the batches of `loader`.",
        "The mode belongs in the loop over the epochs: after a measurement, train mode has to be asked for again.",
        "A row is the mean of the list of losses, then what `evaluate(model, drawer, criterion)` says; your own "
        "`train_step` and `evaluate` may be called.",
    ),
    spelled=fitting,
)
def fit(draw: Draw) -> Iterator[Case]:
    """Train for some epochs, and measure after each."""
    epochs = draw.whole(2, 3)

    def case(requirement: Requirement, model: str, *settings: str, order: str = "in order") -> Case:
        n, m = draw.choice([(5, 8), (8, 5)])  # the last batch has two; one loader has a batch more than the other
        known = draw.normal(n, 4, dtype=float64), draw.ints(0, _KINDS, n)
        drawer = 3 * draw.normal(m, 4, dtype=float64), draw.ints(0, _KINDS, m)
        optimizer, criterion = settings or ("SGD", "cross-entropy")
        return requirement(model, optimizer, criterion, order, known, drawer, epochs)

    yield case(trains, "two layers")
    yield case(trains, "linear", "Adam", "smoothed cross-entropy")
    x, y = _still_right()
    yield trains("linear", "SGD with maximize=True", "cross-entropy", "in order", (x, y), (x, y), epochs)
    one = draw.normal(7, 4, dtype=float64), draw.ints(0, _KINDS, 7)  # the last batch has one row
    yield trains("linear", "SGD", "cross-entropy", "in order", one, one, epochs)
    yield case(anew, "two layers", order="shuffled")
    yield case(noted, "two layers", "SGD with momentum", "cross-entropy")
    yield case(noted, "linear", "Adam", "smoothed cross-entropy", order="shuffled")
    yield case(measures, "two layers", "Adam", "cross-entropy")
    yield case(measures, "linear", "SGD", "smoothed cross-entropy")
    yield case(modes, "dropout and batch norm")
    yield case(modes, "batch norm, in eval mode")
    yield case(no_graph, "dropout and batch norm")
