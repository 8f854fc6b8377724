"""The loop stepper's state: the five lines, what each has changed, and the losses, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from explorers.loop_run import LINES, TensorKey

MOST_VALUES = 6  # a tensor with more numbers is told by its norm

When = Literal["every", "first", "never"]
Change = Literal["", "changed", "again"]


@dataclass(frozen=True)
class Line:
    """One of the five lines (a name of LINES), and the steps in which it runs: in each, in the first only, in none."""

    name: str
    when: When = "every"


RIGHT_ORDER = tuple(Line(name) for name in LINES)


@dataclass(frozen=True)
class SeenTensor:
    """A tensor as it is seen: its numbers in a nested list where they are few, its norm where they are many.

    `shape` is None where there is nothing yet. `change` is what the last line did to it: `again` is a new tensor with
    the same numbers.
    """

    key: TensorKey
    shape: tuple[int, ...] | None
    values: Any = None
    norm: float | None = None
    change: Change = ""


@dataclass(frozen=True)
class Effect:
    """One line within a step: whether it has run, and what it changed.

    `error` is Python's or torch's own message, `warnings` are torch's own; `remarks` are ours.
    """

    line: Line
    status: Literal["done", "next", "waiting", "left out", "stopped"]
    changed: tuple[SeenTensor, ...] = ()
    error: str = ""
    warnings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """The line as it is written."""
        return LINES[self.line.name]


@dataclass(frozen=True)
class LoopState:
    """The loop after some lines: the step it is in (from 1), all that was there before this step, and all there is now.

    `losses` has one entry for each finished step, None where there was no loss; `right` the same for the right order
    from the same start, `right_error` what stopped that. `remarks` are those on the whole step.
    """

    model: str
    optimizer: str
    step: int
    effects: tuple[Effect, ...]
    before: tuple[SeenTensor, ...]
    now: tuple[SeenTensor, ...]
    losses: tuple[float | None, ...]
    right: tuple[float | None, ...]
    right_error: str = ""
    remarks: tuple[str, ...] = ()
    note: str = ""

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines in their order, with those that are left out."""
        return tuple(effect.line for effect in self.effects)

    @property
    def stopped(self) -> bool:
        """Whether an error has stopped the loop."""
        return any(effect.status == "stopped" for effect in self.effects)

    @property
    def begun(self) -> bool:
        """Whether any line has run."""
        return self.step > 1 or any(effect.status in ("done", "stopped") for effect in self.effects)

    @property
    def finished(self) -> bool:
        """Whether this step has run to its end."""
        return not self.stopped and all(effect.status in ("done", "left out") for effect in self.effects)


def shown_tensor(key: TensorKey, tensor: Tensor | None, change: Change = "") -> SeenTensor:
    """A tensor as it is shown."""
    if tensor is None:
        return SeenTensor(key, None, change=change)
    shape = tuple(tensor.shape)
    if tensor.numel() <= MOST_VALUES:
        return SeenTensor(key, shape, values=tensor.tolist(), change=change)
    real = tensor if tensor.is_floating_point() or tensor.is_complex() else tensor.double()
    return SeenTensor(key, shape, norm=float(torch.linalg.vector_norm(real)), change=change)
