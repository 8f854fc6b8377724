"""Probes of functions on modules: what they return, and what they make of a module and leave behind on it.

A case names a sample module, with its sizes; what follows is given to the answer, after the module. `on_sample` makes
a probe of whatever calls the answer and looks:

    @on_sample
    def twice(answer: Answer, module: nn.Module, x: Tensor) -> Observation:
        return {"both": [see(answer(module, x)), see(answer(module, x))]}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules import module as registry

from autograder.exercises.exercise import Case, Probe
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import Answer, changed, copy_of, see, values
from autograder.exercises.probes.random_results import by_known_chance
from autograder.exercises.probes.sample_modules import named_in, sample


def on_sample(look: Callable[..., Observation]) -> Probe:
    """A probe that builds the sample module of a case: `look(answer, module, *given)`, with the case's options."""

    def look_at(answer: Answer, case: Case) -> Observation:
        name, sizes, given = named_in(case)
        return look(answer, sample(name, *sizes), *given, **copy_of(case.kwargs))

    return by_known_chance(look_at)


def returns(told: Callable[[object], Plain] = see) -> Probe:
    """What the function returns (`returned`), as plain data."""
    return on_sample(lambda answer, module, *given, **options: {"returned": told(answer(module, *given, **options))})


def makes(*, first: Callable[[nn.Module], object] | None = None, **facets: Callable[[nn.Module], Plain]) -> Probe:
    """What the function makes of the module: each facet is found by a function of the module, after the call.

    `first` is done to the module before the call.
    """

    def look(answer: Answer, module: nn.Module, *given: Any, **options: Any) -> Observation:
        if first is not None:
            first(module)
        answer(module, *given, **options)
        return {facet: find(module) for facet, find in facets.items()}

    return on_sample(look)


def leaves_module(told: Callable[[object], Plain] = see, first: Callable[[nn.Module], object] | None = None) -> Probe:
    """What about the module is no longer as it was (`left`), and what a second call returns (`returned`)."""

    def look(answer: Answer, module: nn.Module, *given: Any, **options: Any) -> Observation:
        if first is not None:
            first(module)
        before = state(module)
        answer(module, *given, **options)
        return {"left": changed(before, state(module)), "returned": told(answer(module, *given, **options))}

    return on_sample(look)


# --- the state of a module


def state(module: nn.Module) -> dict[str, Plain]:
    """All that a function could leave behind on a module: tensors, places, flags, modes, hooks, attributes."""
    held = tensors(module)
    return {
        "values": numbers(held),
        "devices": {name: tensor.device.type for name, tensor in held.items()},
        "flags": {name: tensor.requires_grad for name, tensor in held.items()},
        ".grad": {name: see(tensor.grad) for name, tensor in held.items()},
        "mode": modes(module),
        "hooks": hooks(module),
        "attributes": {name: sorted(vars(part)) for name, part in module.named_modules()},
    }


def tensors(module: nn.Module) -> dict[str, Tensor]:
    """The parameters and buffers, by name."""
    return dict([*module.named_parameters(), *module.named_buffers()])


def numbers(named: Mapping[str, Tensor]) -> dict[str, Plain]:
    """What tensors hold, by name."""
    return {str(name): values(tensor) for name, tensor in named.items()}


def flags(module: nn.Module) -> dict[str, Plain]:
    """For each parameter, by name, whether it is to learn."""
    return {name: p.requires_grad for name, p in module.named_parameters()}


def modes(module: nn.Module) -> dict[str, Plain]:
    """For each module, by name, whether it is in training mode."""
    return {name: part.training for name, part in module.named_modules()}


def hooks(module: nn.Module) -> int:
    """The number of hooks on a module, its submodules, and all modules together."""
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    own = sum(len(getattr(part, kind)) for part in module.modules() for kind in kinds)
    return own + sum(len(getattr(registry, f"_global{kind}")) for kind in kinds)


def copies(named: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The numbers of tensors as they are now."""
    return {name: tensor.detach().clone() for name, tensor in named.items()}


def moved(before: Mapping[str, Tensor], now: Mapping[str, Tensor]) -> list[str]:
    """The names of the tensors that no longer hold the same numbers."""
    return [name for name in before if not torch.equal(before[name], now[name])]


def replaced_in(before: Mapping[str, Tensor], now: Mapping[str, Tensor]) -> list[str]:
    """The names that no longer stand for the same object."""
    return [name for name in before if now.get(name) is not before[name]]
