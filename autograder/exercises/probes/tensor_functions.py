"""Probes for functions of tensors: what they return, and what they change about their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from autograder.exercises.exercise import Case, Probe
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import (
    Answer,
    arguments_by_label,
    copy_case_data,
    make_probe_recording_exceptions,
    observe_changed_arguments,
    select_facets,
    snapshot_value,
    snapshot_with_int_as_float,
    snapshot_without_values,
)
from autograder.exercises.probes.memory_sharing import names_of_arguments_sharing_memory


def make_call_probe(*, rng: bool = False, sharing: bool = False, grad: bool = False, times: int = 1) -> Probe:
    """Make the usual probe, which calls the answer with the case's arguments.

    Facets: `returned` or `raised`, `inputs` (the arguments that were changed in place), and on request `rng` (whether
    the global random state is unchanged), `sharing` (the arguments that each returned tensor shares memory with),
    `gradient` (of a fixed weighted sum of the result with respect to each float argument) and `again` (the results of
    later calls, if `times` is more than 1).
    """

    def look(answer: Answer, case: Case) -> Observation:
        args, kwargs = copy_case_data(case.args), copy_case_data(case.kwargs)
        if grad:
            _track(args, kwargs)
        state = torch.get_rng_state()
        result = answer(*args, **kwargs)
        seen: Observation = {
            "returned": snapshot_value(result),
            "inputs": observe_changed_arguments(case, args, kwargs, grad),
        }
        if rng:
            seen["rng"] = bool(torch.equal(state, torch.get_rng_state()))
        if sharing:
            seen["sharing"] = names_of_arguments_sharing_memory(result, args, kwargs)
        if grad:
            seen["gradient"] = _gradients(result, args, kwargs)
        if times > 1:
            seen["again"] = [
                snapshot_value(answer(*copy_case_data(case.args), **copy_case_data(case.kwargs)))
                for _ in range(times - 1)
            ]
        return seen

    return make_probe_recording_exceptions(look)


observe_result_only = select_facets(make_call_probe(), "returned")
"""The usual probe with the facet `returned` alone, if another requirement observes arguments changed in place."""


def make_probe_ignoring_16_bit_values(probe: Probe) -> Probe:
    """Make a probe that observes shape and dtype alone where x has 16 bits, whose numbers hang on how they are made."""
    form = make_probe_recording_exceptions(
        lambda answer, case: {
            "returned": snapshot_without_values(answer(*copy_case_data(case.args), **copy_case_data(case.kwargs)))
        }
    )
    return lambda answer, case: (form if case.args[0].dtype.itemsize == 2 else probe)(answer, case)


def make_dim_function_probe(**facts: Callable[[torch.Tensor, torch.Tensor, int], object]) -> Probe:
    """Make a probe for functions of x and `dim`: `returned`, and whether each fact holds of x and the result.

    A fact is called with x and the result, both in float64, and `dim`. If the result is no float tensor of the shape of
    x, every fact is True, and `returned` shows the fault.
    """

    def look(answer: Answer, case: Case) -> Observation:
        (x,) = case.args
        result = answer(x.clone(), **case.kwargs)
        seen: Observation = dict.fromkeys(facts, True)
        if isinstance(result, torch.Tensor) and result.is_floating_point() and result.shape == x.shape:
            numbers, dim = result.detach().double(), case.kwargs["dim"]
            seen = {name: bool(holds(x.double(), numbers, dim)) for name, holds in facts.items()}
        return seen | {"returned": snapshot_value(result)}

    return make_probe_recording_exceptions(look)


def make_returned_dict_entries_probe(
    *keys: str, floats: tuple[str, ...] = (), tracked: bool = False, device: str = "cpu"
) -> Probe:
    """Make a probe of some entries of a returned dict (`returned`); a NumPy number counts as a Python number.

    For the entries in `floats`, 256 counts as 256.0. With `tracked`, the first argument requires grad; with `device`,
    it is moved there.
    """

    def look(answer: Answer, case: Case) -> Observation:
        args = copy_case_data(case.args)
        if device != "cpu":
            args = (args[0].to(device), *args[1:])
        if tracked:
            args[0].requires_grad_()
        result = answer(*args)
        if not isinstance(result, dict):
            return {"returned": snapshot_value(result)}
        found = {key: _unwrapped(result[key]) for key in keys if key in result}
        return {
            "returned": {
                key: snapshot_with_int_as_float(value) if key in floats else snapshot_value(value)
                for key, value in found.items()
            }
        }

    return make_probe_recording_exceptions(look)


def _unwrapped(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def weighted_sum(result: torch.Tensor) -> torch.Tensor:
    """Return the sum of a result's entries with the weights 1, 2, 3, ..."""
    weights = torch.arange(1, result.numel() + 1, dtype=result.dtype).reshape(result.shape)
    return (weights * result).sum()


def _float_tensors(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, torch.Tensor]:
    named = arguments_by_label(args, kwargs).items()
    return {name: arg for name, arg in named if isinstance(arg, torch.Tensor) and arg.is_floating_point()}


def _track(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    for tensor in _float_tensors(args, kwargs).values():
        tensor.requires_grad_()


def _gradients(result: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Plain:
    """Return the gradient of the weighted sum of the result for each float argument; None if it has no graph."""
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        return None
    tracked = _float_tensors(args, kwargs)
    grads = torch.autograd.grad(weighted_sum(result), list(tracked.values()), allow_unused=True)
    return {name: snapshot_value(grad) for name, grad in zip(tracked, grads, strict=True)}
