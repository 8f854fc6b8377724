"""Probes for gradients: what an answer returns, and what it leaves behind on the tensors that it is given.

A tensor is met untracked, or warm: tracked, and with a `.grad` from earlier that must neither count nor be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from autograder.exercises.exercise import Case, Probe
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import Answer, changed, copy_of, see, values, watched

Function = Callable[[Tensor], Tensor]
OLD_GRAD = 7.0  # every entry of a .grad that was there before the call


def warm(*tensors: Tensor) -> None:
    """Track tensors, and give each a `.grad` from earlier."""
    for tensor in tensors:
        tensor.requires_grad_()
        tensor.grad = torch.full_like(tensor, OLD_GRAD)


def state(tensor: Tensor) -> dict[str, Plain]:
    """All that a function could change about a tensor that it is given."""
    grad = None if not tensor.is_leaf or tensor.grad is None else see(tensor.grad.detach())
    return {
        "values": values(tensor),
        "requires_grad": tensor.requires_grad,
        "leaf": tensor.is_leaf,
        ".grad": grad,
    }


def is_tracked(result: object) -> bool:
    """Whether a result requires grad."""
    return bool(getattr(result, "requires_grad", False))


def on_tensors(
    *kept: str,
    tracked: bool = False,
    computed: bool = False,
    times: int = 1,
    functions: Mapping[str, Function] | None = None,
) -> Probe:
    """Call an answer on tensors, untracked or warm; a text among the arguments stands for the function of that name.

    `computed`: the tensors are results, computed from warm ones, so that their graph and what is behind it may change.
    Facets: `returned` (the values), `tracked` (does the result require grad), `left` (per tensor argument, what
    changed) and `again` (what later calls on the same tensors gave); those in `kept` are written down.
    """

    def look(answer: Answer, case: Case) -> Observation:
        args = [(functions or {})[arg] if isinstance(arg, str) else copy_of(arg) for arg in case.args]
        tensors = [arg for arg in args if isinstance(arg, Tensor)]
        if tracked or computed:
            warm(*tensors)
        if computed:
            args = [arg * 1 if isinstance(arg, Tensor) else arg for arg in args]
            tensors += [arg for arg in args if isinstance(arg, Tensor)]
        before = [state(tensor) for tensor in tensors]
        result = answer(*args, **case.kwargs)
        return {
            "returned": values(result),
            "tracked": is_tracked(result),
            "left": [changed(was, state(tensor)) for was, tensor in zip(before, tensors, strict=True)],
            "again": [values(answer(*args, **case.kwargs)) for _ in range(times - 1)],
        }

    return watched(look, *kept)
