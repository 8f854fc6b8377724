"""The probes of chapter 4 for optimizers of one's own: where tensors go, step by step, with the gradients of a case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import attempt, copy_of, see, values

Class = Callable[..., Any]


def stepped(*kept: str, generator: bool = False) -> Probe:
    """Steps with given gradients. Facets: `path` (the tensors after each step), `grads` (after the last), `cleared`."""

    def probe(answer: Class, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Class, case: Case) -> Observation:
        tensors, steps = copy_of(case.args)
        params = [tensor.requires_grad_() for tensor in tensors]
        optimizer = answer((p for p in params) if generator else params, **case.kwargs)
        seen: Observation = {"path": [_step(optimizer, params, grads) for grads in copy_of(steps)]}
        seen["grads"] = [see(p.grad) for p in params]
        optimizer.zero_grad()
        seen["cleared"] = [p.grad is None for p in params]
        return {facet: seen[facet] for facet in kept}

    return probe


def apart(answer: Class, case: Case) -> Observation:
    """Two optimizers that step by turns; the tensors of the first are longer than those of the second."""

    def look() -> Observation:
        tensors, steps = copy_of(case.args)
        others = [0.5 * tensor.clone() for tensor in tensors]
        both = [[tensor.requires_grad_() for tensor in group] for group in (tensors, others)]
        made = [answer(params, **case.kwargs) for params in both]
        path = [
            [_step(optimizer, params, copy_of(grads)) for optimizer, params in zip(made, both, strict=True)]
            for grads in steps
        ]
        return {"path": path}

    return attempt(look)


def _step(optimizer: Any, params: list[Tensor], grads: list[Tensor | None]) -> Plain:
    for param, grad in zip(params, grads, strict=True):
        if param.grad is None or grad is None:
            param.grad = grad
        else:
            param.grad.copy_(grad)  # the same tensor, step after step
    optimizer.step()
    return [values(param) for param in params]
