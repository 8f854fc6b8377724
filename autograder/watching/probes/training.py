"""Training: one step, one evaluation, the steps of an optimizer; and notes of a model at work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.optim.optimizer import Optimizer

from autograder.watching.observation import Plain
from autograder.watching.probe import see


def at_each_call(model: nn.Module, look: Callable[[Any, Any], Any] = lambda inputs, output: None) -> list[Any]:
    """What a function says of the inputs (a tuple) and the output each time that a model is called, from now on."""
    notes: list[Any] = []
    model.register_forward_hook(lambda _, inputs, output: notes.append(look(inputs, output)))
    return notes


def at_each_gradient(model: nn.Module, look: Callable[[], Any] = lambda: None) -> list[Any]:
    """What a function says each time that a gradient reaches one of a model's parameters, from now on."""
    notes: list[Any] = []
    for param in model.parameters():
        param.register_hook(lambda _: notes.append(look()))
    return notes


def at_each_step(optimizer: Optimizer, look: Callable[[], Any] = lambda: None) -> list[Any]:
    """What a function says after each step of an optimizer, from now on."""
    notes: list[Any] = []
    optimizer.register_step_post_hook(lambda *_: notes.append(look()))
    return notes


def held_by(model: nn.Module) -> dict[str, Plain]:
    """The values of all parameters and buffers."""
    return {name: see(value.detach().clone()) for name, value in model.state_dict().items()}


def grads_of(model: nn.Module) -> dict[str, Plain]:
    """The .grad of each parameter."""
    return {name: see(param.grad) for name, param in model.named_parameters()}


def give_gradients(model: nn.Module, number: float) -> None:
    """Fill the .grad of each parameter, as if a backward had been there."""
    for param in model.parameters():
        param.grad = torch.full_like(param, number)
