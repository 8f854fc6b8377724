"""The probes for training, applied to answers to no exercise."""

from typing import Any

import pytest
import torch
from torch import nn

from autograder.exercises.exercise import Case, default_torch_settings
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer
from autograder.exercises.probes.training_fixtures import (
    IN_EVAL_SUFFIX,
    image_model,
    labeled_images,
    optimizer_by_name,
    row_model,
)
from autograder.exercises.probes.training_runs import (
    TrainingScenario,
    make_meta_device_training_probe,
    make_resumed_training_probe,
    make_training_run_probe,
)
from autograder.exercises.probes.training_steps import (
    make_evaluation_probe,
    make_optimizer_steps_probe,
    make_training_step_probe,
    record_at_each_call,
    record_before_each_step,
)
from autograder.exercises.probes.training_steps import make_two_optimizers_probe as in_turns

X, Y = torch.ones(2, 3, dtype=torch.float64), torch.zeros(2, 1, dtype=torch.float64)


def step(model: nn.Module, optimizer: torch.optim.Optimizer, criterion: Any, x: Any, y: Any) -> float:
    """Take one training step."""
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return float(loss.item())


class TestOneStep:
    def test_a_step_calls_each_once(self) -> None:
        """Calls of model and criterion are counted, and an arriving gradient is recorded."""
        seen = make_training_step_probe("forwards", "criterion", "arrived")(step, Case("", "linear", "SGD", X, Y))

        assert {"forwards": 1, "criterion": [("prediction", "y_batch")], "arrived": True} == seen

    def test_targets_are_known_in_another_shape(self) -> None:
        """Targets in another shape are still recognized as targets."""
        seen = make_training_step_probe("criterion")(
            lambda model, optimizer, criterion, x, y: criterion(model(x).squeeze(), y.squeeze()),
            Case("", "linear", "SGD", X, Y),
        )

        assert {"criterion": [("prediction", "y_batch in another shape")]} == seen

    def test_a_mode_is_seen(self) -> None:
        """The mode in which the model is left is recorded."""
        assert {"modes": "none"} == make_training_step_probe("modes")(
            step, Case("", f"linear{IN_EVAL_SUFFIX}", "Adam", X, Y)
        )


class TestEvaluated:
    def test_what_is_left_behind_is_named(self) -> None:
        """Cleared gradients and tracked predictions are recorded."""

        def evaluate(model: nn.Module, loader: Any, criterion: Any) -> dict[str, float]:
            model.zero_grad()
            return {"loss": sum(criterion(model(x), y).item() for x, y in loader)}

        seen = make_evaluation_probe("left", "tracked", "types")(
            evaluate, Case("", "linear", X, torch.tensor([0, 1]), 2)
        )

        assert {"left": ["gradients"], "tracked": True, "types": {"loss": "float"}} == seen

    @pytest.mark.parametrize("samples", [7, 10, 13])
    def test_each_pass_begins_with_another_batch(self, samples: int) -> None:
        """An answer that combines the batches of two passes does not get each sample once."""

        def added(batches: Any) -> dict[str, float]:
            return {"loss": float(sum(x[:, 0].sum() for x, _ in batches))}

        x = (2.0 ** torch.arange(samples)).unsqueeze(1).expand(-1, 3).double()
        case = Case("", "linear", x, torch.zeros(samples).long(), 3)
        watch = make_evaluation_probe("returned", loader="sampled")

        assert watch(lambda _, loader, __: added(loader), case) != watch(
            lambda _, loader, __: added([next(iter(loader)), *list(loader)[1:]]), case
        )

    def test_gradients_that_stay_off_are_noticed(self) -> None:
        """A grad mode that is left off is recorded."""

        def evaluate(model: nn.Module, loader: Any, criterion: Any) -> dict[str, float]:
            torch.set_grad_enabled(False)
            return {"loss": sum(criterion(model(x), y).item() for x, y in loader)}

        with default_torch_settings():
            seen = make_evaluation_probe("left")(evaluate, Case("", "linear", X, torch.tensor([0, 1]), 2))

        assert {"left": ["torch.is_grad_enabled()"]} == seen


IN_TURNS = in_turns()


@pytest.mark.parametrize(
    "watch", [make_optimizer_steps_probe("path"), make_optimizer_steps_probe("path", generator=True), IN_TURNS]
)
def test_an_optimizer_is_followed(watch: Any) -> None:
    """torch's SGD gives the expected path, with a list, with a generator, and beside another optimizer."""
    seen = watch(torch.optim.SGD, Case("", [torch.zeros(2)], [[torch.ones(2)]], lr=0.5))
    place = seen["path"][0][0]

    assert [-0.5, -0.5] == (place if watch is not IN_TURNS else place[0]).values.tolist()


