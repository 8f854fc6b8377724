"""Models, optimizers, batches and line orders for the tests of the loop stepper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from explorers.training_loop_state import Line

MODELS: dict[str, Callable[[], nn.Module]] = {
    "neuron": lambda: nn.Linear(3, 1),
    "two layers": lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)),
    "norm": lambda: nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(inplace=True), nn.Linear(4, 1)),
    "dropout": lambda: nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 1)),
}
OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "SGD": lambda held: torch.optim.SGD(held, lr=0.05),
    "momentum": lambda held: torch.optim.SGD(held, lr=0.05, momentum=0.9, weight_decay=0.01),
    "Adam": lambda held: torch.optim.Adam(held, lr=0.05),
    "AdamW": lambda held: torch.optim.AdamW(held, lr=0.05, weight_decay=0.1),
}


def made(
    model: str = "neuron", optimizer: str = "SGD", seed: int = 1
) -> tuple[nn.Module, Any, nn.Module, Tensor, Tensor]:
    """Return a model, its optimizer, a criterion, and a batch whose targets are on a plane."""
    torch.manual_seed(seed)
    network = MODELS[model]()
    x = torch.randn(12, 3)
    return network, OPTIMIZERS[optimizer](network.parameters()), nn.MSELoss(), x, x.sum(dim=1, keepdim=True)


def lines(words: str) -> tuple[Line, ...]:
    """Return lines in this order; one that ends in 1 runs only in the first step: `forward1 zero_grad step`."""
    return tuple(Line(word.rstrip("1"), "first" if word.endswith("1") else "every") for word in words.split())
