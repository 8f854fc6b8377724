"""The probes of chapter 5 that measure: a fake device with a clock, bytes of a plan, operations that wait."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation
from autograder.watching.probe import attempt, changed_inputs, copy_of, see

from ._ch05_models import Answer, grads_of, held_by, model_of

# --- a device that works on its own, and the only clock there is


class FakeDevice:
    """Work takes as long as a case says; nobody waits for it but `sync` (or everybody, where it is not asynchronous).

    All times are in seconds of a clock that only work moves on.
    """

    def __init__(self, takes: list[float], asynchronous: bool) -> None:
        self.now = 100.0
        self.calls = 0
        self.waits = False
        self._takes = takes
        self._asynchronous = asynchronous
        self._done = self.now

    def work(self) -> None:
        """Give the device its next piece of work; the host needs 1/64 second for that."""
        begin = max(self._done, self.now)
        self._done = begin + self._takes[min(self.calls, len(self._takes) - 1)]
        self.calls += 1
        self.now = self.now + 1 / 64 if self._asynchronous else self._done

    def sync(self) -> None:
        """Wait until all work is done."""
        self.now = max(self.now, self._done)
        self.waits = True

    @contextmanager
    def clock(self) -> Iterator[None]:
        """Make this clock the one that the program reads; the clock of the wall stands still."""
        with (
            patch.object(time, "perf_counter", lambda: self.now),
            patch.object(time, "perf_counter_ns", lambda: int(self.now * 1e9)),
            patch.object(time, "time", lambda: 0.0),
        ):
            yield


def benched(*kept: str) -> Probe:
    """One call of `bench` on a fake device. Facets: `returned`, `calls` of fn, and `waits` (sync is called)."""

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        kind, takes, warmup, iters = copy_of(case.args)
        device = FakeDevice(takes, asynchronous=kind == "asynchronous")
        with device.clock():
            result = answer(device.work, warmup, iters, device.sync)
        seen: Observation = {"returned": see(result), "calls": device.calls, "waits": device.waits}
        return {facet: seen[facet] for facet in kept}

    return probe


# --- a plan of bytes


def planned(*entries: str) -> Probe:
    """These entries of a plan, and its keys; the model that it is made for has a past."""

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        name, batch, *rest = copy_of(case.args)
        plan = answer(_used(name, batch), batch, *rest)
        if not isinstance(plan, dict):
            return {"returned": see(plan)}
        return {"keys": sorted(map(str, plan))} | {entry: see(plan.get(entry)) for entry in entries}

    return probe


def plan_left(answer: Answer, case: Case) -> Observation:
    """What became of the model and the batch."""

    def look() -> Observation:
        name, batch, *rest = args = copy_of(case.args)
        model = _used(name, batch)
        answer(model, batch, *rest)
        return {
            "model": held_by(model),
            "grads": grads_of(model),
            "mode": [module.training for module in model.modules()],
            "inputs": changed_inputs(case, args, {}),
        }

    return attempt(look)


def _used(name: str, batch: Tensor) -> nn.Module:
    """A model with gradients of an earlier step."""
    model = model_of(name, batch.shape[1], outputs=2)
    for param in model.parameters():
        param.grad = torch.full_like(param, 7.0)
    return model


# --- operations that wait


def _quiet_print(x: Tensor) -> None:
    with redirect_stdout(io.StringIO()):
        print(x)


def _branch(x: Tensor) -> str:
    return "above 0" if x.sum() > 0 else "not above 0"


def _loop(x: Tensor) -> list[float]:
    total = torch.zeros(())
    shown = []
    for row in x:
        total = total + row * row
        shown.append(total.item())
    return shown


def _backward(x: Tensor) -> tuple[float, float]:
    weight = torch.ones_like(x, requires_grad=True)
    loss = (weight * x).square().sum()
    loss.backward()
    assert weight.grad is not None
    return loss.item(), weight.grad.sum().item()


PROGRAMS: dict[str, Callable[[Tensor], Any]] = {
    "x.sum().item()": lambda x: x.sum().item(),
    "x.max().item() - x.min().item()": lambda x: x.max().item() - x.min().item(),
    "float(x[0])": lambda x: float(x[0]),
    "int(x[0])": lambda x: int(x[0]),
    "if x.sum() > 0": _branch,
    "bool(x[0] > 0)": lambda x: bool(x[0] > 0),
    "torch.full((2,), x[0])": lambda x: torch.full((2,), x[0]),  # type: ignore[call-overload]
    "x.nonzero()": lambda x: x.nonzero(),
    "torch.where(x > 0)": lambda x: torch.where(x > 0),
    "x.sum().item(), then x.nonzero(), then float(x[0])": lambda x: [x.sum().item(), x.nonzero(), float(x[0])],
    "x.nonzero(), then x.sum().item()": lambda x: [x.nonzero(), x.sum().item()],
    "item() in each round of a loop": _loop,
    "loss.backward(), then two calls of item()": _backward,
    "(x * 2).sum()": lambda x: (x * 2).sum(),
    "torch.softmax(x, dim=0)": lambda x: torch.softmax(x, dim=0),
    "x.clamp(min=0.0).to(dtype=torch.float64)": lambda x: x.clamp(min=0.0).to(dtype=torch.float64),
    "print(x), which the mode does not see": _quiet_print,
}


def counted(*kept: str) -> Probe:
    """One call of `count_syncs`. Facets: `returned`, `calls` of fn, and what it `made`."""

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        name, x = copy_of(case.args)
        made: list[Any] = []
        first = see(answer(lambda: made.append(PROGRAMS[name](x))))
        seen: Observation = {"returned": first, "calls": len(made), "made": [see(one) for one in made[:1]]}
        return {facet: seen[facet] for facet in kept}

    return probe


# --- two copies of weights


def one_of_two(index: int) -> Probe:
    """One item of the pair that is returned; 0 is `alone`, 1 is `master`."""

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        pair = see(answer(*copy_of(case.args), **case.kwargs))
        if not isinstance(pair, tuple) or len(pair) != 2:
            return {"returned": pair}
        return {("alone", "master")[index]: pair[index]}

    return probe
