"""The probes of chapter 2: what an answer returns, and what it leaves behind on the tensors that it is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from autograder.watching.difference import Tolerance, first_difference
from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation, Plain, Seen
from autograder.watching.probe import attempt, copy_of, see, values

from ._ch02_functions import FUNCTIONS, weighted

Answer = Callable[..., Any]
OLD_GRAD = 7.0  # every entry of a .grad that was there before the call


def warm(*tensors: Tensor) -> None:
    """Track tensors, and give each a .grad from earlier."""
    for tensor in tensors:
        tensor.requires_grad_()
        tensor.grad = torch.full_like(tensor, OLD_GRAD)


def state(tensor: Tensor) -> dict[str, Plain]:
    grad = None if not tensor.is_leaf or tensor.grad is None else see(tensor.grad.detach())
    return {
        "values": values(tensor),
        "requires_grad": tensor.requires_grad,
        "leaf": tensor.is_leaf,
        ".grad": grad,
    }


def left_on(before: dict[str, Plain], tensor: Tensor) -> list[str]:
    """What about a tensor is no longer as it was."""
    after = state(tensor)
    return [what for what in before if first_difference(before[what], after[what], Tolerance(0.0, 0.0)) is not None]


def on_tensors(*kept: str, tracked: bool = False, times: int = 1) -> Probe:
    """Call an answer on tensors, untracked or warm, perhaps behind the name of a function.

    Facets: `returned` (the values), `tracked` (does the result require grad), `left` (per tensor argument, what
    changed) and `again` (what later calls on the same tensors gave); those in `kept` are written down.
    """

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        args = [FUNCTIONS[arg] if isinstance(arg, str) else copy_of(arg) for arg in case.args]
        tensors = [arg for arg in args if isinstance(arg, Tensor)]
        if tracked:
            warm(*tensors)
        before = [state(tensor) for tensor in tensors]
        result = answer(*args, **case.kwargs)
        seen = {"returned": values(result), "tracked": bool(getattr(result, "requires_grad", False))}
        seen["left"] = [left_on(*pair) for pair in zip(before, tensors, strict=True)]
        seen["again"] = [values(answer(*args, **case.kwargs)) for _ in range(times - 1)]
        return {facet: seen[facet] for facet in kept}

    return probe


def in_turn(*in_order: Probe) -> Probe:
    """Watch a case with several probes, each of which calls the answer anew; each facet is a list."""

    def probe(answer: Answer, case: Case) -> Observation:
        seen: Observation = {}
        for one in in_order:
            for facet, value in one(answer, case).items():
                seen[facet] = [*seen.get(facet, []), value] if facet != "raised" else value
            if "raised" in seen:
                return {"raised": seen["raised"]}
        return seen

    return probe


def by_hand(*places: int) -> Probe:
    """Some of the three numbers that an answer returns, counted as floats."""

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: {"returned": look(answer(*case.args))})

    def look(result: object) -> Plain:
        if not isinstance(result, tuple | list) or len(result) != 3:
            return see(result)
        return tuple(number(result[place]) for place in places)

    return probe


def number(value: object) -> Plain:
    """A plain number as a float: 4 counts as 4.0."""
    seen = see(value)
    return float(seen) if type(seen) is int else seen


def state_told(answer: Answer, case: Case) -> Observation:
    """The predicted state of a program; a whole number counts as a float."""

    def look() -> Observation:
        result = answer(*case.args)
        if not isinstance(result, dict):
            return {"returned": see(result)}
        told = {str(key): value for key, value in result.items()}
        return {"returned": {key: number(value) if key == "grad" else see(value) for key, value in told.items()}}

    return attempt(look)


# --- a function that uses another tracked tensor


def beside_a_weight(answer: Answer, case: Case) -> Observation:
    """Whether the .grad of another tracked tensor, which the function uses, stays as it was."""

    def look() -> Observation:
        (x,) = copy_of(case.args)
        weight = torch.arange(1, x.numel() + 1, dtype=x.dtype).reshape(x.shape)
        warm(weight)
        before = state(weight)
        result = answer(weighted(weight), x)
        return {"returned": see(result), "elsewhere": left_on(before, weight)}

    return attempt(look)


# --- three broken programs


def entries(*keys: str, left: bool = False) -> Probe:
    """Some entries of a returned dict; without any, its keys, shapes and tracking; or what became of x."""

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        (x,) = copy_of(case.args)
        before = state(x)
        result = answer(x)
        if left:
            return {"left": [left_on(before, x)]}
        if not isinstance(result, dict):
            return {"returned": see(result)}
        seen = {str(key): see(result[key]) for key in sorted(result, key=str) if not keys or key in keys}
        return {"returned": seen if keys else {key: _outline(value) for key, value in seen.items()}}

    return probe


def _outline(seen: Plain) -> Plain:
    return replace(seen, values=None) if isinstance(seen, Seen) else seen