def test_steps_of_anybody_are_noted() -> None:
    """Steps of an optimizer that is made in the block are recorded, and later ones are not."""
    model = row_model("two layers", 3)
    with record_before_each_step(lambda optimizer: type(optimizer).__name__) as notes:
        optimizer = optimizer_by_name("Adam", model.parameters(), 0.1)
        optimizer.step()
    optimizer.step()

    assert ["Adam"] == notes


def test_calls_are_noted_with_what_goes_in_and_out() -> None:
    """Each call is recorded with a value computed from input and output."""
    model = image_model("conv")
    notes = record_at_each_call(model, lambda inputs, output: (len(inputs[0]), tuple(output.shape)))
    model(labeled_images(5, 1)[0])

    assert [(5, (5, 3))] == notes


class _Linear(TrainingScenario):
    """A linear model, trained on one batch."""

    def __init__(self, case: Case, seed: int, device: str = "cpu") -> None:
        self.stop, self.epochs = case.args
        self.model = row_model("linear", 3, seed=seed).to(device)
        self.optimizer = optimizer_by_name("SGD with momentum", self.model.parameters(), 0.1)

    def train(self, answer: Answer, epochs: int, *checkpoint: Any) -> Any:
        return answer(self.model, self.optimizer, epochs, *checkpoint)

    def checkpoint_facts(self, checkpoint: Any) -> Observation:
        return {"losses": checkpoint["losses"]}

    def facts_after_training(self) -> Observation:
        return {"sum": sum(param.sum().item() for param in self.model.parameters())}


def fit(model: nn.Module, optimizer: torch.optim.Optimizer, epochs: int, checkpoint: Any = None) -> Any:
    """Train up to `epochs` epochs, without saving the optimizer's state."""
    losses = list(checkpoint["losses"]) if checkpoint else []
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
    place = next(model.parameters()).device
    while len(losses) < epochs:
        losses.append(step(model, optimizer, nn.functional.mse_loss, X.to(place), Y.to(place)))
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    return {"losses": losses, "model": weights}


ROWS = torch.arange(9, dtype=torch.float64).reshape(3, 3)


class _OfRows(_Linear):
    """A scenario that identifies the rows that come to the model."""

    def training_row_indices(self, x: torch.Tensor) -> list[int]:
        return [int(place) for row in x for place in (ROWS == row).all(dim=-1).nonzero()]


class TestRuns:
    def test_what_comes_before_each_step_is_seen(self) -> None:
        """The rows before each step are recorded in any mode, but only if the call records a graph."""

        def measures_first(
            model: nn.Module, optimizer: torch.optim.Optimizer, epochs: int, checkpoint: Any = None
        ) -> Any:
            with torch.no_grad():
                model(ROWS)
            for rows in ([1, 0], [2]):
                step(model.eval(), optimizer, nn.functional.mse_loss, ROWS[rows], ROWS[rows, :1])
            return {"losses": [0.0] * epochs}

        case = Case("", 1, 1)
        assert ["1, 0", "2"] == make_training_run_probe(_OfRows)(measures_first, case)["batches"]
        assert ["1, 0", "2"] == make_resumed_training_probe(_OfRows)(measures_first, case)["batches"]
        assert "batches" not in make_training_run_probe(_Linear)(measures_first, case)

    def test_a_training_that_forgets_is_not_the_same(self) -> None:
        """A resumed run without the optimizer's state differs, unless nothing is left to do."""
        forgets, sound = (
            make_resumed_training_probe(_Linear, saved=True)(fit, Case("", *epochs)) for epochs in ((2, 4), (3, 3))
        )

        assert {"weights": False, "losses": False} == forgets["same"]
        assert {"weights": True, "losses": True} == sound["same"]

    def test_a_checkpoint_that_keeps_is_told_from_a_living_one(self) -> None:
        """A checkpoint that changes with later training is recognized."""

        def alive(*args: Any) -> Any:
            return fit(*args) | {"model": args[0].state_dict()}

        kept, moved = (
            make_resumed_training_probe(_Linear, reused=True)(answer, Case("", 2, 2)) for answer in (fit, alive)
        )

        assert (True, False) == (kept["same"]["weights"], moved["same"]["weights"])

    def test_modes_and_places_are_seen(self) -> None:
        """Modes, tracking, devices and steps of a run are recorded."""
        seen = make_training_run_probe(_Linear, "modes", "tracked")(fit, Case("", 0, 2))

        assert {"modes": ["train"], "tracked": False} == seen
        assert {"places": ["meta"], "steps": 2} == make_meta_device_training_probe(_Linear)(fit, Case("", 0, 2))
