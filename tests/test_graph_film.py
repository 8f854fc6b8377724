"""The film of the autograd stepper: one frame per step, with the stepper's own sentences."""

from __future__ import annotations

import json
import math
import re
from html import unescape
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from explorers import autograd_stepper
from explorers.autograd_graph_animation import MOST_AT_ONCE, MOST_FILMED, MOST_TOWERS
from explorers.autograd_widget import AutogradStepper
from tests import films


def product() -> tuple[AutogradStepper, Tensor]:
    """Return a stepper on (x + y) z at 2, 3, 4 with gradients 4, 4 and 5, and x, which has a `.grad` of 1."""
    x, y, z = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0, 4.0))
    x.grad = torch.tensor(1.0)
    return autograd_stepper((x + y) * z, x=x, y=y, z=z), x


def frames(stepper: AutogradStepper) -> list[dict[str, str]]:
    """Return the frames that the page gets."""
    return films.frames(stepper.film)


def box(frame: dict[str, str], name: str) -> list[str]:
    """Return the lines of a box, by its name."""
    number = next(key for key, text in frame.items() if key.endswith("l0.text") and text.endswith(name))[1:-7]
    return [frame[f"n{number}l{line}.text"].removeprefix("▶ ") for line in range(3)]


def tops(points: str) -> list[float]:
    """Return the vertical position of each bar's top."""
    return [float(pair.split(",")[1]) for pair in points.split()][1::4]


def test_every_moment_is_a_frame_with_the_steppers_words() -> None:
    """The film has one frame per step, with the sentences that the buttons show."""
    stepper, _ = product()
    told = [frame["said.text"] for frame in frames(stepper)]
    seen = [stepper.tell()]
    for _ in told[1:]:
        stepper._hear(stepper, {"choose": "next", "value": None}, [])
        seen.append(stepper.tell())

    assert told == seen and 10 == len(told)
    assert list(range(1, 11)) == stepper.film["runs"][""]["steps"]


def test_values_come_in_forward_and_gradients_back() -> None:
    """A box shows its value from its forward step on, and its gradient from its backward step on."""
    shown = frames(product()[0])

    assert ["Add", "", ""] == box(shown[0], "Add")
    assert ["Add", "5", ""] == box(shown[4], "Add") and ["z", "4", "gradient 5"] == box(shown[-1], "z")
    assert ("visible", "hidden") == (shown[4]["fore.visibility"], shown[4]["back.visibility"])
    assert ("hidden", "visible") == (shown[5]["fore.visibility"], shown[5]["back.visibility"])


def test_the_frame_stands_around_the_present_box() -> None:
    """The present box has a marker, a class and the frame around it."""
    for frame in frames(product()[0]):
        now = [key for key, value in frame.items() if key.endswith(".class") and "x-now" in value]
        assert 1 == len(now) and frame[f"{now[0].removesuffix('.class')}l0.text"].startswith("▶ ")
        assert re.fullmatch(r"translate\(-?[\d.]+,-?[\d.]+\)", frame["here.transform"])
    assert 5 == len({frame["here.transform"] for frame in frames(product()[0])})


def test_towers_grow_when_the_gradient_has_come() -> None:
    """A leaf's bar changes at its backward step, and bars have a common scale."""
    stepper, x = product()
    first, last = frames(stepper)[0], frames(stepper)[-1]
    names = re.findall(r'data-part="t(\d)v"', stepper.film["picture"])

    assert ["1", "None", "None"] == [first[f"t{n}v.text"] for n in names]
    assert ["5", "4", "5"] == [last[f"t{n}v.text"] for n in names]
    assert tops(last["t0.points"]) == tops(last["t2.points"]) < tops(last["t1.points"]) < tops(first["t0.points"])
    assert 1.0 == x.grad


def test_negative_gradients_hang_below_the_line() -> None:
    """Each number of a short tensor is a bar, and negative ones are below the line."""
    w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    last = frames(autograd_stepper((w * torch.tensor([1.0, -1.0, 2.0])).sum(), w=w))[-1]
    up, down, most = tops(last["t0.points"])
    zero = float(last["t0.points"].split()[0].split(",")[1])

    assert most < up < zero < down


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_no_number_stands_in_words_only(bad: float) -> None:
    """NaN and infinity appear as text, and never in coordinates."""
    a, b = torch.tensor([1.0], requires_grad=True), torch.tensor([bad], requires_grad=True)
    last = frames(autograd_stepper((a * b).sum() + a.sum(), a=a, b=b))[-1]
    drawn = [value for part, value in last.items() if part.endswith((".points", ".transform"))]

    assert str(bad) in last["t0v.text"] and not any(re.search("nan|inf", value) for value in drawn)


@pytest.mark.parametrize("shape", [(0,), (100,)])
def test_empty_and_long_tensors(shape: tuple[int, ...]) -> None:
    """Empty and long tensors have a shape in place of bars."""
    w = torch.ones(shape, requires_grad=True)
    last = frames(autograd_stepper((w * 2).sum(), w=w))[-1]

    assert 1 >= len(set(tops(last["t0.points"]))) and (last["t0v.text"].startswith("(100,)") or shape == (0,))


