"""What the cases of chapter 4 name: models with fixed first weights, optimizers, schedulers. All of it in float64."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from autograder.watching.observation import Plain
from autograder.watching.probe import see

LAYERS: dict[str, Callable[[int, int], nn.Module]] = {
    "linear": nn.Linear,
    "two layers": lambda d, k: nn.Sequential(nn.Linear(d, 4), nn.Tanh(), nn.Linear(4, k)),
    "dropout": lambda d, k: nn.Sequential(nn.Linear(d, 4), nn.Tanh(), nn.Dropout(0.5), nn.Linear(4, k)),
    "batch norm": lambda d, k: nn.Sequential(nn.Linear(d, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, k)),
    "dropout and batch norm": lambda d, k: nn.Sequential(
        nn.Linear(d, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Dropout(0.5), nn.Linear(4, k)
    ),
}
OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "SGD": torch.optim.SGD,
    "SGD with momentum": lambda params, lr: torch.optim.SGD(params, lr=lr, momentum=0.9),
    "Adam": torch.optim.Adam,
}
FROZEN = ", batch norm frozen"
IN_EVAL = ", in eval mode"


@contextmanager
def random_from(seed: int) -> Iterator[None]:
    """Draw from this seed in a block, and leave the global random state as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed also seeds devices, which takes its time
        yield


def model_of(name: str, features: int, outputs: int = 1, seed: int = 11) -> nn.Module:
    """A model by name, with the first weights of a seed; the name may end in a mode."""
    layers = name.removesuffix(FROZEN).removesuffix(IN_EVAL)
    with random_from(seed):
        model = LAYERS[layers](features, outputs).double()
    if name.endswith(IN_EVAL):
        model.eval()
    if name.endswith(FROZEN):
        [module.eval() for module in model.modules() if isinstance(module, nn.BatchNorm1d)]
    return model


def optimizer_of(name: str, params: Iterable[Tensor], lr: float) -> torch.optim.Optimizer:
    """An optimizer by name."""
    return OPTIMIZERS[name](params, lr=lr)


def modes_of(model: nn.Module) -> list[bool]:
    """Whether each module is in train mode, the model first."""
    return [module.training for module in model.modules()]


def held_by(model: nn.Module) -> dict[str, Plain]:
    """The values of all parameters and buffers."""
    return {name: see(value.detach().clone()) for name, value in model.state_dict().items()}


def grads_of(model: nn.Module) -> dict[str, Plain]:
    """The .grad of each parameter."""
    return {name: see(param.grad) for name, param in model.named_parameters()}


def plain_number(value: Any) -> Plain:
    """A number, or a tensor with one element, as a float; anything else as it is."""
    seen = see(value.item() if isinstance(value, Tensor) and value.numel() == 1 else value)
    return float(seen) if type(seen) is int else seen
