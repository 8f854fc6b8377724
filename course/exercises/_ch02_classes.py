"""The probes of chapter 2's two classes: LeakyClamp, a Function of one's own, and Value, a small engine."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import attempt, copy_of, see, values

from ._ch02_functions import EXPRESSIONS
from ._ch02_probes import number

Class = Callable[..., Any]


# --- LeakyClamp


def clamp_part(*kept: str) -> Probe:
    """One call of LeakyClamp.apply; facets: `returned`, and `by_x` and `by_slope` (of a weighted sum)."""

    def probe(answer: Class, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Class, case: Case) -> Observation:
        x, low, high, slope = copy_of(case.args)
        x.requires_grad_("by_x" in kept)
        slope.requires_grad_("by_slope" in kept)
        y = _apply(answer, x, low, high, slope)
        seen: Observation = {"returned": values(y)}
        if y.requires_grad:
            (_weights(y) * y).sum().backward()
        seen |= {"by_x": see(x.grad), "by_slope": see(slope.grad)}
        return {facet: seen[facet] for facet in kept}

    return probe


def _apply(answer: Class, *args: Any) -> Any:
    return answer.apply(*args)  # type: ignore[attr-defined]


def _weights(y: Tensor) -> Tensor:
    """A gradient that arrives from outside with another number, and another sign, for each entry."""
    return torch.linspace(-2.0, 3.0, y.numel(), dtype=y.dtype).reshape(y.shape)


def clamp_twice(answer: Class, case: Case) -> Observation:
    """Two calls before the first backward; each has its own inputs."""

    def look() -> Observation:
        x, low, high, slope = copy_of(case.args)
        one, other = x.clone().requires_grad_(), (2 * x).requires_grad_()
        slope.requires_grad_()
        first = _apply(answer, one, low, high, slope)
        second = _apply(answer, other, low - 1.0, high + 1.0, slope * 0.5)
        (_weights(first) * first).sum().backward()
        (_weights(second) * second).sum().backward()
        return {"by_x": [see(one.grad), see(other.grad)], "by_slope": see(slope.grad)}

    return attempt(look)


def clamp_needs(answer: Class, case: Case) -> Observation:
    """What backward itself returns where only x, and where only slope, is tracked."""

    def look() -> Observation:
        return {
            "for_x_alone": _backward_returns(answer, case, x=True),
            "for_slope_alone": _backward_returns(answer, case, x=False),
            "grad_out_kept": _keeps_grad_out(answer, case),
        }

    return attempt(look)


def _backward_returns(answer: Class, case: Case, x: bool) -> list[str]:
    args = copy_of(case.args)
    (args[0] if x else args[3]).requires_grad_()
    y = _apply(answer, *args)
    with torch.no_grad():
        grads = answer.backward(y.grad_fn, _weights(y))  # type: ignore[attr-defined]
    grads = grads if isinstance(grads, tuple) else (grads,)
    return ["None" if grad is None else "a tensor" for grad in grads]


def _keeps_grad_out(answer: Class, case: Case) -> bool:
    """Whether backward leaves what it is given as it was."""
    x, low, high, slope = copy_of(case.args)
    y = _apply(answer, x.requires_grad_(), low, high, slope.requires_grad_())
    given = _weights(y)
    with torch.no_grad():
        answer.backward(y.grad_fn, given)  # type: ignore[attr-defined]
    return torch.equal(given, _weights(y))


def clamp_gradcheck(answer: Class, case: Case) -> Observation:
    """Whether gradcheck finds the gradients of x and slope to be those of the values."""

    def look() -> Observation:
        x, low, high, slope = copy_of(case.args)
        inputs = (x.requires_grad_(), slope.requires_grad_())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            passes = torch.autograd.gradcheck(
                lambda x, slope: _apply(answer, x, low, high, slope), inputs, raise_exception=False
            )
        return {"gradcheck": bool(passes)}

    return attempt(look)


# --- Value


def expression(*kept: str) -> Probe:
    """An expression of Values, and backward on each of its results.

    Facets: `data` (of the results), `grads` (of the leaves, at the end), `middle` (of the Values on the way),
    `own` (of each result, right after its backward).
    """

    def probe(answer: Class, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Class, case: Case) -> Observation:
        name, numbers = case.args
        leaves = [answer(one) for one in numbers]
        results, middle = EXPRESSIONS[name](*leaves)
        seen: Observation = {"data": [number(result.data) for result in results]}
        seen["own"] = [_grad_after_backward(result) for result in results] if kept != ("data",) else []
        seen["grads"] = _grads(leaves)
        seen["middle"] = _grads(middle)
        return {facet: seen[facet] for facet in kept}

    return probe


def _grad_after_backward(result: Any) -> Plain:
    result.backward()
    return number(result.grad)


def _grads(made: list[Any]) -> list[Plain]:
    return [number(value.grad) for value in made]
