"""Modules that cases name: a case is plain data, so it gives a name of this file, and sizes.

For example `"two layers", 4, 2, 6`. The probe builds that module with known numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from typing import Any

import torch
from torch import Tensor, nn

from autograder.exercises.exercise import Case
from autograder.exercises.probe import copy_case_data
from autograder.exercises.probes.random_results import SteadyDropout


def fill_with_known_numbers(*tensors: Tensor, place: int = 0) -> None:
    """Write known numbers into tensors; they depend on shape and `place` alone, not on the order of the tensors."""
    with torch.no_grad():
        for tensor in tensors:
            tensor.copy_(known_tensor(*tensor.shape, place=place))


def known_tensor(*shape: int, place: int = 0) -> Tensor:
    """Return a tensor of different numbers between -1 and 1; another `place` gives other numbers."""
    count = torch.Size(shape).numel()
    return torch.arange(1, count + 1, dtype=torch.float64).add(10 * place + 3 * len(shape)).sin().reshape(shape)


class Nested(nn.Module):
    """An encoder with a nested block, then a head; a parameter of the module itself scales the result."""

    def __init__(self, a: int, b: int, c: int) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(a, b), nn.Sequential(nn.ReLU(), nn.Linear(b, b)))
        self.head = nn.Linear(b, c)
        self.scale = nn.Parameter(torch.ones(c))

    def forward(self, x: Tensor) -> Tensor:
        return self.scale * torch.as_tensor(self.head(self.encoder(x)))


class Tied(nn.Module):
    """Two layers that share one weight."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__()
        self.into = nn.Linear(a, b)
        self.back = nn.Linear(a, b)
        self.back.weight = self.into.weight

    def forward(self, x: Tensor) -> Tensor:
        return torch.as_tensor(self.into(x)) + torch.as_tensor(self.back(x))


class Reused(nn.Module):
    """A module that runs one layer several times, one once and one never, in another order than it defines them."""

    def __init__(self, a: int, times: int = 2) -> None:
        super().__init__()
        self.last = nn.Linear(a, a + 1)
        self.unused = nn.Linear(a, a)
        self.inner = nn.Linear(a, a)
        self.activation = nn.Tanh()
        self.times = times

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(self.times):
            x = self.activation(self.inner(x))
        return torch.as_tensor(self.last(x))


class InputRecordingLayer(nn.Module):
    """A layer that returns its input, and calls `note` with it."""

    def __init__(self, note: Callable[[Tensor], object]) -> None:
        super().__init__()
        self.note = note

    def forward(self, x: Tensor) -> Tensor:
        self.note(x)
        return x


class RaisingLayer(nn.Module):
    """A layer that raises an error, after the layers before it have run."""

    def forward(self, x: Tensor) -> Tensor:
        raise ValueError("this layer cannot do it")


def _with_norm(a: int, b: int, c: int) -> nn.Module:
    return nn.Sequential(nn.Linear(a, b), nn.BatchNorm1d(b), nn.ReLU(), nn.Linear(b, c))


def _half_frozen(a: int, b: int, c: int) -> nn.Module:
    model = nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Linear(b, c))
    model[0].requires_grad_(False)
    model.offset = nn.Parameter(torch.zeros(a + c))  # held by the module itself
    return model


class Transfer(nn.Module):
    """A body with batch norm and dropout, another batch norm and dropout, and a head."""

    def __init__(self, a: int, b: int, c: int) -> None:
        super().__init__()
        self.head = nn.Linear(b, c)
        self.body = nn.Sequential(nn.Linear(a, b), nn.BatchNorm1d(b), SteadyDropout(0.5))
        self.between = nn.BatchNorm1d(b, affine=False)
        self.dropout = SteadyDropout(0.5)

    def forward(self, x: Tensor) -> Tensor:
        return torch.as_tensor(self.head(self.dropout(self.between(self.body(x)))))


