"""The playground: the reader's own model and training step on points in a plane, and the border between two classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from autograder.telling.markup import Html, join, prose, tag
from explorers.controls import Control
from explorers.film import Film, FilmChoice, PartValues, Recording, is_recording
from explorers.play_data import NAMES
from explorers.play_run import LOSSES, PLANE, STEPS, Player
from explorers.widget import Explorer

RATES = ("0.01", "0.03", "0.1", "0.3", "1", "3", "10")
FIRST = "0.3"
ON_A_PAGE = ("0.03", "0.3", "1", "10")


class Playground(Explorer):
    """The widget; `playground` makes one."""

    def __init__(self, player: Player, name: str) -> None:
        super().__init__("Playground")
        self._player, self._name = player, name
        self._data, self._rate = NAMES[0], FIRST
        self._recorded: dict[tuple[str, ...], Recording] = {}
        self._is_page = False
        self.show()

    def draw(self) -> Html:
        """What is trained, and how the picture is read; what moves stands below it."""
        told = f"`{self._name}` trains your model for {STEPS[-1]} steps, from the same start each time."
        reading = "Dots are class 0, crosses class 1. On the tinted side of the line the model says 1."
        return tag("p", prose(f"{told} {reading}"))

    def moving(self) -> Film:
        """Each run that was chosen so far; on a page without a kernel, some of every set."""
        rates = ON_A_PAGE if self._is_page and is_recording() else RATES
        here = (self._data, self._rate)
        for key in [here] if rates == RATES else [(data, rate) for data in NAMES for rate in rates]:
            if key not in self._recorded:
                self._recorded[key] = self._player.recorded(key[0], float(key[1]))
        choices = [
            FilmChoice("data", "Data", NAMES, self._data),
            FilmChoice("rate", "Learning rate", rates, self._rate, "slider"),
        ]
        runs = {key: run for key, run in self._recorded.items() if key[1] in rates}
        last = len(self._recorded[here].frames) - 1 if self._is_page else 0
        return Film("Where the model says which class", choices, runs, _picture(self._recorded[here].at(last)), last)

    def page(self) -> Html:
        """The still picture, after training."""
        self._is_page = True
        try:
            return super().page()
        finally:
            self._is_page = False

    def tell(self) -> str:
        """How the training that is shown ended."""
        run = self._recorded[self._data, self._rate]
        ending = run.error or run.at(len(run.frames)).get("said.text", "")
        return f"{self._data}, learning rate {self._rate}: {ending}"

    def offer(self) -> Sequence[Control]:
        """What the film lets choose."""
        return [
            Control("part", "data", "The data", options=NAMES),
            Control("part", "rate", "The learning rate", options=RATES),
        ]

    def choose(self, name: str, value: Any) -> None:
        """Other points, or another rate."""
        if name == "data":
            self._data = value
        else:
            self._rate = value


def _picture(values: PartValues) -> Html:
    """The plane with its points and the region of class 1; the loss."""
    region = tag("path", data_part="region", d=values.get("region.d", ""), fill_rule="evenodd", class_="x-play-one")
    zeros = tag("path", data_part="zeros", d=values.get("zeros.d", ""), class_="x-film-dots x-play-point")
    ones = tag("path", data_part="ones", d=values.get("ones.d", ""), class_="x-play-point")
    words = "Points of two classes, and the line on whose one side the model says 1, on the other 0"
    plane = PLANE.drawn(words, ("first number", "second number"), [region, zeros, ones])
    curve = tag("polyline", data_part="curve", points=values.get("curve.points", ""), class_="x-film-curve")
    ball = tag("circle", data_part="loss", r=5, transform=values.get("loss.transform"), class_="x-film-ball")
    losses = LOSSES.drawn("The loss after each step, and a ball at this one", ("steps", "loss"), [curve], [ball])
    return join(plane, losses)


def playground(
    make_model: Callable[[], nn.Module], train_step: Callable[..., Any], optimizer: Callable[..., Any] = torch.optim.SGD
) -> Playground:
    """Train a model of yours on points in a plane, and watch where it draws the line between two classes.

    `make_model()` makes it: two numbers in, two logits out. `train_step(model, optimizer, criterion, x, y)` is called
    for each step, with all 200 points; `optimizer(parameters, lr=...)` makes the optimizer. Raises TypeError for what
    cannot be called; what your own code raises is shown, with its line.
    """
    for name, given in (("make_model", make_model), ("train_step", train_step), ("optimizer", optimizer)):
        if not callable(given):
            raise TypeError(
                f"expected a function for {name}, found {type(given).__name__}. "
                "Write playground(lambda: MLP([2, 16, 2], nn.ReLU), train_step), with a model and a step of yours."
            )
    return Playground(Player(make_model, train_step, optimizer), getattr(train_step, "__name__", "train_step"))
