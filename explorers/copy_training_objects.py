"""Copy a training loop's model, optimizer, criterion and batch, so that a run leaves the reader's objects unchanged."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

MOST_NUMBERS = 20_000_000  # numbers in all parameters; with more, each line would take seconds


@dataclass(frozen=True)
class TrainingObjects:
    """What a training loop needs: model, optimizer of its parameters, criterion, and one batch `x`, `y`."""

    model: Any
    optimizer: Any
    criterion: Any
    x: Any
    y: Any

    def copied(self) -> TrainingObjects:
        """Return a copy of the parts with the optimizer's state and each `.grad`; raise ValueError if that fails.

        Hooks of modules come along. Hooks of tensors and optimizers do not: torch's own copies leave them out.
        """
        memo: dict[int, Any] = {}
        try:
            made = TrainingObjects(
                copy.deepcopy(self.model, memo),
                copied_optimizer(self.optimizer, memo),
                copy.deepcopy(self.criterion, memo),
                _copied_batch(self.x),
                _copied_batch(self.y),
            )
        except Exception as error:
            raise ValueError(
                f"the loop stepper works on copies, and there is something that cannot be copied: {error} "
                "Give it a model that keeps no results of a forward pass, and an optimizer made for that model."
            ) from error
        for old, copied in zip(self.tensors(), made.tensors(), strict=True):
            copied.grad = None if old.grad is None else old.grad.detach().clone()
        return made

    def tensors(self) -> list[Tensor]:
        """Return each parameter once: the model's first, then those that only the criterion or optimizer holds."""
        return [*self.names()]

    def names(self) -> dict[Tensor, str]:
        """Map each parameter to its name, in a fixed order."""
        found: dict[Tensor, str] = {}
        for prefix, owner in (("", self.model), ("criterion.", self.criterion)):
            if isinstance(owner, torch.nn.Module):
                for name, parameter in owner.named_parameters():
                    found.setdefault(parameter, prefix + name)
        for number, other in enumerate(self.held()):
            found.setdefault(other, f"optimizer's number {number}")
        return found

    def held(self) -> list[Tensor]:
        """Return the parameters in the optimizer's groups."""
        groups = getattr(self.optimizer, "param_groups", ())
        return [parameter for group in groups for parameter in group["params"]]


def validate_parts(parts: TrainingObjects) -> TrainingObjects:
    """Return the parts; raise TypeError or ValueError if the five lines cannot run with them."""
    if not isinstance(parts.model, torch.nn.Module):
        raise TypeError(f"expected a model, an nn.Module; found {type(parts.model).__name__}.")
    for name in ("zero_grad", "step"):
        if not callable(getattr(parts.optimizer, name, None)):
            raise TypeError(f"expected an optimizer with {name}(); found {type(parts.optimizer).__name__}.")
    if not callable(parts.criterion):
        raise TypeError(f"expected a criterion to call with prediction and y; found {type(parts.criterion).__name__}.")
    if any(torch.nn.parameter.is_lazy(parameter) for parameter in parts.tensors()):
        raise ValueError("expected a model whose parameters have their shapes: call it once, model(x), and come again.")
    count = sum(parameter.numel() for parameter in parts.tensors())
    if count > MOST_NUMBERS:
        raise ValueError(
            f"expected a model with at most {MOST_NUMBERS:,} numbers, found {count:,}: take a smaller one."
        )
    return parts


def copied_optimizer(optimizer: Any, memo: dict[int, Any]) -> Any:
    """Copy an optimizer of any kind; `memo` holds the copies of its parameters, as in `copy.deepcopy`."""
    made = copy.deepcopy(optimizer, memo)
    # torch's copy of an optimizer leaves out what a subclass adds. Functions stay away: a learning rate schedule
    # wraps `step` in one that would step the reader's own optimizer.
    for name, value in vars(optimizer).items():
        if name not in vars(made) and not callable(value):
            setattr(made, name, copy.deepcopy(value, memo))
    return made


def _copied_batch(value: Any) -> Any:
    """Copy a batch; the copy of a tensor has no graph behind it."""
    if isinstance(value, Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    return copy.deepcopy(value)


class IsolatedRandomState:
    """The loop's own random state: the same in each run, and separate from the reader's generators."""

    def __init__(self, seed: int) -> None:
        with _forked() as devices:
            torch.default_generator.manual_seed(seed)
            for device in devices:
                torch.cuda.default_generators[device].manual_seed(seed)
            self._states = _states(devices)

    @contextmanager
    def drawn(self) -> Iterator[None]:
        """Draw random numbers inside this block from this state, continuing where the last block ended."""
        with _forked() as devices:
            _set_states(self._states)
            try:
                yield
            finally:
                self._states = _states(devices)


@contextmanager
def _forked() -> Iterator[list[int]]:
    """Restore all generators after this block, and yield the CUDA devices.

    CUDA devices are included only if CUDA is already initialized, since querying them would start it.
    """
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices):
        yield devices


def _states(devices: list[int]) -> dict[int | None, Tensor]:
    return {None: torch.get_rng_state(), **{device: torch.cuda.get_rng_state(device) for device in devices}}


def _set_states(states: dict[int | None, Tensor]) -> None:
    for device, state in states.items():
        if device is None:
            torch.set_rng_state(state)
        else:
            torch.cuda.set_rng_state(state, device)
