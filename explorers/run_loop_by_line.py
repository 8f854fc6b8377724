"""A training loop that runs one line at a time, on copies of the reader's model, optimizer and batch."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from explorers.copy_training_objects import TrainingObjects, validate_parts
from explorers.detect_training_loop_mistakes import TrainingLoopMistakeDetector
from explorers.learning_rate_animation import LoopFilm
from explorers.loop_line_executor import LINES, LOSS, PREDICTION, LoopLineExecutor, Snapshot, TensorKey, equal_numbers
from explorers.training_loop_state import (
    RIGHT_ORDER,
    Change,
    DisplayedTensor,
    Effect,
    Line,
    LoopState,
    displayed_tensor,
)

MOST_STEPS = 1000  # in one run; the curve cannot show more


class Loop:
    """A training loop that runs one line at a time on copies of the reader's model, optimizer and batch.

    Random numbers (dropout) come from the loop's own seed, so that each run draws the same ones.
    """

    def __init__(self, model: Any, optimizer: Any, criterion: Any, x: Any, y: Any, *, seed: int = 0) -> None:
        """Copy everything; raise TypeError or ValueError for objects that cannot be trained or copied."""
        self._origin = validate_parts(TrainingObjects(model, optimizer, criterion, x, y)).copied()
        self._seed = seed
        self._rate: float | None = None
        self.restart()

    def at_rate(self, rate: float) -> None:
        """Go back to the start with these lines, and with this learning rate in place of the optimizer's own."""
        self._rate = rate
        self.restart(self._lines)

    @cached_property
    def film(self) -> LoopFilm:
        """Return the recorder of runs from the same start."""
        return LoopFilm(self._origin, self._seed)

    @property
    def optimizer(self) -> Any:
        """Return this run's optimizer, a copy."""
        return self._run.parts.optimizer

    def restart(self, lines: Sequence[Line] = RIGHT_ORDER) -> None:
        """Go back to the start with these lines; raise ValueError for unknown or repeated lines."""
        unknown = [line for line in lines if line.name not in LINES]
        if unknown or len({line.name for line in lines}) < len(lines):
            raise ValueError(
                f"expected each of {', '.join(LINES)} at most once, found {', '.join(n.name for n in lines)}."
            )
        self._lines = tuple(lines)
        self._run, self._right = (LoopLineExecutor(self._origin, self._seed, self._rate) for _ in range(2))
        self._look = self._before = self._run.look()
        self._witness = TrainingLoopMistakeDetector(self._run, self._look)
        self._losses: tuple[float | None, ...] = ()
        self._right_losses: tuple[float | None, ...] = ()
        self._right_error = ""
        self._step = 0
        self._begin()

    def next_line(self) -> None:
        """Run the next line; after the last one, the first of the next step. After an error, do nothing."""
        state = self.state
        if state.stopped or (state.finished and not self._may_begin()):
            return
        if state.finished:
            self._begin()
        waiting = [number for number, effect in enumerate(self._effects) if effect.status == "next"]
        for number in waiting:
            self._advance(number)

    def run(self, steps: int, seconds: float = math.inf) -> None:
        """Finish this step and run more, `steps` in all. Stop early after an error, or after `seconds`."""
        end = time.monotonic() + seconds
        for number in range(steps):
            self.next_line()
            while any(effect.status == "next" for effect in self._effects):
                self.next_line()
            if time.monotonic() > end and number < steps - 1 and not self.state.stopped:
                self._note = f"These steps take long: it stopped after {number + 1} of {steps}. Press again to go on."
                return

    def one_step(self) -> LoopState:
        """Return the state after one whole step from the start; this loop is not changed."""
        other = copy.copy(self)
        other.restart(self._lines)
        other.run(1)
        return other.state

    @property
    def state(self) -> LoopState:
        """Return everything that the page shows, as plain data."""
        return LoopState(
            type(self._origin.model).__name__,
            _written(self.optimizer),
            self._step,
            self._effects,
            tuple(displayed_tensor(key, tensor) for key, tensor in self._before.items()),
            self._now,
            self._losses,
            self._right_losses,
            self._right_error,
            self._remarks,
            self._note,
        )

    # --- a step

    def _may_begin(self) -> bool:
        if all(line.when == "never" for line in self._lines):
            self._note = "Every line is left out: there is nothing to run."
        elif self._step >= MOST_STEPS:
            self._note = f"These were {MOST_STEPS} steps: go back to the start."
        elif not any(line.when == "every" for line in self._lines):
            self._note = "No line runs after the first step."
        else:
            return True
        return False

    def _begin(self) -> None:
        self._step += 1
        self._before = self._look
        self._now = tuple(displayed_tensor(key, tensor) for key, tensor in self._look.items())
        self._remarks: tuple[str, ...] = ()
        self._note = ""
        self._effects: tuple[Effect, ...] = tuple(
            Effect(line, "waiting" if self._runs(line) else "left out") for line in self._lines
        )
        self._point()

    def _runs(self, line: Line) -> bool:
        return line.when == "every" or (line.when == "first" and self._step == 1)

    def _point(self) -> None:
        """Mark the next line."""
        for number, effect in enumerate(self._effects):
            if effect.status == "waiting":
                return self._set(number, replace(effect, status="next"))
        return None

    def _set(self, number: int, effect: Effect) -> None:
        self._effects = (*self._effects[:number], effect, *self._effects[number + 1 :])

    def _advance(self, number: int) -> None:
        effect, before, bound = self._effects[number], self._look, self._bound()
        outcome = self._run.execute(effect.line.name)
        self._look = self._run.look()
        again = {TensorKey(name) for name, value in self._bound().items() if value is not bound[name]}
        self._now = tuple(_changes(before, self._look, again))
        changed = tuple(seen for seen in self._now if seen.change)
        if outcome.error:
            return self._set(number, replace(effect, status="stopped", changed=changed, **vars(outcome)))
        remarks = self._witness.remarks_on_line(self._step, effect.line.name, before, self._look)
        done = replace(effect, status="done", changed=changed, remarks=remarks, **vars(outcome))
        self._set(number, done)
        self._point()
        if all(each.status in ("done", "left out") for each in self._effects):
            self._end()
        return None

    def _bound(self) -> dict[str, object]:
        return {name: self._run.prediction_or_loss(name) for name in (PREDICTION, LOSS)}

    def _end(self) -> None:
        self._remarks = self._witness.finished(self._step, self._before, self._look)
        ran = any(each.line.name == LOSS and each.status == "done" for each in self._effects)
        self._losses = (*self._losses, self._run.loss() if ran else None)
        if self._right_error:
            return
        for line in LINES:
            self._right_error = self._right_error or self._right.execute(line).error
        if not self._right_error:
            self._right_losses = (*self._right_losses, self._right.loss())


def _changes(before: Snapshot, after: Snapshot, again: set[TensorKey]) -> Iterable[DisplayedTensor]:
    for key, tensor in after.items():
        change: Change = "again" if key in again else ""
        if not equal_numbers(before.get(key), tensor):
            change = "changed"
        yield displayed_tensor(key, tensor, change)


def _written(optimizer: Any) -> str:
    """Return the optimizer with its settings that are not zero, such as `SGD(lr=0.1, momentum=0.9)`."""
    groups = getattr(optimizer, "param_groups", [{}])
    given = {name: value for name, value in groups[0].items() if name != "params"} if groups else {}
    usual = ("lr", "momentum", "betas", "weight_decay", "nesterov")
    told = [f"{name}={given[name]}" for name in usual if given.get(name)]
    return f"{type(optimizer).__name__}({', '.join(told)})"
