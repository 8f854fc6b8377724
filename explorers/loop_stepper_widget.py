"""The loop stepper: a widget that runs the five lines of training one at a time, in any order, on copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.notebook.html_markup import Html
from explorers.explorer_base_widget import Explorer
from explorers.explorer_controls import Control, InvalidChoice
from explorers.learning_rate_animation import FACTORS, offered_learning_rates, optimizer_rate
from explorers.learning_rate_animation import STEPS as FILMED
from explorers.loop_line_executor import LINES
from explorers.recorded_animation import Film, FilmChoice, RecordedRun, records_all_choices
from explorers.run_loop_by_line import Loop
from explorers.training_loop_html import in_words, loop_picture
from explorers.training_loop_state import RIGHT_ORDER, Line, LoopState

STEPS = {"run 1": 1, "run 10": 10, "run 100": 100}
TITLE = f"{FILMED} steps of these lines, from the start"
ON_A_PAGE = (0.1, 0.3, 1, 3, 8, 12)  # the factors whose learning rates a page without a kernel offers
ORDERS = {
    "right order": RIGHT_ORDER,
    "without zero_grad": tuple(line for line in RIGHT_ORDER if line.name != "zero_grad"),
}
SECONDS = 5.0  # for one press of a button


class LoopStepper(Explorer):
    """The widget that `loop_stepper` returns."""

    def __init__(self, loop: Loop) -> None:
        super().__init__("Loop stepper")
        self._loop = loop
        self._still: LoopState | None = None
        self._rates = offered_learning_rates(loop.optimizer)
        self._recorded: dict[tuple[str, ...], RecordedRun] = {}
        self._seek = 0
        self.show()

    def run(self, steps: int) -> None:
        """Run a number of steps, as the buttons do."""
        self._loop.run(steps, SECONDS)
        self._seek = len(self._loop.state.losses)
        self.show()

    def draw(self) -> Html:
        """Return the lines, their changes, the loss curve and the parameters."""
        if self._still is not None:
            return loop_picture(self._still, live=False)
        return loop_picture(self._loop.state)

    def page(self) -> Html:
        """Return the picture without buttons; if no line has run yet, that of one whole step."""
        state = self._loop.state
        self._still = state if state.begun else self._loop.one_step()
        try:
            return super().page()
        finally:
            self._still = None

    def moving(self) -> Film | None:
        """Return the film of these lines at each learning rate chosen so far; each is recorded only once.

        Returns None if the optimizer has no learning rate.
        """
        own = optimizer_rate(self._loop.optimizer)
        if own is None:
            return None
        if self._still is not None and records_all_choices():
            return self._for_a_page(own)
        lines, key = self._loop.state.lines, (f"{own:g}",)
        if key not in self._recorded:
            self._recorded[key] = self._loop.film.recorded(lines, own)
        about = " ".join(f"{line.name} {line.when}" for line in lines)
        return self._film(TITLE, [_rate_choice(self._rates, own)], self._recorded, about)

    def _for_a_page(self, own: float) -> Film:
        """Return the film of the right order, and of an order without `zero_grad`, at some rates."""
        chosen = [rate for factor, rate in zip(FACTORS, self._rates, strict=True) if factor in ON_A_PAGE]
        runs: dict[tuple[str, ...], RecordedRun] = {
            (name, f"{rate:g}"): self._loop.film.recorded(lines, rate)
            for name, lines in ORDERS.items()
            for rate in chosen
        }
        orders = FilmChoice("lines", "Lines", tuple(ORDERS), next(iter(ORDERS)))
        return self._film(f"{FILMED} steps of the five lines", [orders, _rate_choice(chosen, own)], runs, "")

    def _film(
        self, title: str, choices: Sequence[FilmChoice], runs: Mapping[tuple[str, ...], RecordedRun], about: str
    ) -> Film:
        shown = runs[tuple(choice.value for choice in choices)].at(self._seek)
        return Film(title, choices, runs, self._loop.film.picture(shown), self._seek, about)

    def tell(self) -> str:
        """Return the present state of the loop in words."""
        state = self._loop.state
        return f"{in_words(state)} {state.note}".strip()

    def offer(self) -> Sequence[Control]:
        """Return the buttons that run lines, and the buttons beside the lines."""
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
        """Run lines, or change them; a change goes back to the start."""
        lines = self._loop.state.lines
        if self._loop.state.stopped and (name == "next" or name in STEPS):
            raise InvalidChoice("An error has stopped the loop: go back to the start, or change the lines.")
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
    """Return the lines with one of them moved up or down; raise Refused at the ends."""
    order = list(lines)
    place = next(number for number, line in enumerate(order) if line.name == name)
    if not 0 <= place + by < len(order):
        raise InvalidChoice(f"`{LINES[name]}` is the {'first' if by < 0 else 'last'} line already.")
    order.insert(place + by, order.pop(place))
    return order


def _switched(line: Line, when: Any) -> Line:
    """Return the line with `when` switched on, or with it switched off again."""
    return replace(line, when="every" if line.when == when else when)


def loop_stepper(model: Any, optimizer: Any, criterion: Any, x: Any, y: Any) -> LoopStepper:
    """Step through the five lines of training: see what each changes, and what breaks without it.

    Everything runs on copies; your model, optimizer and batch do not change. Random numbers are the same in each run.
    Raises TypeError or ValueError for parts that cannot be trained or copied.
    """
    return LoopStepper(Loop(model, optimizer, criterion, x, y))
