"""The playground runs the reader's own code, and shows an error with its line and the picture before it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from explorers import playground, playground_training
from explorers.playground_points import NAMES, make_points
from explorers.playground_widget import TrainingPlayground
from explorers.recorded_animation import RECORD
from tests import films

STILL = ("two moons", "0.3")


def mlp() -> nn.Module:
    """Return a model with two inputs and two logits."""
    return nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))


def train_step(model: nn.Module, optimizer: Any, criterion: Callable[..., Tensor], x: Tensor, y: Tensor) -> float:
    """Take one training step."""
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


def run(widget: TrainingPlayground, data: str = STILL[0], rate: str = STILL[1]) -> dict[str, Any]:
    """Return the run that the page gets after these choices."""
    widget._hear(widget, {"choose": "data", "value": data}, [])
    widget._hear(widget, {"choose": "rate", "value": rate}, [])
    found: dict[str, Any] = widget.film["runs"][f"{data}|{rate}"]
    return found


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train for only a few steps."""
    monkeypatch.setattr(playground_training, "STEPS", (0, 1, 2, 5))


@pytest.mark.parametrize("name", NAMES)
def test_points_of_two_classes(name: str) -> None:
    """There are 100 points of each class, inside the picture, and always the same."""
    points, labels = make_points(name)

    assert points.shape == (200, 2) and labels.bincount().tolist() == [100, 100]
    assert points.abs().max() < playground_training.REACH and torch.equal(points, make_points(name)[0])


def test_two_moons_are_learned() -> None:
    """At rate 1 the boundary moves, and nearly all points are right at the end."""
    widget = playground(mlp, train_step)
    found = run(widget, rate="1")
    regions = [frame["region.d"] for frame in films.frames(widget.film, STILL[0], "1")]
    right = [int(re.findall(r"(\d+) of 200", frame)[0]) for frame in found["frames"]]

    assert len(set(regions)) > 15 and right[-1] > 190 > right[0] and not found["error"]
    assert found["steps"][-1] == 400 and len(found["steps"]) == len(found["frames"])


@pytest.mark.usefixtures("few_steps")
def test_what_the_reader_wrote_is_what_runs() -> None:
    """The reader's step is called for each step, with all points and the chosen rate."""
    calls: list[tuple[float, tuple[int, ...]]] = []

    def mine(model: nn.Module, optimizer: Any, criterion: Any, x: Tensor, y: Tensor) -> float:
        calls.append((optimizer.param_groups[0]["lr"], tuple(x.shape)))
        return train_step(model, optimizer, criterion, x, y)

    widget = playground(mlp, mine, optimizer=torch.optim.Adam)

    assert [(0.3, (200, 2))] * 5 == calls and "<code>mine</code> trains your model" in widget.picture
    run(widget, rate="3")
    assert [(3.0, (200, 2))] * 5 == calls[5:]


@pytest.mark.usefixtures("few_steps")
def test_the_same_start_each_time() -> None:
    """Every rate starts from the same weights, and torch's generator does not change."""
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first, second = (run(playground(mlp, train_step), rate=rate) for rate in ("0.3", "3"))

    assert first["frames"][0] == second["frames"][0] and first["frames"][-1] != second["frames"][-1]
    assert torch.equal(expected, torch.rand(3))


def at(widget: TrainingPlayground, frame: int, rate: str) -> dict[str, Any]:
    """Return the run after another rate is chosen at a frame."""
    widget._hear(widget, {"choose": "at", "value": str(frame)}, [])
    widget._hear(widget, {"choose": "rate", "value": rate}, [])
    (found,) = widget.film["runs"].values()
    return dict(found)


