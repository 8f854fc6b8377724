"""What the cases of chapter 6 name: small images made by code, models with fixed first weights, optimizers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from autograder.watching.observation import Plain
from autograder.watching.probe import see

Answer = Callable[..., Any]
SIDE, KINDS = 8, 3  # images of 8 x 8 pixels: a row, a column, a diagonal

MODELS: dict[str, Callable[[], nn.Module]] = {
    "linear": lambda: nn.Sequential(nn.Flatten(), nn.Linear(SIDE**2, KINDS)),
    "conv": lambda: nn.Sequential(nn.Conv2d(1, 2, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(2 * 3 * 3, KINDS)),
    "dropout and batch norm": lambda: nn.Sequential(
        nn.Conv2d(1, 2, 3, stride=2), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Dropout(0.3), nn.Linear(18, KINDS)
    ),
}
OPTIMIZERS: dict[str, Callable[[Iterable[Tensor]], torch.optim.Optimizer]] = {
    "SGD": lambda params: torch.optim.SGD(params, lr=0.1),
    "SGD with momentum": lambda params: torch.optim.SGD(params, lr=0.05, momentum=0.9),
    "Adam": lambda params: torch.optim.Adam(params, lr=0.02),
}


@contextmanager
def random_from(seed: int) -> Iterator[None]:
    """Draw from this seed in a block, and leave the global random state as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed also seeds devices, which takes its time
        yield


def make_images(n: int, seed: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """n noisy images (n, 1, 8, 8), and what they show, (n,): 0 a row, 1 a column, 2 a diagonal."""
    draw = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, KINDS, (n,), generator=draw)
    place = torch.randint(1, SIDE - 1, (n, 1, 1), generator=draw)
    i, j = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
    shapes = torch.stack([i == place, j == place, i + j == 2 * place])[labels, torch.arange(n)]
    noise = torch.randn(n, SIDE, SIDE, generator=draw, dtype=torch.float64)
    return (shapes + 0.3 * noise).unsqueeze(1).to(dtype), labels


def model_of(name: str, seed: int = 11, dtype: torch.dtype = torch.float64) -> nn.Module:
    """A model by name, with the first weights of a seed."""
    with random_from(seed):
        return MODELS[name]().to(dtype)


def outputs_of(model: nn.Module) -> Plain:
    """What a model says of four images in eval mode, (4, 3): every weight and buffer has its part in it."""
    dtype = next(model.parameters()).dtype
    with torch.no_grad():
        return see(model.eval()(make_images(4, 1, dtype)[0]))
