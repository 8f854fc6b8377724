"""Probes for memory: which tensors share it, and which change when another one is changed in place."""

from __future__ import annotations

from typing import Any

import torch

from autograder.exercises.exercise import Case
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import (
    Answer,
    arguments_by_label,
    copy_case_data,
    dict_key_as_plain_data,
    make_probe_recording_exceptions,
    names_of_changed_values,
    observe_changed_arguments,
    snapshot_value,
)


def names_of_arguments_sharing_memory(result: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Plain:
    """Return the names of the arguments that share memory with the result; containers give one list per tensor."""
    if isinstance(result, torch.Tensor):
        named = arguments_by_label(args, kwargs).items()
        return [name for name, arg in named if isinstance(arg, torch.Tensor) and same_memory(result, arg)]
    if type(result) in (list, tuple):
        return [names_of_arguments_sharing_memory(item, args, kwargs) for item in result]  # type: ignore[attr-defined]
    if type(result) is dict:
        return {
            dict_key_as_plain_data(key): names_of_arguments_sharing_memory(item, args, kwargs)
            for key, item in result.items()
        }
    return None


def same_memory(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Return whether two tensors use the same storage."""
    if a.device != b.device or a.device.type == "meta" or a.layout != b.layout or a.layout != torch.strided:
        return False
    return a.numel() > 0 and a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


@make_probe_recording_exceptions
def observe_copy_and_view(answer: Answer, case: Case) -> Observation:
    """Observe an answer that returns a copy of a part of `x` and a view of another part; `x` is changed afterwards.

    Facets: `returned` (both), `inputs` (whether the answer itself changed `x`), `copy_follows` and `view_follows`
    (whether their numbers change with those of `x`), `detached` (whether the supposed copy follows `x` and just
    does not require grad: the answer used `.detach()` in place of `.clone()`).
    """
    (x,) = copy_case_data(case.args)
    result = answer(x)
    inputs = observe_changed_arguments(case, (x,), {})
    if not isinstance(result, list | tuple):
        return {"returned": snapshot_value(result)}
    before = tuple(snapshot_value(part) for part in result)
    x.add_(1)
    moved = [
        bool(names_of_changed_values({"part": was}, {"part": snapshot_value(part)}))
        for was, part in zip(before, result, strict=True)
    ]
    return {
        "returned": before,
        "inputs": inputs,
        "copy_follows": moved[:1] == [True],
        "view_follows": moved[1:] == [True],
        "detached": moved[:1] == [True] and x.is_floating_point() and _first_is_detached(answer, case),
    }


def _first_is_detached(answer: Answer, case: Case) -> bool:
    """Return whether the answer's first result, called on a tracked `x`, does not require grad; a view would.

    An answer that refuses a tracked `x`, as NumPy does, detaches nothing.
    """
    (x,) = copy_case_data(case.args)
    try:
        return not bool(answer(x.requires_grad_())[0].requires_grad)
    except RuntimeError:
        return False
