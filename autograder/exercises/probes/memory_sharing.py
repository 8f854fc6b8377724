"""Probes for memory: which tensors share it, and which follow when another one is changed."""

from __future__ import annotations

from typing import Any

import torch

from autograder.exercises.exercise import Case
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import (
    Answer,
    changed,
    changed_inputs,
    copy_of,
    named_arguments,
    plain_key,
    see,
    watched,
)


def shared_with(result: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Plain:
    """For each tensor of the result, in its place, the arguments whose memory it uses."""
    if isinstance(result, torch.Tensor):
        named = named_arguments(args, kwargs).items()
        return [name for name, arg in named if isinstance(arg, torch.Tensor) and same_memory(result, arg)]
    if type(result) in (list, tuple):
        return [shared_with(item, args, kwargs) for item in result]  # type: ignore[attr-defined]
    if type(result) is dict:
        return {plain_key(key): shared_with(item, args, kwargs) for key, item in result.items()}
    return None


def same_memory(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors use one storage."""
    if a.device != b.device or a.device.type == "meta" or a.layout != b.layout or a.layout != torch.strided:
        return False
    return a.numel() > 0 and a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


@watched
def copy_and_view(answer: Answer, case: Case) -> Observation:
    """An answer that returns a copy of a part of `x` and a view of another one; `x` is changed afterwards.

    Facets: `returned` (both), `inputs` (was `x` changed by the answer itself), `copy_follows` and `view_follows` (do
    their numbers change with those of `x`), `detached` (a copy that follows is merely cut off from autograd).
    """
    (x,) = copy_of(case.args)
    result = answer(x)
    inputs = changed_inputs(case, (x,), {})
    if not isinstance(result, list | tuple):
        return {"returned": see(result)}
    before = tuple(see(part) for part in result)
    x.add_(1)
    moved = [bool(changed({"part": was}, {"part": see(part)})) for was, part in zip(before, result, strict=True)]
    return {
        "returned": before,
        "inputs": inputs,
        "copy_follows": moved[:1] == [True],
        "view_follows": moved[1:] == [True],
        "detached": moved[:1] == [True] and x.is_floating_point() and _first_is_detached(answer, case),
    }


def _first_is_detached(answer: Answer, case: Case) -> bool:
    """Whether a first result in the memory of `x` is cut off from autograd; a view is tracked as `x` is."""
    (x,) = copy_of(case.args)
    return not bool(answer(x.requires_grad_())[0].requires_grad)
