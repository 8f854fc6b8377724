"""Observe autocast: which device types and dtypes an answer uses it with, and when."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from autograder.exercises.probe import Answer
from autograder.exercises.replace_attributes_temporarily import replace_attribute_in_answer


def active_autocast_dtype() -> torch.dtype | None:
    """Return the dtype of the CPU autocast that is active now, or None."""
    return torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else None


@contextmanager
def collect_autocast_devices(answer: Answer) -> Iterator[set[str]]:
    """Collect the device types of the autocast blocks that an answer enters while this block runs."""
    types: set[str] = set()
    enter = torch.autocast.__enter__

    def note(self: torch.autocast) -> Any:
        types.add(self.device)
        return enter(self)  # type: ignore[no-untyped-call]

    with replace_attribute_in_answer(answer, torch.autocast, "__enter__", note):
        yield types


class RecordingGradScaler(torch.amp.GradScaler):
    """torch's loss scaler for the CPU, which records the autocast dtype, or None, at each call of `step`.

    It also records the dtypes of the losses that it scales. Without a scale it is switched off.
    """

    def __init__(self, scale: float | None, growth_interval: int = 2000) -> None:
        enabled = scale is not None
        super().__init__("cpu", init_scale=scale or 1.0, growth_interval=growth_interval, enabled=enabled)
        self.steps: list[torch.dtype | None] = []
        self.dtypes: set[torch.dtype] = set()

    def scale(self, outputs: Any) -> Any:
        """Record the dtypes of a tensor or of several, then multiply by the scale as GradScaler does."""
        self.dtypes.update(each.dtype for each in ([outputs] if isinstance(outputs, Tensor) else outputs))
        return super().scale(outputs)

    def step(self, optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> float | None:
        """Record the autocast dtype, then step as GradScaler does."""
        self.steps.append(active_autocast_dtype())
        return super().step(optimizer, *args, **kwargs)


RecordingGradScaler.__name__ = torch.amp.GradScaler.__name__  # as an error names it, which students read
