"""The trials of `overfit_one_batch`: a model, an optimizer, a batch and a step, with at most one thing wrong."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from autograder.watching.exercise import Case
from autograder.watching.observation import Observation
from autograder.watching.probe import attempt, see

from ._ch04_models import random_from

Answer = Callable[..., Any]


@dataclass
class Trial:
    """What the reader looks into: `model`, `optimizer`, `batch()` and `step(x, y)`."""

    model: nn.Sequential
    optimizer: torch.optim.Optimizer
    x: Tensor
    y: Tensor
    shuffles: bool = False
    clears: str = "first"  # "late": between backward and step
    steps: bool = True

    def batch(self) -> tuple[Tensor, Tensor]:
        """The batch: inputs (4, 3) and targets (4, 1)."""
        if self.shuffles:
            self.y = self.y.roll(1, dims=0)
        return self.x.clone(), self.y.clone()

    def step(self, x: Tensor, y: Tensor) -> float:
        """One step of training; returns the loss before it."""
        self.optimizer.zero_grad()
        loss = ((self.model(x) - y) ** 2).mean()
        loss.backward()
        if self.clears == "late":
            self.optimizer.zero_grad()
        if self.steps:
            self.optimizer.step()
        return float(loss.item())


def _sgd(params: Any, lr: float = 0.05) -> torch.optim.Optimizer:
    return torch.optim.SGD(params, lr=lr, momentum=0.9)


def _sound(model: nn.Sequential, x: Tensor, y: Tensor) -> Trial:
    return Trial(model, _sgd(model.parameters()), x, y)


def _zero_last_layer(model: nn.Sequential, x: Tensor, y: Tensor) -> Trial:
    [nn.init.zeros_(param) for param in model[-1].parameters()]
    return Trial(model, _sgd(model.parameters()), x, y + 1.0)


def _two_groups(model: nn.Sequential, x: Tensor, y: Tensor) -> Trial:
    groups: list[dict[str, Any]] = [{"params": model[0].parameters()}, {"params": model[-1].parameters(), "lr": 0.05}]
    return Trial(model, torch.optim.Adam(groups, lr=0.03), x, y)


def _frozen(model: nn.Sequential, x: Tensor, y: Tensor) -> Trial:
    model[0].requires_grad_(False)
    return _sound(model, x, y)


def _bias_frozen(model: nn.Sequential, x: Tensor, y: Tensor) -> Trial:
    model[-1].bias.requires_grad_(False)
    return _sound(model, x, y)


def _of_a_copy(model: nn.Sequential, x: Tensor, y: Tensor) -> Trial:
    return Trial(model, _sgd(copy.deepcopy(model).parameters()), x, y)


def _one_left_out(model: nn.Sequential, x: Tensor, y: Tensor) -> Trial:
    return Trial(model, _sgd(list(model.parameters())[:-1]), x, y)


def _linear_with_rate(lr: float) -> Callable[[nn.Sequential, Tensor, Tensor], Trial]:
    def make(model: nn.Sequential, x: Tensor, y: Tensor) -> Trial:
        linear = nn.Sequential(model[0], model[-1])
        return Trial(linear, torch.optim.SGD(linear.parameters(), lr=lr), x, y)

    return make


TRIALS: dict[str, Callable[[nn.Sequential, Tensor, Tensor], Trial]] = {
    "sound": _sound,
    "sound: two groups in Adam": _two_groups,
    "sound: the last layer begins at 0": _zero_last_layer,
    "optimizer.step is missing": lambda model, x, y: Trial(model, _sgd(model.parameters()), x, y, steps=False),
    "gradients cleared before the step": lambda model, x, y: Trial(
        model, _sgd(model.parameters()), x, y, clears="late"
    ),
    "labels in another order each time": lambda model, x, y: Trial(
        model, _sgd(model.parameters()), x, y, shuffles=True
    ),
    "first layer frozen": _frozen,
    "last bias frozen": _bias_frozen,
    "optimizer made for a copy": _of_a_copy,
    "optimizer without the last bias": _one_left_out,
    "learning rate 0.00001": _linear_with_rate(1e-5),
    "learning rate 100": _linear_with_rate(100.0),
}


def make_trial(name: str, seed: int) -> Trial:
    """A trial by name, with weights and a batch of a seed."""
    with random_from(seed):
        model = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1)).double()
        x, y = 2 * torch.randn(4, 3, dtype=torch.float64), torch.randn(4, 1, dtype=torch.float64)
    return TRIALS[name](model, x, y)


def diagnosed(answer: Answer, case: Case) -> Observation:
    """What an answer says of a trial."""
    return attempt(lambda: {"returned": see(answer(make_trial(*case.args)))})
