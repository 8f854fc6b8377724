"""The loop stepper: the five lines of training on a copy of your model, one at a time, left out or moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.notebook.html_markup import Html
from explorers.animation import Animation, AnimationRun, FilmChoice, is_recording
from explorers.controls import Control, Refused
from explorers.loop_animation import FACTORS, learning_rates, own_rate
from explorers.loop_animation import STEPS as FILMED
from explorers.loop_picture import in_words, loop_picture
from explorers.loop_run import LINES
from explorers.loop_state import RIGHT_ORDER, Line, LoopState
from explorers.stepped_loop import Loop
from explorers.widget import Explorer

STEPS = {"run 1": 1, "run 10": 10, "run 100": 100}
TITLE = f"{FILMED} steps of these lines, from the start"
ON_A_PAGE = (0.1, 0.3, 1, 3, 8, 12)  # of the factors
ORDERS = {
    "right order": RIGHT_ORDER,
    "without zero_grad": tuple(line for line in RIGHT_ORDER if line.name != "zero_grad"),
}
SECONDS = 5.0  # that one press of a button may take


class LoopStepper(Explorer):
    """The widget; `loop_stepper` makes one."""

    def __init__(self, loop: Loop) -> None:
        super().__init__("Loop stepper")
        self._loop = loop
        self._still: LoopState | None = None
        self._rates = learning_rates(loop.optimizer)
        self._recorded: dict[tuple[str, ...], AnimationRun] = {}
        self._seek = 0
        self.show()

    def run(self, steps: int) -> None:
        """Run so many steps, as the buttons do."""
        self._loop.run(steps, SECONDS)
        self._seek = len(self._loop.state.losses)
        self.show()

    def draw(self) -> Html:
        """The lines, what they changed, the curve, the parameters."""
        if self._still is not None:
            return loop_picture(self._still, live=False)
        return loop_picture(self._loop.state)

    def page(self) -> Html:
        """The still picture: without buttons, and of one whole step where no line has run yet."""
        state = self._loop.state
        self._still = state if state.begun else self._loop.one_step()
        try:
            return super().page()
        finally:
            self._still = None

    def moving(self) -> Animation | None:
        """These lines at the learning rates that were chosen so far: what was recorded once is played at once."""
        own = own_rate(self._loop.optimizer)
        if own is None:
            return None
        if self._still is not None and is_recording():
            return self._for_a_page(own)
        lines, key = self._loop.state.lines, (f"{own:g}",)
        if key not in self._recorded:
            self._recorded[key] = self._loop.film.recorded(lines, own)
        about = " ".join(f"{line.name} {line.when}" for line in lines)
        return self._film(TITLE, [_rate_choice(self._rates, own)], self._recorded, about)

    def _for_a_page(self, own: float) -> Animation:
        """The right order, and one that leaves out a line, at some rates."""
        chosen = [rate for factor, rate in zip(FACTORS, self._rates, strict=True) if factor in ON_A_PAGE]
        runs: dict[tuple[str, ...], AnimationRun] = {
            (name, f"{rate:g}"): self._loop.film.recorded(lines, rate)
            for name, lines in ORDERS.items()
            for rate in chosen
        }
        orders = FilmChoice("lines", "Lines", tuple(ORDERS), next(iter(ORDERS)))
        return self._film(f"{FILMED} steps of the five lines", [orders, _rate_choice(chosen, own)], runs, "")

    def _film(
        self, title: str, choices: Sequence[FilmChoice], runs: Mapping[tuple[str, ...], AnimationRun], about: str
    ) -> Animation:
        shown = runs[tuple(choice.value for choice in choices)].at(self._seek)
        return Animation(title, choices, runs, self._loop.film.picture(shown), self._seek, about)

    def tell(self) -> str:
        """Where the loop is."""
        state = self._loop.state
        return f"{in_words(state)} {state.note}".strip()

    def offer(self) -> Sequence[Control]:
        """Buttons that run lines, and those beside the lines."""
        state = self._loop.state
        midway = state.begun and not state.finished and not state.stopped
        return [
            Control("button", "next", "Next line"),
            Control("button", "run 1", "Finish this step" if midway else "Run a step"),
            Control("button", "run 10", "Run 10 steps"),
            Control("button", "run 100", "Run 100 steps"),
            Control("button", "start", "Back to the start"),
            Control("button", "right", "Right order"),
            *(Control("part", name, name, options=tuple(LINES)) for name in ("up", "down", "never", "first")),
            Control("part", "rate", "The learning rate", options=tuple(f"{rate:g}" for rate in self._rates)),
        ]

    def choose(self, name: str, value: Any) -> None:
        """Run lines, or change them; changed lines begin at the start."""
        lines = self._loop.state.lines
        if self._loop.state.stopped and (name == "next" or name in STEPS):
            raise Refused("An error has stopped the loop: go back to the start, or change the lines.")
        if name == "rate":
            return self._loop.at_rate(float(value))
        self._change(name, value)
        if self._loop.state.lines != lines:
            self._recorded.clear()
        self._seek = len(self._loop.state.losses)
        return None

    def _change(self, name: str, value: Any) -> None:
        lines = self._loop.state.lines
        if name == "next":
            self._loop.next_line()
        elif name in STEPS:
            self._loop.run(STEPS[name], SECONDS)
        elif name == "start":
            self._loop.restart(lines)
        elif name == "right":
            self._loop.restart()
        elif name in ("up", "down"):
            self._loop.restart(_moved(lines, value, -1 if name == "up" else 1))
        else:
            self._loop.restart([_switched(line, name) if line.name == value else line for line in lines])


def _rate_choice(rates: Sequence[float], own: float) -> FilmChoice:
    return FilmChoice("rate", "Learning rate", tuple(f"{rate:g}" for rate in rates), f"{own:g}", "slider")


def _moved(lines: Sequence[Line], name: str, by: int) -> list[Line]:
    """The lines with one of them moved up or down."""
    order = list(lines)
    place = next(number for number, line in enumerate(order) if line.name == name)
    if not 0 <= place + by < len(order):
        raise Refused(f"`{LINES[name]}` is the {'first' if by < 0 else 'last'} line already.")
    order.insert(place + by, order.pop(place))
    return order


def _switched(line: Line, when: Any) -> Line:
    """The line left out, or run once; the same again puts it back."""
    return replace(line, when="every" if line.when == when else when)


def loop_stepper(model: Any, optimizer: Any, criterion: Any, x: Any, y: Any) -> LoopStepper:
    """Step through the five lines of training: what does each of them change, and what breaks without it?

    Everything runs on copies; your model, optimizer and batch stay as they are. Random numbers are the same each time.
    Raises TypeError or ValueError for what cannot be trained, or not be copied.
    """
    return LoopStepper(Loop(model, optimizer, criterion, x, y))
