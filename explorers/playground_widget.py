"""The playground: the reader's model and training step on points in a plane, with the classes' boundary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from autograder.notebook.html_markup import Html, join, sentence_to_html, tag
from explorers.explorer_base_widget import Explorer
from explorers.explorer_controls import Control
from explorers.playground_points import NAMES
from explorers.playground_training import LOSSES, PLANE, STEPS, ReaderTrainingSetup, Training
from explorers.recorded_animation import Film, FilmChoice, PartValues, RecordedRun, moving_dot, records_all_choices

RATES = ("0.01", "0.03", "0.1", "0.3", "1", "3", "10")
FIRST = "0.3"
_SAME = ", from the same start each time."
_ON = (
    ". Another rate goes on with the weights of the step that is shown; at the first step or the last it begins with "
    "new ones, the same each time."
)
ON_A_PAGE = ("0.03", "0.3", "1", "10")


class TrainingPlayground(Explorer):
    """The widget that `playground` returns."""

    def __init__(self, player: ReaderTrainingSetup, name: str) -> None:
        super().__init__("Playground")
        self._player, self._name = player, name
        self._data, self._rate = NAMES[0], FIRST
        self._fresh: dict[tuple[str, str], Training] = {}
        self._before: list[tuple[int, str]] = []  # the earlier rates of this run, each with the step where it ended
        self._at = 0  # the frame that the page shows
        self._now = self._from_the_start(self._data, self._rate)
        self._is_page = False
        self.show()

    def draw(self) -> Html:
        """Return the text above the film: what is trained, and how to read the picture."""
        told = f"`{self._name}` trains your model for {STEPS[-1]} steps{_SAME if self._is_page else _ON}"
        reading = "Dots are class 0, crosses class 1. A side of the line has the color of what the model says there."
        return tag("p", sentence_to_html(" ".join(filter(None, (told, self._told_rates(), reading)))))

    def _told_rates(self) -> str:
        if not self._before:
            return ""
        parts = [f"{rate} until step {step}" for step, rate in self._before]
        return f"The learning rate of this run: {', '.join(parts)}, then {self._rate}."

    def moving(self) -> Film:
        """Return the film of the present run.

        On a page without a kernel it holds runs for every set of points, each from the start.
        """
        here, is_recorded = (self._data, self._rate), self._is_page and records_all_choices()
        runs: dict[tuple[str, ...], RecordedRun] = {here: self._now.recording()}
        if is_recorded:
            runs = {(data, rate): self._from_the_start(data, rate).recording() for data in NAMES for rate in ON_A_PAGE}
        choices = [
            FilmChoice("data", "Data", NAMES, self._data),
            FilmChoice("rate", "Learning rate", ON_A_PAGE if is_recorded else RATES, self._rate, "slider"),
        ]
        last = len(runs[here].frames) - 1 if self._is_page else 0
        title = "Where the model says which class"
        return Film(title, choices, runs, _picture(runs[here].at(last)), last, tells_place=True)

    def _from_the_start(self, data: str, rate: str) -> Training:
        if (data, rate) not in self._fresh:
            self._fresh[data, rate] = self._player.trained(data, float(rate))
        return self._fresh[data, rate]

    def page(self) -> Html:
        """Return the picture for a page without a kernel, after training."""
        self._is_page = True
        try:
            return super().page()
        finally:
            self._is_page = False

    def tell(self) -> str:
        """Return the data, the learning rates and the result of the present run in words."""
        run = self._now.recording()
        ending = run.error or run.at(len(run.frames)).get("said.text", "")
        rates = ", then ".join([*(rate for _, rate in self._before), self._rate])
        return f"{self._data}, learning rate {rates}: {ending}"

    def offer(self) -> Sequence[Control]:
        """Return the film's choices as controls."""
        return [
            Control("part", "data", "The data", options=NAMES),
            Control("part", "rate", "The learning rate", options=RATES),
            Control("part", "at", "The step that is shown", options=tuple(map(str, range(len(STEPS) + 1)))),
        ]

    def choose(self, name: str, value: Any) -> None:
        """Change the points, or the learning rate; a new rate continues a run from the step that is shown."""
        if name == "at":
            self._at = int(value)
        elif name == "data":
            self._data, self._before = value, []
            self._now = self._from_the_start(value, self._rate)
        elif value != self._rate:
            self._change_rate(value)

    def _change_rate(self, rate: str) -> None:
        if self._now.can_go_on(self._at):
            past = self._now.moments[: self._at + 1]
            kept = [each for each in self._before if each[0] < past[-1].step]
            self._before = [*kept, (past[-1].step, self._rate_at(past[-1].step))]
            self._now = self._player.trained(self._data, float(rate), past)
        else:
            self._before, self._now = [], self._from_the_start(self._data, rate)
        self._rate = rate

    def _rate_at(self, step: int) -> str:
        """Return the learning rate that led to this step."""
        return next((rate for end, rate in self._before if step <= end), self._rate)


def _picture(values: PartValues) -> Html:
    """Return the plane with its points and the region of class 1, and the loss curve."""
    ground = tag("path", data_part="ground", d=values.get("ground.d", ""), class_="x-play-zero")
    region = tag("path", data_part="region", d=values.get("region.d", ""), fill_rule="evenodd", class_="x-play-one")
    zeros = tag("path", data_part="zeros", d=values.get("zeros.d", ""), class_="x-film-dots x-play-point")
    ones = tag("path", data_part="ones", d=values.get("ones.d", ""), class_="x-play-point")
    words = "Points of two classes, and the line on whose one side the model says 1, on the other 0"
    plane = PLANE.drawn(words, ("first number", "second number"), [ground, region, zeros, ones])
    curve = tag("polyline", data_part="curve", points=values.get("curve.points", ""), class_="x-film-curve")
    marks = [moving_dot("loss", 5, values)]
    words = "The loss after each step, and a ball at this one"
    losses = LOSSES.drawn(words, ("steps", "loss (logarithmic)"), [curve], marks)
    return join(plane, losses)


def playground(
    make_model: Callable[[], nn.Module], train_step: Callable[..., Any], optimizer: Callable[..., Any] = torch.optim.SGD
) -> TrainingPlayground:
    """Train a model of yours on points in a plane, and watch its boundary between two classes.

    `make_model()` returns the model: two numbers in, two logits out. The playground calls `train_step(model, optimizer,
    criterion, x, y)` for each step, with all 200 points; `optimizer(parameters, lr=...)` makes the optimizer. An error
    in your code is shown with its line. Raises TypeError for arguments that cannot be called.
    """
    for name, given in (("make_model", make_model), ("train_step", train_step), ("optimizer", optimizer)):
        if not callable(given):
            raise TypeError(
                f"expected a function for {name}, found {type(given).__name__}. "
                "Write playground(lambda: MLP([2, 16, 2], nn.ReLU), train_step), with a model and a step of yours."
            )
    return TrainingPlayground(
        ReaderTrainingSetup(make_model, train_step, optimizer), getattr(train_step, "__name__", "train_step")
    )
