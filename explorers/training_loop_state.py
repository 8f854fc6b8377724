"""The loop stepper's state as plain data: the five lines of a training step, their effects, and the losses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from explorers.loop_line_executor import LINES, TensorKey

MOST_VALUES = 6  # a tensor with more numbers is summarized by its norm

WhenLineRuns = Literal["every", "first", "never"]
Change = Literal["", "changed", "again"]


@dataclass(frozen=True)
class Line:
    """One of the five lines (a name of LINES), and when it runs: in every step, in the first one, or never."""

    name: str
    when: WhenLineRuns = "every"


RIGHT_ORDER = tuple(Line(name) for name in LINES)


@dataclass(frozen=True)
class DisplayedTensor:
    """A tensor as plain data: its numbers as a nested list if they are few, else its norm.

    `shape` is None if the tensor does not exist yet. `change` is the effect of the last line on it: `changed`, or
    `again` if the line made a new tensor with the same numbers.
    """

    key: TensorKey
    shape: tuple[int, ...] | None
    values: Any = None
    norm: float | None = None
    change: Change = ""


@dataclass(frozen=True)
class Effect:
    """The effect of one line within a step: whether the line has run, and which tensors it changed.

    `error` is the message of Python or torch, `warnings` are torch's; `remarks` are the explorer's own.
    """

    line: Line
    status: Literal["done", "next", "waiting", "left out", "stopped"]
    changed: tuple[DisplayedTensor, ...] = ()
    error: str = ""
    warnings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """Return the line's source code."""
        return LINES[self.line.name]


@dataclass(frozen=True)
class LoopState:
    """The state of the loop: the present step (from 1), and all tensors before this step and now.

    `losses` has one entry for each finished step, None if the step computed no loss. `right` has the losses of a
    second run from the same start, with the lines in their right order, to compare with; `right_error` is the error
    that ended it. `remarks` concern the whole step.
    """

    model: str
    optimizer: str
    step: int
    effects: tuple[Effect, ...]
    before: tuple[DisplayedTensor, ...]
    now: tuple[DisplayedTensor, ...]
    losses: tuple[float | None, ...]
    right: tuple[float | None, ...]
    right_error: str = ""
    remarks: tuple[str, ...] = ()
    note: str = ""

    @property
    def lines(self) -> tuple[Line, ...]:
        """Return the lines in their order, including those that are left out."""
        return tuple(effect.line for effect in self.effects)

    @property
    def stopped(self) -> bool:
        """Return whether an error has stopped the loop."""
        return any(effect.status == "stopped" for effect in self.effects)

    @property
    def begun(self) -> bool:
        """Return whether any line has run."""
        return self.step > 1 or any(effect.status in ("done", "stopped") for effect in self.effects)

    @property
    def finished(self) -> bool:
        """Return whether every line of this step has run."""
        return not self.stopped and all(effect.status in ("done", "left out") for effect in self.effects)


def displayed_tensor(key: TensorKey, tensor: Tensor | None, change: Change = "") -> DisplayedTensor:
    """Return a tensor as the plain data that the page shows."""
    if tensor is None:
        return DisplayedTensor(key, None, change=change)
    shape = tuple(tensor.shape)
    if tensor.numel() <= MOST_VALUES:
        return DisplayedTensor(key, shape, values=tensor.tolist(), change=change)
    real = tensor if tensor.is_floating_point() or tensor.is_complex() else tensor.double()
    return DisplayedTensor(key, shape, norm=float(torch.linalg.vector_norm(real)), change=change)