@pytest.mark.usefixtures("few_steps")
def test_another_rate_goes_on_from_the_step_that_is_shown() -> None:
    """Another rate continues from the shown step, and keeps the earlier frames."""
    seen: list[tuple[float, float]] = []

    def mine(model: nn.Module, optimizer: Any, criterion: Any, x: Tensor, y: Tensor) -> float:
        seen.append((optimizer.param_groups[0]["lr"], next(model.parameters()).sum().item()))
        return train_step(model, optimizer, criterion, x, y)

    widget = playground(mlp, mine)
    before = run(widget)
    found = at(widget, 2, "3")
    assert [0.3] * 5 + [3.0] * 3 == [rate for rate, _ in seen]
    assert seen[2][1] == seen[5][1] != seen[0][1]  # the weights after two steps
    assert before["frames"][:3] == found["frames"][:3] and before["frames"][3] != found["frames"][3]
    assert "0.3 until step 2, then 3." in widget.picture and "0.3, then 3" in widget.said

    torch.manual_seed(0)
    model = mlp()
    points, labels = make_points(STILL[0])
    for rate in (0.3, 0.3, 3.0, 3.0, 3.0):
        optimizer = torch.optim.SGD(model.parameters(), lr=rate)
        loss = train_step(model, optimizer, nn.functional.cross_entropy, points, labels)
    assert loss > 0 and f"loss {_loss(model, points, labels):.4g}," in found["frames"][-1]


def _loss(model: nn.Module, points: Tensor, labels: Tensor) -> float:
    with torch.no_grad():
        return float(nn.functional.cross_entropy(model(points).double(), labels))


@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize("frame", [0, 3])
def test_at_the_first_step_and_the_last_another_rate_begins_anew(frame: int) -> None:
    """At the first and the last step, another rate starts a new run."""
    widget = playground(mlp, train_step)

    assert at(widget, frame, "3") == run(playground(mlp, train_step), rate="3")
    assert "until step" not in widget.picture


@pytest.mark.usefixtures("few_steps")
def test_rates_follow_each_other() -> None:
    """A third rate continues from the second, and going back to a step removes later rates."""
    widget = playground(mlp, train_step)
    at(widget, 1, "3")
    at(widget, 2, "0.1")
    assert "0.3 until step 1, 3 until step 2, then 0.1." in widget.picture
    at(widget, 1, "0.3")

    assert "0.3 until step 1, then 0.3." in widget.picture
    assert run(playground(mlp, train_step))["frames"] == next(iter(widget.film["runs"].values()))["frames"]
    run(widget, data="blobs")
    assert "until step" not in widget.picture


@pytest.mark.usefixtures("few_steps")
def test_momentum_and_random_numbers_go_on_too() -> None:
    """Continuing with the same rate gives the same frames, with momentum and dropout."""

    def dropping() -> nn.Module:
        return nn.Sequential(nn.Linear(2, 8), nn.Dropout(0.5), nn.Linear(8, 2))

    def momentum(parameters: Any, lr: float) -> torch.optim.Optimizer:
        return torch.optim.SGD(parameters, lr=lr, momentum=0.9)

    widget = playground(dropping, train_step, momentum)
    whole = run(widget)
    at(widget, 1, "3")

    assert whole["frames"] == at(widget, 1, "0.3")["frames"]


@pytest.mark.usefixtures("few_steps")
def test_a_model_that_is_not_kept_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model too large to copy starts a new run."""
    monkeypatch.setattr(playground_training, "MOST_KEPT", 1)
    widget = playground(mlp, train_step)
    at(widget, 2, "3")

    assert "until step" not in widget.picture


@pytest.mark.usefixtures("few_steps")
def test_a_step_that_raises_keeps_the_picture_and_names_the_line() -> None:
    """An error keeps the earlier pictures, and names the reader's own line."""
    count = 0

    def breaks(model: nn.Module, optimizer: Any, criterion: Any, x: Tensor, y: Tensor) -> float:
        nonlocal count
        count += 1
        if count == 3:
            model(x[:, :1])
        return train_step(model, optimizer, criterion, x, y)

    found = run(playground(mlp, breaks))

    assert [0, 1, 2] == found["steps"] and found["error"].startswith("Step 3 raised RuntimeError: mat1 and mat2")
    assert found["error"].endswith("of breaks: model(x[:, :1])")