class OddParts(nn.Module):
    """A dropout with a table that is not saved; a batch norm without parameters, in a block; a head with a scale."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__()
        self.places = nn.Sequential(SteadyDropout(0.5))
        self.places.register_buffer("table", torch.zeros(a), persistent=False)
        self.norm = nn.Sequential(nn.BatchNorm1d(a, affine=False), SteadyDropout(0.5))
        self.head = nn.Sequential(nn.Linear(a, b), SteadyDropout(0.5))
        self.head.scale = nn.Parameter(torch.ones(b))

    def forward(self, x: Tensor) -> Tensor:
        table, scale = torch.as_tensor(self.places.table), torch.as_tensor(self.head.scale)
        return scale * torch.as_tensor(self.head(self.norm(self.places(x + table))))


class LinearWithReluPerCall(nn.Module):
    """A linear layer, and a ReLU that is made anew in each call."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__()
        self.layer = nn.Linear(a, b)

    def forward(self, x: Tensor) -> Tensor:
        return torch.as_tensor(nn.ReLU()(self.layer(x)))


class Mixed(nn.Module):
    """Layers of many kinds, inside containers and directly in the module; two of them are nn.Linear."""

    def __init__(self, a: int, b: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(a, b)
        self.convolve = nn.Conv1d(2, 3, 3)
        self.norm = nn.LayerNorm(b)
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(b, a), nn.ReLU())])
        self.free = nn.Linear(a, b, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.as_tensor(self.free(self.blocks[0](x)))


def _stack(a: int, b: int, c: int) -> nn.Module:
    return nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Linear(b, c))


def _many(a: int, count: int) -> nn.Module:
    return nn.Sequential(*(nn.Linear(a, a) for _ in range(count)))


SAMPLES: dict[str, Callable[..., nn.Module]] = {
    "a linear layer": nn.Linear,
    "a linear layer and a ReLU": lambda a, b: nn.Sequential(nn.Linear(a, b), nn.ReLU()),
    "two linear layers": lambda a, b, c: nn.Sequential(nn.Linear(a, b), nn.Linear(b, c)),
    "two layers": _stack,
    "two layers on the meta device": lambda a, b, c: _stack(a, b, c).to("meta"),
    "many layers": _many,
    "many layers inside": lambda a, count: nn.Sequential(nn.ReLU(), _many(a, count)),
    "nested layers": Nested,
    "two layers of one weight": Tied,
    "a layer that runs several times": Reused,
    "one layer in two places": lambda a: _twice_in(nn.Linear(a, a)),
    "layers with batch norm": _with_norm,
    "a batch norm": nn.BatchNorm1d,
    "half frozen layers": _half_frozen,
    "a layer without parameters": nn.ReLU,
    "layers and a failing one": lambda a, b: nn.Sequential(nn.Linear(a, b), RaisingLayer(), nn.Linear(b, a)),
    "a body and a head": Transfer,
    "odd parts and a head": OddParts,
    "a layer made on the way": LinearWithReluPerCall,
    "layers of many kinds": Mixed,
    "a recurrent layer": nn.GRU,  # four parameters, none of which is called weight or bias
    "a class made from nn.Linear": lambda a, b: nn.Sequential(nn.modules.linear.NonDynamicallyQuantizableLinear(a, b)),
    "images": lambda c: nn.Sequential(nn.Conv2d(c, c + 2, 3), nn.MaxPool2d(2), nn.Flatten()),
}


def _twice_in(layer: nn.Module) -> nn.Module:
    return nn.Sequential(layer, nn.Tanh(), layer)


def build_sample_module(name: str, *sizes: Any) -> nn.Module:
    """Return the module of this name, with the same numbers in its parameters and buffers each time."""
    module = SAMPLES[name](*sizes)
    fill_with_known_numbers(*module.parameters())
    for buffer in module.buffers():
        if buffer.is_floating_point():
            buffer.copy_(known_tensor(*buffer.shape, place=1).abs())  # a variance is positive
    return module


def split_sample_case(case: Case) -> tuple[str, list[int], list[Any]]:
    """Return the name of a case's module, its sizes (the ints after the name), and copies of the other arguments.

    A list among these is a shape and is returned as a tuple.
    """
    name, *rest = copy_case_data(case.args)
    sizes = list(takewhile(lambda item: type(item) is int, rest))
    return name, sizes, [tuple(item) if isinstance(item, list) else item for item in rest[len(sizes) :]]
