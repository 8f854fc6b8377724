"""The probes of chapter 4 that watch a model at work: one step of training, one round of evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

from autograder.watching.difference import Tolerance, first_difference
from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import attempt, copy_of, see

from ._ch04_models import (
    grads_of,
    held_by,
    model_of,
    modes_of,
    optimizer_of,
    plain_number,
    random_from,
)

Answer = Callable[..., Any]
_EXACT = Tolerance(0.0, 0.0)

# --- one step


def one_step(*kept: str, warm: bool = False) -> Probe:
    """One call of `train_step`, perhaps after two steps that left gradients and a momentum.

    Facets: `held` (parameters and buffers), `grads`, `arrived` (some gradient reached the model), `returned`, `modes`,
    `forwards` (how often the model was called) and `criterion` (what the criterion was called with, each time).
    """

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        name, kind, x, y = copy_of(case.args)
        model = model_of(name, x.shape[1])
        optimizer = optimizer_of(kind, model.parameters(), 0.1)
        with random_from(3):
            if warm:
                _warm_up(model, optimizer, x + 1.0, y)
            watch = _Watch(model, y)
            result = answer(model, optimizer, watch.criterion, x, y)
        seen: Observation = {"held": held_by(model), "grads": grads_of(model), "returned": see(result)}
        seen |= {"modes": modes_of(model), "forwards": watch.forwards, "criterion": watch.calls}
        seen["arrived"] = watch.arrived
        return {facet: seen[facet] for facet in kept}

    return probe


def _warm_up(model: nn.Module, optimizer: torch.optim.Optimizer, x: Tensor, y: Tensor) -> None:
    """Two steps elsewhere: gradients and the optimizer's memory stay behind."""
    for shift in (0.0, 2.0):
        optimizer.zero_grad()
        ((model(x) - y - shift) ** 2).mean().backward()
        optimizer.step()


class _Watch:
    """A mean squared error that writes down what it is called with, and a count of the model's calls."""

    def __init__(self, model: nn.Module, y: Tensor) -> None:
        self.forwards = 0
        self.calls: list[tuple[str, ...]] = []
        self._y = y
        self.arrived = False
        model.register_forward_hook(self._count)
        [param.register_hook(self._note) for param in model.parameters()]

    def _count(self, *_: object) -> None:
        self.forwards += 1

    def _note(self, _: Tensor) -> None:
        self.arrived = True

    def criterion(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The mean of the squares, whichever comes first."""
        self.calls.append(tuple("y_batch" if self._is_y(arg) else "prediction" for arg in (prediction, target)))
        return ((prediction - target) ** 2).mean()

    def _is_y(self, arg: Tensor) -> bool:
        return arg.shape == self._y.shape and bool((arg == self._y).all())


# --- evaluation


def evaluated(*kept: str) -> Probe:
    """One call of `evaluate` on batches of a size, the last one perhaps smaller.

    Facets: `returned` (numbers, whatever their type), `types`, `modes` (afterwards), `tracked` (a prediction that has a
    graph came to the criterion) and `left` (which of parameters, buffers and gradients changed).
    """

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        name, x, labels, batch_size = copy_of(case.args)
        model = model_of(name, x.shape[1], outputs=3)
        _give_gradients(model)
        before = held_by(model), grads_of(model)
        tracked: list[bool] = []

        def criterion(logits: Tensor, labels: Tensor) -> Tensor:
            tracked.append(logits.requires_grad)
            return cross_entropy(logits, labels)

        with random_from(3):
            result = answer(model, DataLoader(TensorDataset(x, labels), batch_size=batch_size), criterion)
        seen: Observation = {"returned": _numbers(result), "types": _types(result), "modes": modes_of(model)}
        seen |= {"tracked": any(tracked), "left": _changed(before, (held_by(model), grads_of(model)))}
        return {facet: seen[facet] for facet in kept}

    return probe


def _give_gradients(model: nn.Module) -> None:
    for param in model.parameters():
        param.grad = torch.full_like(param, 7.0)


def _numbers(result: object) -> Plain:
    if not isinstance(result, dict):
        return see(result)
    return {str(key): plain_number(value) for key, value in sorted(result.items(), key=str)}


def _types(result: object) -> Plain:
    if not isinstance(result, dict):
        return see(result)
    return {str(key): type(value).__name__ for key, value in sorted(result.items(), key=str)}


def _changed(before: tuple[Plain, ...], after: tuple[Plain, ...]) -> list[str]:
    names = ("parameters or buffers", "gradients")
    pairs = zip(names, before, after, strict=True)
    return [name for name, old, new in pairs if first_difference(old, new, _EXACT) is not None]
