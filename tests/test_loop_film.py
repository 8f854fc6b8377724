"""The film of the loop stepper: each frame is the loop's real state, reproducible, up to an error."""

from __future__ import annotations

import json
import math
import re
from html import unescape
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from explorers import learning_rate_animation, loop_stepper
from explorers.loop_stepper_widget import LoopStepper
from explorers.recorded_animation import PlotAxes
from tests import films

Parts = tuple[nn.Module, Any, nn.Module, Tensor, Tensor]


def one(weight: float = 1.0, x: float = 2.0, y: float = 6.0, lr: float = 0.05) -> Parts:
    """Return parts with prediction = weight * 2 and target 6: loss (2 w - 6)^2, gradient 8 (w - 3)."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, weight)
    return model, torch.optim.SGD(model.parameters(), lr=lr), nn.MSELoss(), torch.tensor([[x]]), torch.tensor([[y]])


def choose(stepper: LoopStepper, name: str, value: object = None) -> LoopStepper:
    """Send a choice as the page would, and return the stepper."""
    stepper._hear(stepper, {"choose": name, "value": value}, [])
    return stepper


def frames(stepper: LoopStepper, rate: str) -> list[dict[str, str]]:
    """Return the frames of the run at a learning rate."""
    return films.frames(stepper.film, rate)


def said(stepper: LoopStepper, rate: str) -> list[str]:
    """Return the caption of each frame."""
    return [frame["said.text"] for frame in frames(stepper, rate)]


def test_a_frame_is_what_the_loop_has() -> None:
    """The captions have the real weights and losses of the start and 30 steps."""
    told = said(loop_stepper(*one()), "0.05")

    assert told[0] == "After 0 steps: weight 1, loss in step 1: 16."
    assert told[1] == "After 1 step: weight 1.8, loss in step 2: 5.76."
    assert told[2] == "After 2 steps: weight 2.28, loss in step 3: 2.074." and len(told) == 31


def test_the_ball_lies_on_its_curve() -> None:
    """The ball is on the loss curve, whose best weight is in the middle."""
    for frame in frames(loop_stepper(*one()), "0.05")[:10:3]:
        x, y = map(float, re.findall(r"[\d.]+", frame["weight.transform"]))
        points = [tuple(map(float, pair.split(","))) for pair in frame["valley.points"].split()]
        near = sorted(points, key=lambda point: abs(point[0] - x))[:2]

        assert min(a[1] for a in near) - 3 <= y <= max(a[1] for a in near) + 3
        assert min(points, key=lambda point: -point[1])[0] == pytest.approx(148, abs=6)


def test_another_rate_is_another_run_from_the_same_start() -> None:
    """Another rate adds a run from the same start, and the table uses it."""
    stepper = choose(loop_stepper(*one()), "rate", "0.25")

    assert said(stepper, "0.25")[:3] == [
        "After 0 steps: weight 1, loss in step 1: 16.",
        "After 1 step: weight 5, loss in step 2: 16.",
        "After 2 steps: weight 1, loss in step 3: 16.",
    ]
    assert "SGD(lr=0.25)" in stepper.picture and {"0.05", "0.25"} == set(stepper.film["runs"])
    assert stepper.film["choices"][0]["value"] == "0.25"
    choose(stepper, "run 1")
    assert "weight: </span><span" in stepper.picture and ">5<" in stepper.picture


def test_the_readers_optimizer_keeps_its_rate() -> None:
    """Choosing a rate changes no optimizer or model of the reader's."""
    parts = one()
    choose(loop_stepper(*parts), "rate", "0.25")

    assert parts[1].param_groups[0]["lr"] == 0.05 and parts[0].weight.item() == 1.0


def test_changed_lines_make_another_film() -> None:
    """Changed lines make another film, with their real numbers."""
    stepper = choose(loop_stepper(*one()), "never", "zero_grad")

    assert "After 2 steps: weight 3.08, loss in step 3: 0.0256." == said(stepper, "0.05")[2]
    assert ["0.05"] == list(stepper.film["runs"]) and "zero_grad never" in stepper.film["about"]


def test_buttons_move_the_film_to_their_step() -> None:
    """Running steps moves the film to the step; choosing a rate does not."""
    stepper = choose(loop_stepper(*one()), "run 10")
    assert 10 == stepper.film["seek"]
    choose(stepper, "rate", "0.1")
    assert 10 == stepper.film["seek"]
    assert 0 == choose(stepper, "start").film["seek"]


@pytest.mark.parametrize("lines", [(), (("never", "zero_grad"),), (("down", "backward"),), (("up", "step"),)])
@pytest.mark.parametrize("steps", [2, 3, 10])
def test_one_screen_tells_of_each_step_one_loss(lines: tuple[tuple[str, str], ...], steps: int) -> None:
    """Summary, table, sentence and film agree on the loss of each step, in any order of the lines."""
    stepper = loop_stepper(*one())
    for name, line in lines:
        choose(stepper, name, line)
    stepper.run(steps)
    film = dict(re.findall(r"loss in step (\d+): ([^ ]+)\.", " ".join(said(stepper, "0.05"))))
    words = re.sub(r"<[^>]+>", " ", stepper.picture)
    own = words.partition("The loss: ")[2].partition("In the right order")[0]
    told = {step: loss for loss, step in re.findall(r"([\d.e+-]+) in step (\d+)", own)}
    table = dict(re.findall(r"step (\d+) +([\d.e+-]+)", words.partition("The loss in each of these steps")[2]))

    assert {"1", str(steps)} == set(told) and told.items() <= film.items() and table.items() <= film.items()
    assert str(steps) in table and stepper.said.endswith(f"its loss: {film[str(steps)]}.")


