"""Run the lines zero_grad, forward, loss, backward, step one at a time on copies, and record what each may change."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from explorers.copy_training_objects import IsolatedRandomState, TrainingObjects

# As chapter 4 writes them, in the right order.
LINES = {
    "zero_grad": "optimizer.zero_grad()",
    "forward": "prediction = model(x)",
    "loss": "loss = criterion(prediction, y)",
    "backward": "loss.backward()",
    "step": "optimizer.step()",
}
_PROGRAMS = {name: compile(code, "the five lines", "exec") for name, code in LINES.items()}

PREDICTION, LOSS, GRADIENT, PARAMETER, BUFFER, STATE = PLACES = (
    "prediction",
    "loss",
    ".grad",
    "parameters",
    "buffers",
    "optimizer's state",
)


class TensorKey(NamedTuple):
    """The place of a tensor: kind of place, name of the parameter or buffer, entry in the optimizer's state."""

    place: str
    name: str = ""
    entry: str = ""


Snapshot = Mapping[TensorKey, Tensor | None]  # None: no such tensor exists now


@dataclass(frozen=True)
class LineOutcome:
    """The outcome of a line: the message of an error, if any, and torch's warnings."""

    error: str = ""
    warnings: tuple[str, ...] = ()


class LoopLineExecutor:
    """A run of some of the five lines on a copy of the parts; `rate` replaces the learning rate."""

    def __init__(self, parts: TrainingObjects, seed: int, rate: float | None = None) -> None:
        self.parts = parts.copied()
        for group in self.parts.optimizer.param_groups if rate is not None else ():
            group["lr"] = rate
        self._names = self.parts.names()
        self._chance = IsolatedRandomState(seed)
        self._scope: dict[str, Any] = {**vars(self.parts)}

    def execute(self, line: str) -> LineOutcome:
        """Run a line of LINES; an error is caught, and its message returned."""
        with warnings.catch_warnings(record=True) as warned, self._chance.drawn():
            warnings.simplefilter("always")
            try:
                exec(_PROGRAMS[line], self._scope)
                error = ""
            except Exception as raised:  # the model and the criterion are the reader's: anything may come
                error = f"{type(raised).__name__}: {raised}"
        return LineOutcome(error, tuple(dict.fromkeys(str(each.message) for each in warned)))

    def prediction_or_loss(self, name: str) -> object:
        """Return the present value of `prediction` or `loss`; None if it has none yet."""
        return self._scope.get(name)

    def loss(self) -> float | None:
        """Return the loss as a number, or None if there is none."""
        loss = self.prediction_or_loss(LOSS)
        single = isinstance(loss, Tensor) and loss.numel() == 1 and not loss.is_complex()
        return float(loss.detach()) if isinstance(loss, Tensor) and single else None

    def look(self) -> dict[TensorKey, Tensor | None]:
        """Return copies of everything that a line may change."""
        found = {TensorKey(name): _copy(self.prediction_or_loss(name)) for name in (PREDICTION, LOSS)}
        for parameter, name in self._names.items():
            found[TensorKey(PARAMETER, name)] = _copy(parameter)
            found[TensorKey(GRADIENT, name)] = _copy(parameter.grad)
            for entry, value in self._state(parameter).items():
                found[TensorKey(STATE, name, entry)] = _copy(value)
        for name, buffer in self.parts.model.named_buffers():
            found[TensorKey(BUFFER, name)] = _copy(buffer)
        return found

    def _state(self, parameter: Tensor) -> Mapping[str, Any]:
        if not isinstance(self.parts.optimizer, torch.optim.Optimizer):
            return {}
        state = self.parts.optimizer.state.get(parameter, {})
        return {entry: value for entry, value in state.items() if isinstance(value, Tensor | int | float)}


def _copy(value: Any) -> Tensor | None:
    if isinstance(value, int | float):
        return torch.tensor(value)
    if not isinstance(value, Tensor):
        return None
    dense = value.detach()
    return (dense if dense.layout is torch.strided else dense.to_dense()).clone()


def equal_numbers(one: Tensor | None, other: Tensor | None) -> bool:
    """Return whether two tensors are equal number by number; NaN equals NaN."""
    if one is None or other is None:
        return one is other
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return torch.allclose(one, other, rtol=0, atol=0, equal_nan=True)


def is_empty_grad(gradient: Tensor | None) -> bool:
    """Return whether a `.grad` is None or all zeros, so that adding to it changes nothing."""
    return gradient is None or not gradient.any()
