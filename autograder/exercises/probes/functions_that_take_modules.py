"""Probes for functions that take a module: what they return, what they change, and what they leave behind on it.

A case names a sample module and its sizes; further arguments are passed to the answer after the module.
`make_sample_module_probe` makes a probe of a function that calls the answer and returns an observation:

    @make_sample_module_probe
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
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    names_of_changed_values,
    snapshot_value,
    snapshot_without_requires_grad,
)
from autograder.exercises.probes.random_results import make_seeded_probe
from autograder.exercises.probes.sample_modules import build_sample_module, split_sample_case


def make_sample_module_probe(look: Callable[..., Observation]) -> Probe:
    """Make a probe of `look(answer, module, *given, **options)`, with the case's sample module and arguments."""

    def look_at(answer: Answer, case: Case) -> Observation:
        name, sizes, given = split_sample_case(case)
        return look(answer, build_sample_module(name, *sizes), *given, **copy_case_data(case.kwargs))

    return make_seeded_probe(look_at)


def make_returned_value_probe(told: Callable[[object], Plain] = snapshot_value) -> Probe:
    """Make a probe with the facet `returned`: the function's result as plain data, made by `told`."""
    return make_sample_module_probe(
        lambda answer, module, *given, **options: {"returned": told(answer(module, *given, **options))}
    )


def make_module_after_call_probe(
    *, first: Callable[[nn.Module], object] | None = None, **facets: Callable[[nn.Module], Plain]
) -> Probe:
    """Make a probe of the module after the call: the value of each facet is computed from the module.

    `first` is called with the module before the answer is.
    """

    def look(answer: Answer, module: nn.Module, *given: Any, **options: Any) -> Observation:
        if first is not None:
            first(module)
        answer(module, *given, **options)
        return {facet: find(module) for facet, find in facets.items()}

    return make_sample_module_probe(look)


def make_unchanged_module_probe(
    told: Callable[[object], Plain] = snapshot_value, first: Callable[[nn.Module], object] | None = None
) -> Probe:
    """Make a probe that calls an answer twice on one module, to see whether it leaves the module as it was.

    Facets: `left` (the names of what the first call changed) and `returned` (the result of the second call).
    """

    def look(answer: Answer, module: nn.Module, *given: Any, **options: Any) -> Observation:
        if first is not None:
            first(module)
        before = module_state(module)
        answer(module, *given, **options)
        return {
            "left": names_of_changed_values(before, module_state(module)),
            "returned": told(answer(module, *given, **options)),
        }

    return make_sample_module_probe(look)


# --- the state of a module


def module_state(module: nn.Module) -> dict[str, Plain]:
    """Return everything that a function could change on a module.

    That is: values, devices, `requires_grad` and `.grad` of its tensors, its modes, hooks and attribute names.
    """
    held = named_tensors(module)
    return {
        "values": tensor_values(held),
        "devices": {name: tensor.device.type for name, tensor in held.items()},
        "flags": {name: tensor.requires_grad for name, tensor in held.items()},
        ".grad": {name: snapshot_value(tensor.grad) for name, tensor in held.items()},
        "mode": training_modes(module),
        "hooks": count_hooks(module),
        "attributes": {name: sorted(vars(part)) for name, part in module.named_modules()},
    }


def named_tensors(module: nn.Module) -> dict[str, Tensor]:
    """Return the parameters and buffers, by name."""
    return dict([*module.named_parameters(), *module.named_buffers()])


def tensor_values(named: Mapping[str, Tensor]) -> dict[str, Plain]:
    """Return the values of tensors as plain data, by name."""
    return {str(name): snapshot_without_requires_grad(tensor) for name, tensor in named.items()}


def requires_grad_flags(module: nn.Module) -> dict[str, Plain]:
    """Return the `requires_grad` of each parameter, by name."""
    return {name: p.requires_grad for name, p in module.named_parameters()}


def training_modes(module: nn.Module) -> dict[str, Plain]:
    """Return whether each submodule, by name, is in training mode."""
    return {name: part.training for name, part in module.named_modules()}


def count_hooks(module: nn.Module) -> int:
    """Return the number of hooks on a module and its submodules, and of torch's global module hooks."""
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    own = sum(len(getattr(part, kind)) for part in module.modules() for kind in kinds)
    return own + sum(len(getattr(registry, f"_global{kind}")) for kind in kinds)


def detached_copies(named: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return detached copies of tensors, by name."""
    return {name: tensor.detach().clone() for name, tensor in named.items()}


def changed_tensors(before: Mapping[str, Tensor], now: Mapping[str, Tensor]) -> list[str]:
    """Return the names of the tensors whose numbers have changed."""
    return [name for name in before if not torch.equal(before[name], now[name])]


def rebound_tensor_names(before: Mapping[str, Tensor], now: Mapping[str, Tensor]) -> list[str]:
    """Return the names that no longer refer to the same tensor object."""
    return [name for name in before if now.get(name) is not before[name]]