def test_the_same_film_each_time() -> None:
    """A model with random numbers gives the same film each time, and torch's generator does not change."""

    def film() -> dict[str, Any]:
        torch.manual_seed(3)
        model = nn.Sequential(nn.Linear(1, 4), nn.Dropout(0.5), nn.Linear(4, 1))
        stepper = loop_stepper(
            model, torch.optim.Adam(model.parameters(), lr=0.01), nn.MSELoss(), torch.ones(5, 1), torch.ones(5, 1)
        )
        drawn.append(torch.rand(1).item())
        return dict(stepper.film)

    drawn: list[float] = []
    assert film() == film() and drawn[0] == drawn[1]


def test_a_rate_that_diverges_says_so_in_numbers() -> None:
    """With a diverging rate, the caption has the numbers, and no coordinate is NaN or infinite."""
    stepper = choose(loop_stepper(*one()), "rate", "1")
    last = frames(stepper, "1")[-1]

    assert "e+" in last["said.text"] and not re.search("nan|inf", " ".join(list(last.values())[:-1]))


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_data_that_are_no_numbers(bad: float) -> None:
    """NaN or infinite data give such a loss in the caption, and no such coordinates."""
    stepper = loop_stepper(*one(y=bad))
    shown = frames(stepper, "0.05")

    assert re.search("loss in step 1: (nan|inf)", shown[0]["said.text"])
    assert not any(re.search("nan|inf", value) for part, value in shown[3].items() if part != "said.text")


def test_empty_batch() -> None:
    """An empty batch has the loss NaN, and no fitted line."""
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    stepper = loop_stepper(model, optimizer, nn.MSELoss(), torch.zeros(0, 1), torch.zeros(0, 1))

    assert "loss in step 1: nan" in said(stepper, "0.1")[0] and "fit.points" not in stepper.film["parts"]
    stepper.run(1)
    assert "(0, 1): no numbers" in stepper.picture


def test_an_error_keeps_what_came_before_it() -> None:
    """An error keeps the frames before it, with torch's message."""
    stepper = choose(loop_stepper(*one()), "first", "forward")
    run = stepper.film["runs"]["0.05"]

    assert len(run["frames"]) == 2 and "weight 1.8" in run["frames"][1]
    assert run["error"].startswith("Step 2 stopped at loss.backward(): RuntimeError: Trying to backward")


def test_a_model_that_raises_is_no_end_of_the_stepper() -> None:
    """A model that raises gives one frame with its error, and hidden balls."""

    class Raises(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            raise ValueError("not <today>")

    model = Raises(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    stepper = loop_stepper(model, optimizer, nn.MSELoss(), torch.ones(3, 1), torch.ones(3, 1))

    assert stepper.film["runs"]["0.1"]["error"] == "Step 1 stopped at prediction = model(x): ValueError: not <today>"
    assert "<today>" not in stepper.page()
    (first,) = films.frames(stepper.film, "0.1")  # without a loss, the balls are hidden
    assert "hidden" == first["loss.visibility"] == first["weight.visibility"]
    assert 2 == stepper.film["picture"].count('visibility="hidden"')


def test_larger_models_have_the_curve_alone() -> None:
    """A model with more than one weight and input shows only the loss curve."""
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    stepper = loop_stepper(model, optimizer, nn.MSELoss(), torch.ones(4, 3), torch.zeros(4, 2))

    assert ["loss.transform", "loss.visibility", "said.text"] == stepper.film["parts"]
    assert 1 == stepper.film["picture"].count('role="img"')


def test_without_a_learning_rate_nothing_moves() -> None:
    """An optimizer without a learning rate has no film."""

    class Own:
        def zero_grad(self) -> None: ...

        def step(self) -> None: ...

    model = nn.Linear(1, 1)

    assert {} == loop_stepper(model, Own(), nn.MSELoss(), torch.ones(3, 1), torch.ones(3, 1)).film


def test_long_steps_have_a_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slow steps end the recording early, with a message."""
    monkeypatch.setattr(learning_rate_animation, "SECONDS", -1.0)
    run = loop_stepper(*one()).film["runs"]["0.05"]

    assert 2 == len(run["frames"]) and "only the first 1 of 30" in run["error"]


def test_the_page_carries_the_film() -> None:
    """The page has the film's data in an attribute, and a picture that needs no script."""
    page = loop_stepper(*one()).page()
    found = re.search(r'data-film="([^"]*)"', page)
    assert found is not None
    film = json.loads(unescape(found[1]))

    assert film["parts"][-1] == "said.text" and len(film["runs"]["0.05"]["frames"]) == 31
    assert "After 0 steps: weight 1, loss in step 1: 16.</p>" in page and "<script" not in page


def test_panel_keeps_marks_at_its_edge_and_lines_straight() -> None:
    """A mark outside is moved to the edge, and a line continues straight."""
    panel = PlotAxes(0, 1, 0, 1)

    assert (256.1, 155.6) == panel.place(99, 0.03) and (256.1, 9.6) == panel.place(math.nan, math.inf)
    assert "46,160 1066,160" == panel.line([(0, 0), (5, 0), (math.nan, 0)])


def test_no_loss_below_nothing_is_marked() -> None:
    """The axis of the loss has no negative label."""
    labels = re.findall(r"<text[^>]*>([^<]*)</text>", loop_stepper(*one()).film["picture"])

    assert "0" == labels[labels.index("loss") - 3]
    assert [] == [label for label in labels if label.startswith("-")]
