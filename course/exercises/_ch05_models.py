"""What the cases of chapter 5 name: models with fixed first weights, optimizers, and small tools of its probes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.watching.observation import Plain
from autograder.watching.probe import see

Answer = Callable[..., Any]


class Gate(nn.Module):
    """In train mode sin(exp(x)), which saves a tensor for backward; in eval mode x itself."""

    def forward(self, x: Tensor) -> Tensor:
        """Any shape, and the same shape back."""
        return x.exp().sin() if self.training else x


class Squares(nn.Module):
    """x * x, for which x is saved twice."""

    def forward(self, x: Tensor) -> Tensor:
        """Any shape, and the same shape back."""
        return x * x


class Halves(nn.Module):
    """The product of the left half of the columns and the right half: both look at one piece of memory."""

    def forward(self, x: Tensor) -> Tensor:
        """(n, 2 d) to (n, d)."""
        left, right = x.chunk(2, dim=1)
        return left * right


class Scale(nn.Module):
    """x times a part of a buffer, which is saved for backward and is no activation."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("factor", torch.linspace(0.5, 2.0, width + 1))

    def forward(self, x: Tensor) -> Tensor:
        """(n, width), and the same shape back."""
        return x * self.get_buffer("factor")[1:]


def tied(d: int, k: int) -> nn.Module:
    """Two square layers with one weight, and a last one."""
    first, second = nn.Linear(d, d), nn.Linear(d, d)
    second.weight = first.weight
    return nn.Sequential(first, second, nn.Linear(d, k))


def frozen(d: int, k: int) -> nn.Module:
    """Two layers, the first of them not trained."""
    model = nn.Sequential(nn.Linear(d, 4), nn.ReLU(), nn.Linear(4, k))
    model[0].requires_grad_(False)
    return model


LAYERS: dict[str, Callable[[int, int], nn.Module]] = {
    "linear": nn.Linear,
    "two layers": lambda d, k: nn.Sequential(nn.Linear(d, 4), nn.ReLU(), nn.Linear(4, k)),
    "three layers": lambda d, k: nn.Sequential(nn.Linear(d, 4), nn.Tanh(), nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, k)),
    "first layer frozen": frozen,
    "one weight in two layers": tied,
    "with a buffer": lambda d, k: nn.Sequential(nn.Linear(d, 4), Scale(4), nn.Linear(4, k)),
    "with squares": lambda d, k: nn.Sequential(nn.Linear(d, 4), Squares(), nn.Linear(4, k)),
    "with halves": lambda d, k: nn.Sequential(nn.Linear(d, 4), Halves(), nn.Linear(2, k)),
    "with sin(exp(x)) in train mode": lambda d, k: nn.Sequential(nn.Linear(d, 4), Gate(), nn.Linear(4, k)),
}
IN_EVAL = ", in eval mode"
OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "SGD": torch.optim.SGD,
    "SGD with momentum": lambda params, lr: torch.optim.SGD(params, lr=lr, momentum=0.5),
    "Adam": torch.optim.Adam,
}


def model_of(name: str, features: int, outputs: int = 1) -> nn.Module:
    """A model by name, with weights in eighths; the name may end in a mode."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        model = LAYERS[name.removesuffix(IN_EVAL)](features, outputs)
    fill(model)
    return model.eval() if name.endswith(IN_EVAL) else model


def fill(model: nn.Module) -> None:
    """Give each trained parameter small numbers, none of them 0, that even bfloat16 holds exactly."""
    with torch.no_grad():
        for start, param in enumerate(param for param in model.parameters() if param.requires_grad):
            places = torch.arange(start, start + param.numel(), device=param.device) * 3 % 7 - 3.5
            param.copy_((places / 4).reshape(param.shape))


def optimizer_of(name: str, params: Iterable[Tensor], lr: float) -> torch.optim.Optimizer:
    """An optimizer by name."""
    return OPTIMIZERS[name](params, lr=lr)


def held_by(model: nn.Module) -> dict[str, Plain]:
    """The values of all parameters and buffers."""
    return {name: see(value.detach().clone()) for name, value in model.state_dict().items()}


def grads_of(model: nn.Module) -> dict[str, Plain]:
    """The .grad of each parameter."""
    return {name: see(param.grad) for name, param in model.named_parameters()}


class Waits(TorchDispatchMode):
    """Count how often a value of a tensor is asked for, by a print too, which the mode itself does not see."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.count = 0
        self._printing = patch.object(Tensor, "__repr__", self._shown)

    def _shown(self, *_: Any, **__: Any) -> str:
        self.count += 1
        return "tensor(...)"

    def __enter__(self) -> Any:
        self._printing.start()
        return super().__enter__()  # type: ignore[no-untyped-call]

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        self._printing.stop()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += str(func.overloadpacket) == "aten._local_scalar_dense"
        return func(*args, **(kwargs or {}))