def test_a_film_stays_where_the_stepper_goes() -> None:
    """Stepping keeps the film and changes its position; folding makes another film."""
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    stepper = autograd_stepper(model(torch.ones(2, 3)).sum(), model=model)
    before = dict(stepper.film)
    stepper._hear(stepper, {"choose": "next", "value": None}, [])
    assert (0, 1) == (before["seek"], stepper.film["seek"]) and before["runs"] == stepper.film["runs"]
    stepper._hear(stepper, {"choose": "fold all", "value": None}, [])

    assert before["about"] != stepper.film["about"] and len(frames(stepper)) < len(before["runs"][""]["frames"])
    assert "x-graph" in stepper.film["picture"] and "x-graph" not in stepper.picture


def powers(count: int) -> AutogradStepper:
    """Return a stepper on a leaf that is multiplied by itself `count` times."""
    w = torch.tensor(1.0, requires_grad=True)
    result = w
    for _ in range(count):
        result = result * w
    return autograd_stepper(result, w=w)


def test_a_long_graph_goes_on_below_itself() -> None:
    """The largest film has a distinct place for each row, and is at most as high as wide."""
    stepper = powers(MOST_FILMED - 1)
    picture = stepper.film["picture"]
    places = re.findall(r'class="x-frame" x="(-?[\d.]+)" y="(-?[\d.]+)"', picture)
    width, height = map(int, re.findall(r'viewBox="0 0 (\d+) (\d+)"', picture)[0])
    parts = re.findall(r'data-part="([^"]*)"', picture)

    assert MOST_FILMED == len(places) == len(set(places)) and len(parts) == len(set(parts))
    assert 0.3 < height / width < 1
    assert len(stepper.film["runs"][""]["frames"]) == 2 * MOST_FILMED
    assert len(json.dumps(stepper.film)) < 1_000_000


class Block(nn.Module):
    """Two layers with a residual connection."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.first, self.second = nn.LayerNorm(8), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        """Return x plus the output of the layers."""
        return x + self.second(torch.relu(self.first(self.norm(x))))


def test_a_deep_model_stands_there_whole() -> None:
    """A deep unfolded model is drawn whole, at most as high as wide."""
    model = nn.Sequential(*(Block() for _ in range(40)))
    stepper = autograd_stepper(model(torch.ones(2, 8)).mean(), model=model)
    stepper._hear(stepper, {"choose": "unfold all", "value": None}, [])
    width, height = map(int, re.findall(r'viewBox="0 0 (\d+) (\d+)"', stepper.film["picture"])[0])

    assert len(frames(stepper)) > 1000 and 0.3 < height / width < 1


def test_each_frame_of_a_long_graph_tells_the_steps_before_it() -> None:
    """Each frame shows the values of all earlier steps, although only changes are recorded."""
    shown = frames(powers(30))
    told = [sum(1 for part, text in frame.items() if part.endswith("l1.text") and text) for frame in shown]

    assert told == [*range(1, 32), *[31] * 31]
    assert {1} == {sum("x-now" in value for value in frame.values()) for frame in shown}


def test_too_large_graphs_have_no_film_and_are_drawn_as_before() -> None:
    """A graph that is too long or too high has no film, and the picture shows the present step's surroundings."""
    leaves = [torch.tensor(1.0, requires_grad=True) for _ in range(MOST_AT_ONCE + 20)]
    assert {} == autograd_stepper(torch.stack(leaves).sum()).film
    stepper = powers(MOST_FILMED)

    assert {} == stepper.film and "x-graph" in stepper.picture and "x-film" not in stepper.page().split("</style>")[1]


def test_many_leaves() -> None:
    """Only the first leaves have bars, and a note counts the others."""
    leaves = [torch.tensor(1.0, requires_grad=True) for _ in range(MOST_TOWERS + 3)]
    stepper = autograd_stepper(torch.stack(leaves).sum())

    assert MOST_TOWERS == stepper.film["picture"].count('class="x-tower"')
    assert "3 more leaves have no tower here." in stepper.film["picture"]


def test_a_walk_that_fails_has_no_towers() -> None:
    """A failing backward pass has frames and torch's error, and no bars."""
    x = torch.tensor([2.0], requires_grad=True)
    y = x.exp()
    y += 1
    stepper = autograd_stepper(y.sum(), x=x, y=y)

    assert "x-tower" not in stepper.film["picture"] and "inplace" in stepper.picture and frames(stepper)


def test_nothing_recorded_nothing_moves() -> None:
    """A tensor without a graph has no film."""
    assert {} == autograd_stepper(torch.ones(2)).film


def test_the_page_carries_the_film_before_the_lists() -> None:
    """The page contains the film at its last frame, above the lists."""
    page = product()[0].page()
    found = re.search(r'data-film="([^"]*)"', page)
    assert found is not None
    film: dict[str, Any] = json.loads(unescape(found[1]))

    assert 9 == film["seek"] and 10 == len(film["runs"][""]["frames"]) and 2 > film["pace"] > 0
    assert 1 == page.count('class="x-graph"') and page.index("data-film") < page.index("Forward pass, first step")
    assert "gradient 5" in page and "<script" not in page


def test_names_are_text() -> None:
    """Markup in a name is escaped in the film."""
    x = torch.tensor(2.0, requires_grad=True)
    stepper = autograd_stepper(x * 3, **{"<b>": x})

    assert "<b>" not in stepper.film["picture"] and "<b>" not in stepper.page()