@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: nn.Linear(3, 2), "Asking the model raised RuntimeError"),
        (lambda: nn.Linear(2, 3), "Expected two logits for each of 200 points, a tensor (200, 2); found (200, 3)."),
        (lambda: 1 / 0, "Making the model and the optimizer raised ZeroDivisionError"),
        (lambda: nn.Identity(), "Making the model and the optimizer raised ValueError"),
    ],
)
def test_a_model_that_does_not_fit(make: Callable[[], Any], told: str) -> None:
    """A wrong model shows the points, and what was expected."""
    found = run(playground(make, train_step))

    assert found["error"].startswith(told) and found["still"]["zeros.d"] and 1 == len(found["frames"])


@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_weights_that_are_no_numbers(bad: float) -> None:
    """NaN weights appear in the caption, and never in coordinates."""

    def spoils(model: nn.Module, optimizer: Any, criterion: Any, x: Tensor, y: Tensor) -> float:
        with torch.no_grad():
            next(model.parameters()).fill_(bad)
        return bad

    widget = playground(mlp, spoils)
    run(widget)
    last = films.frames(widget.film, *STILL)[-1]

    assert "loss nan, 0 of 200 right" in last["said.text"]
    assert not re.search("nan|inf", last["region.d"] + last["loss.transform"]) and "hidden" == last["loss.visibility"]
    assert "visible" == films.frames(widget.film, *STILL)[0]["loss.visibility"]


@pytest.mark.usefixtures("few_steps")
def test_a_step_that_takes_long_has_a_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slow steps end the run early, with the last picture."""
    monkeypatch.setattr(playground_training, "SECONDS", -1.0)
    found = run(playground(mlp, train_step))

    assert [0, 1, 2] == found["steps"] and "only the first 2 of 5" in found["error"]


@pytest.mark.parametrize("given", [(mlp(), None), (None, train_step), (mlp, train_step, "SGD")])
def test_what_cannot_be_called(given: tuple[Any, ...]) -> None:
    """An argument that cannot be called raises TypeError with an example."""
    with pytest.raises(TypeError, match=r"expected a function for (train_step|make_model|optimizer), found"):
        playground(*given)


@pytest.mark.usefixtures("few_steps")
def test_a_page_shows_the_end_and_may_hold_all_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page shows the end of the run; on the site it holds all sets at some rates."""
    widget = playground(mlp, train_step)
    assert 1 == widget.page().count("two moons|") and "After 5 steps" in widget.page()
    monkeypatch.setenv(RECORD, "all")

    assert all(widget.page().count(f"{name}|") == 4 for name in NAMES)


@pytest.mark.usefixtures("few_steps")
def test_a_page_without_scripts_tells_what_stopped_the_run() -> None:
    """A page shows the error that stopped a run, without scripts."""

    def breaks(model: nn.Module, optimizer: Any, criterion: Any, x: Tensor, y: Tensor) -> float:
        raise ValueError("<no> more")

    shown, found = (re.sub(r' data-film="[^"]*"', "", playground(mlp, each).page()) for each in (breaks, train_step))

    assert 'x-error">Step 1 raised ValueError: &lt;no&gt; more, in line' in shown and "After 0 steps" in shown
    assert 'class="x-error"' not in found and "After 5 steps" in found


@pytest.mark.usefixtures("few_steps")
@pytest.mark.parametrize("message", [{"choose": "data", "value": "faces"}, {"choose": "rate", "value": "-1"}, None])
def test_wrong_message_changes_nothing(message: object) -> None:
    """An invalid message gives a note."""
    widget = playground(mlp, train_step)
    widget._hear(widget, message, [])

    assert "x-note" in widget.picture and 1 == len(widget.film["runs"])
