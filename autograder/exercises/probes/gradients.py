"""Probes for gradients: what an answer returns, and what it changes about the tensors that it is given.

Tensors are passed either without `requires_grad`, or warm: with `requires_grad` and with an earlier `.grad`, which an
answer must neither use nor lose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from autograder.exercises.exercise import Case, Probe
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    make_probe_recording_exceptions,
    names_of_changed_values,
    snapshot_value,
    snapshot_without_requires_grad,
)

Function = Callable[[Tensor], Tensor]
OLD_GRAD = 7.0  # every entry of a .grad that was there before the call


def fill_old_grads(*tensors: Tensor) -> None:
    """Set `requires_grad` on tensors, and give each a `.grad` filled with `OLD_GRAD`."""
    for tensor in tensors:
        tensor.requires_grad_()
        tensor.grad = torch.full_like(tensor, OLD_GRAD)


def tensor_state(tensor: Tensor) -> dict[str, Plain]:
    """Return everything that a function could change about a tensor: shape, values, requires_grad, leaf, .grad."""
    grad = None if not tensor.is_leaf or tensor.grad is None else snapshot_value(tensor.grad.detach())
    return {
        "shape": list(tensor.shape),
        "values": snapshot_without_requires_grad(tensor.reshape(-1)),
        "requires_grad": tensor.requires_grad,
        "leaf": tensor.is_leaf,
        ".grad": grad,
    }


def is_tensor_requiring_grad(result: object) -> bool:
    """Return whether a result requires grad; False if it is no tensor."""
    return bool(getattr(result, "requires_grad", False))


def make_tensor_arguments_probe(
    *kept: str,
    tracked: bool = False,
    computed: bool = False,
    times: int = 1,
    functions: Mapping[str, Function] | None = None,
) -> Probe:
    """Make a probe that calls an answer on tensors; a str among the arguments names one of `functions`.

    With `tracked`, the tensors require grad and have an earlier `.grad`. With `computed`, they are results computed
    from such tensors, which are watched too. Facets: `returned` (the values), `tracked` (whether the result
    requires grad), `left` (what changed, per tensor) and `again` (the results of later calls on the same tensors,
    up to `times` calls); those in `kept` are recorded.
    """

    def look(answer: Answer, case: Case) -> Observation:
        args = [(functions or {})[arg] if isinstance(arg, str) else copy_case_data(arg) for arg in case.args]
        tensors = [arg for arg in args if isinstance(arg, Tensor)]
        if tracked or computed:
            fill_old_grads(*tensors)
        if computed:
            args = [arg * 1 if isinstance(arg, Tensor) else arg for arg in args]
            tensors += [arg for arg in args if isinstance(arg, Tensor)]
        before = [tensor_state(tensor) for tensor in tensors]
        result = answer(*args, **case.kwargs)
        return {
            "returned": snapshot_without_requires_grad(result),
            "tracked": is_tensor_requiring_grad(result),
            "left": [
                names_of_changed_values(was, tensor_state(tensor)) for was, tensor in zip(before, tensors, strict=True)
            ],
            "again": [snapshot_without_requires_grad(answer(*args, **case.kwargs)) for _ in range(times - 1)],
        }

    return make_probe_recording_exceptions(look, *kept)
