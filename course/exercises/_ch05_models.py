"""What cases of chapter 5 name, since a case is plain data: models with fixed weights, optimizers; and numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from autograder.exercises.probes.random_results import temporarily_seeded
from autograder.exercises.probes.training_fixtures import fill_layer
from autograder.exercises.seeded_draw import Draw

LAYERS: dict[str, Callable[[int, int], nn.Module]] = {
    "linear": nn.Linear,
    "two layers": lambda d, k: nn.Sequential(nn.Linear(d, 4), nn.ReLU(), nn.Linear(4, k)),
}
EXAMPLE = "linear, weight 2 and bias 0"  # as a docstring has it, with another rate than the others
_OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "SGD": torch.optim.SGD,
    "SGD, lr=0.1": lambda params, lr: torch.optim.SGD(params, lr=0.1),
    "SGD with momentum": lambda params, lr: torch.optim.SGD(params, lr=lr, momentum=0.5),
    "SGD with a group for each parameter": lambda params, lr: torch.optim.SGD([{"params": [p]} for p in params], lr=lr),
    "Adam": torch.optim.Adam,
}


def eighths(draw: Draw, *shape: int) -> Tensor:
    """Numbers between -1 and 1, in eighths and never 0: products of a few of them are exact in 16 bits too."""
    return (draw.ints(-8, 8, *shape) + 0.5).float() / 8


def model_of(name: str, features: int) -> nn.Module:
    """A model by name, of one output."""
    if name == EXAMPLE:
        return fill_layer(nn.Linear(features, 1), 2.0, 0.0)
    return made(lambda: LAYERS[name](features, 1))


def made(build: Callable[[], nn.Module]) -> nn.Module:
    """A model of which each trained parameter holds small numbers, none of them 0, that even bfloat16 holds exactly."""
    with temporarily_seeded(11):
        return fill(build())


def fill(model: nn.Module) -> nn.Module:
    """The same model, with these numbers."""
    with torch.no_grad():
        for start, param in enumerate(param for param in model.parameters() if param.requires_grad):
            places = torch.arange(start, start + param.numel(), device=param.device) * 3 % 7 - 3.5
            param.copy_((places / 4).reshape(param.shape))
    return model


def optimizer_of(name: str, params: Iterable[Tensor]) -> torch.optim.Optimizer:
    """An optimizer by name."""
    return _OPTIMIZERS[name](params, lr=0.125)
