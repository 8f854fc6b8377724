"""Sample models with known initial weights, optimizers and images for training, by the names used in cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from autograder.exercises.probes.random_results import SteadyDropout, temporarily_seeded

SIDE, KINDS = 8, 3  # images of 8 x 8 pixels: a row, a column, a diagonal
FROZEN_BATCH_NORM_SUFFIX = ", batch norm frozen"
IN_EVAL_SUFFIX = ", in eval mode"


def fill_layer(layer: nn.Linear, weight: float, bias: float) -> nn.Linear:
    """Fill a layer's weights with one number and its biases with another, and return the layer.

    With such weights a reader can compute a training step by hand.
    """
    nn.init.constant_(layer.weight, weight)
    nn.init.constant_(layer.bias, bias)
    return layer


_ON_ROWS: dict[str, Callable[[int, int], nn.Module]] = {
    "linear": nn.Linear,
    "linear, weight 2 and bias 0": lambda d, k: fill_layer(nn.Linear(d, k), 2.0, 0.0),
    "two layers": lambda d, k: nn.Sequential(nn.Linear(d, 4), nn.Tanh(), nn.Linear(4, k)),
    "dropout": lambda d, k: nn.Sequential(nn.Linear(d, 4), nn.Tanh(), SteadyDropout(0.5), nn.Linear(4, k)),
    "batch norm": lambda d, k: nn.Sequential(nn.Linear(d, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, k)),
    "batch norm in a block": lambda d, k: nn.Sequential(
        nn.Sequential(nn.Linear(d, 4), nn.BatchNorm1d(4), nn.Tanh()), nn.Linear(4, k)
    ),
    "dropout and batch norm": lambda d, k: nn.Sequential(
        nn.Linear(d, 4), nn.BatchNorm1d(4), nn.Tanh(), SteadyDropout(0.5), nn.Linear(4, k)
    ),
}
_ON_IMAGES: dict[str, Callable[[], nn.Module]] = {
    "linear": lambda: nn.Sequential(nn.Flatten(), nn.Linear(SIDE**2, KINDS)),
    "conv": lambda: nn.Sequential(nn.Conv2d(1, 2, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(2 * 3 * 3, KINDS)),
    "batch norm": lambda: nn.Sequential(
        nn.Conv2d(1, 2, 3, stride=2), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(18, KINDS)
    ),
    "dropout and batch norm": lambda: nn.Sequential(
        nn.Conv2d(1, 2, 3, stride=2),
        nn.BatchNorm2d(2),
        nn.ReLU(),
        nn.Flatten(),
        SteadyDropout(0.3),
        nn.Linear(18, KINDS),
    ),
}
_OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "SGD": torch.optim.SGD,
    "SGD with momentum": lambda params, lr: torch.optim.SGD(params, lr=lr, momentum=0.9),
    "SGD with a group for each parameter": lambda params, lr: torch.optim.SGD(
        [{"params": [param]} for param in params], lr=lr, momentum=0.9
    ),
    "SGD with maximize=True": lambda params, lr: torch.optim.SGD(params, lr=lr, maximize=True),
    "Adam": torch.optim.Adam,
}


def row_model(name: str, features: int, outputs: int = 1, seed: int = 11) -> nn.Module:
    """Return a float64 model for rows of `features` numbers, with initial weights from `seed`.

    The name may end in `IN_EVAL_SUFFIX` or `FROZEN_BATCH_NORM_SUFFIX`, which puts the model, or its batch norms, into
    eval mode.
    """
    with temporarily_seeded(seed):
        model = _ON_ROWS[name.removesuffix(FROZEN_BATCH_NORM_SUFFIX).removesuffix(IN_EVAL_SUFFIX)](
            features, outputs
        ).double()
    if name.endswith(IN_EVAL_SUFFIX):
        model.eval()
    if name.endswith(FROZEN_BATCH_NORM_SUFFIX):
        [module.eval() for module in model.modules() if isinstance(module, nn.BatchNorm1d)]
    return model


def image_model(name: str, seed: int = 11, dtype: torch.dtype = torch.float64) -> nn.Module:
    """Return a model for the images of `labeled_images`, with initial weights from `seed`."""
    with temporarily_seeded(seed):
        return _ON_IMAGES[name]().to(dtype)


def optimizer_by_name(name: str, params: Iterable[Tensor], lr: float) -> torch.optim.Optimizer:
    """Return a new optimizer by name."""
    return _OPTIMIZERS[name](params, lr=lr)


def labeled_images(n: int, seed: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Return n noisy images (n, 1, 8, 8) and their labels (n,): 0 for a row, 1 for a column, 2 for a diagonal."""
    draw = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, KINDS, (n,), generator=draw)
    place = torch.randint(1, SIDE - 1, (n, 1, 1), generator=draw)
    i, j = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing="ij")
    shapes = torch.stack([i == place, j == place, i + j == 2 * place])[labels, torch.arange(n)]
    noise = torch.randn(n, SIDE, SIDE, generator=draw, dtype=torch.float64)
    return (shapes + 0.3 * noise).unsqueeze(1).to(dtype), labels
