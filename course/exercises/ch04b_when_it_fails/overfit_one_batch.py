"""`overfit_one_batch`: find out why one batch cannot be learned.

A trial is a model, an optimizer, a batch and a step, with at most one thing wrong; it stands in a case by name.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from autograder.diagnosis.difference_messages import call_from_parts
from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.probes.random_results import temporarily_seeded
from autograder.exercises.seeded_draw import Draw

from .._ch04_steps_by_hand import loss_and_gradients


@dataclass
class Trial:
    """What the reader looks into: `model`, `optimizer`, `batch()` and `step(x, y)`."""

    model: nn.Sequential
    optimizer: torch.optim.Optimizer
    x: Tensor
    y: Tensor
    shuffles: bool = False
    reorders: bool = False  # the rows of x with those of y: no fault
    clears: str = "first"  # "late": between backward and step
    steps: bool = True
    taken: int = 0  # steps, so far

    def batch(self) -> tuple[Tensor, Tensor]:
        """The batch: inputs (4, 3) and targets (4, 1)."""
        if self.shuffles or self.reorders:
            self.y = self.y.roll(1, dims=0)
        if self.reorders:
            self.x = self.x.roll(1, dims=0)
        return self.x.clone(), self.y.clone()

    def step(self, x: Tensor, y: Tensor) -> float:
        """One step of training; returns the loss before it."""
        self.taken += 1
        self.optimizer.zero_grad()
        loss = loss_and_gradients(self.model, x, y)
        if self.clears == "late":
            self.optimizer.zero_grad()
        if self.steps:
            self.optimizer.step()
        return loss


class _SGD(torch.optim.SGD):
    """What it does in one step, for few small tensors."""

    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Move each parameter against its gradient, or against the sum that momentum keeps."""
        held = [(group, param) for group in self.param_groups for param in group["params"] if param.grad is not None]
        with torch.no_grad():
            for group, param in held:
                kept = self.state[param]
                kept["momentum_buffer"] = group["momentum"] * kept.get("momentum_buffer", 0.0) + param.grad
                param.sub_(kept["momentum_buffer"], alpha=group["lr"])


_STEPS = 100

Make = Callable[[nn.Sequential, Tensor, Tensor], Trial]


def _trial(params: Callable[[nn.Sequential], Any] = nn.Module.parameters, **fault: Any) -> Make:
    """A trial whose optimizer is given these parameters of the model."""
    return lambda model, x, y: Trial(model, _SGD(params(model), lr=0.05, momentum=0.9), x, y, **fault)


_sound = _trial()


def _zero_last_layer(model: nn.Sequential, x: Tensor, y: Tensor) -> Trial:
    [nn.init.zeros_(param) for param in model[-1].parameters()]
    return _sound(model, x, y + 1.0)


def _two_groups(model: nn.Sequential, x: Tensor, y: Tensor) -> Trial:
    groups: list[dict[str, Any]] = [{"params": model[0].parameters()}, {"params": model[-1].parameters(), "lr": 0.05}]
    return Trial(model, torch.optim.Adam(groups, lr=0.03), x, y)


def _frozen(part: Callable[[nn.Sequential], Any]) -> Make:
    def make(model: nn.Sequential, x: Tensor, y: Tensor) -> Trial:
        part(model).requires_grad_(False)
        return _sound(model, x, y)

    return make


def _linear_with_rate(lr: float) -> Make:
    def make(model: nn.Sequential, x: Tensor, y: Tensor) -> Trial:
        linear = nn.Sequential(model[0], model[-1])
        return Trial(linear, _SGD(linear.parameters(), lr=lr), x, y)

    return make


def _few_labels(model: nn.Sequential, x: Tensor, y: Tensor) -> Trial:
    return _trial(shuffles=True)(model, x, torch.eye(4, 1, dtype=y.dtype))


def _small_targets(model: nn.Sequential, x: Tensor, y: Tensor) -> Trial:
    [nn.init.zeros_(param) for param in model[-1].parameters()]
    return _linear_with_rate(1e-5)(model, x, 0.1 * y.tanh())


def _zero_biases(model: nn.Sequential, x: Tensor, y: Tensor) -> Trial:
    """The biases move by so little that the loss stays the same number; the weights do not move at all."""
    [nn.init.zeros_(param) for param in model.parameters() if param.dim() == 1]
    return _linear_with_rate(1e-25)(model, x, y)


def _falling(share: float, steps: float, **settings: float) -> Make:
    """One weight, whose loss shrinks by one factor with each step: after these steps, this share of it is left.

    With other settings of the optimizer it does as these say.
    """
    kept = share ** (0.5 / steps)

    def make(model: nn.Sequential, x: Tensor, y: Tensor) -> Trial:
        weight = nn.utils.skip_init(nn.Linear, 1, 1, bias=False, dtype=y.dtype)
        nn.init.zeros_(weight.weight)
        optimizer = _SGD(weight.parameters(), **{"lr": (1 - kept) / 2, **settings})
        return Trial(nn.Sequential(weight), optimizer, torch.ones_like(y), torch.full_like(y, float(y.abs().max())))

    return make


def _counts_calls(model: nn.Sequential, x: Tensor, y: Tensor) -> Trial:
    """A layer has a buffer that each call changes, as a batch norm has."""
    model[0].register_buffer("calls", torch.zeros(()))
    # A hook that returns None leaves what comes out as it is.
    model[0].register_forward_hook(lambda layer, *_: layer.get_buffer("calls").add_(1) and None)
    return _trial(steps=False)(model, x, y)


_TRIALS: dict[str, Make] = {
    "sound": _sound,
    "sound: two groups in Adam": _two_groups,
    "sound: the last layer begins at 0": _zero_last_layer,
    "sound: the rows in another order each time": _trial(reorders=True),
    "optimizer.step is missing": _trial(steps=False),
    "gradients cleared before the step": _trial(clears="late"),
    "optimizer.step is missing, and a buffer counts the calls": _counts_calls,
    "labels in another order each time": _trial(shuffles=True),
    "one label of another kind, at another place each time": _few_labels,
    "all frozen": _frozen(lambda model: model),
    "first layer frozen": _frozen(lambda model: model[0]),
    "last bias frozen": _frozen(lambda model: model[-1].bias),
    "optimizer made for a copy": _trial(lambda model: copy.deepcopy(model).parameters()),
    "optimizer without the last bias": _trial(lambda model: list(model.parameters())[:-1]),
    "learning rate 0.00001": _linear_with_rate(1e-5),
    "learning rate 0.0000000001": _linear_with_rate(1e-10),
    "learning rate 0.00001, and small targets": _small_targets,
    "learning rate 1e-25, and biases that begin at 0": _zero_biases,
    "learning rate 100": _linear_with_rate(100.0),
    "a third of the loss is left after 100 steps": _falling(1 / 3, 100),
    "a tenth is left after 99 and a half": _falling(0.1, 99.5),
    "a tenth is left after 100 and a half": _falling(0.1, 100.5),
    # Momentum carries the weight through its goal in 50 steps, and in 100 as far beyond it as it was before.
    "the loss is near 0 after 50 steps, and large after 100": _falling(0, 1, lr=math.pi**2 / 2e4, momentum=0.999),
}


@make_probe_recording_exceptions
def diagnosed(answer: Answer, case: Case) -> Observation:
    """What an answer says of a trial with the weights and the batch of a seed.

    Facets: `returned`, and `too_few` (it was said before the hundredth step, and is not so after it).
    """
    trial = _made(*case.args)
    said = snapshot_value(answer(trial))
    early = said in ("ok", "learning rate") and trial.taken < _STEPS
    return {"too_few": early and said != _after_all_steps(_made(*case.args)), "returned": said}


def _after_all_steps(trial: Trial) -> str:
    x, y = trial.batch()
    losses = [trial.step(x, y) for _ in range(_STEPS + 1)]
    return "ok" if losses[-1] < losses[0] / 10 else "learning rate"


def _made(name: str, seed: int) -> Trial:
    with temporarily_seeded(seed):
        model = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1)).double()
        x, y = 2 * torch.randn(4, 3, dtype=torch.float64), torch.randn(4, 1, dtype=torch.float64)
    return _TRIALS[name](model, x, y)


_TELLS = {
    "too_few": "You take fewer than 100 steps on this trial before you say so, and what is asked is where the loss is "
    "after 100 of them.",
    "returned=ok": "Nothing is wrong with this trial: two calls of batch() give the same rows with the same labels, in "
    "whatever order, each parameter learns and stands in one of the optimizer's groups, a step moves some of them, "
    "and after 100 steps the loss is below a tenth of the first.",
    "returned=shuffled labels": "Two calls of batch() give the same x here with another y, if only at one place.",
    "returned=frozen": "At least one parameter of this model has requires_grad False, if only a bias.",
    "returned=wrong parameters": "At least one parameter of this model stands in no group of the optimizer: look for "
    "the object itself, not for one with the same numbers.",
    "returned=no step": "A step leaves all parameters of this trial as they were, whatever its buffers do: compare "
    "with copies from before it.",
    "returned=learning rate": "All else is sound here, and a step moves some parameter, however little; but after 100 "
    "steps the loss is not below a tenth of the first, and nan is below nothing.",
}


def asked(sentence: str) -> Requirement:
    """A requirement that is shown by some trials, each of which has its sentence where something else is said of it."""
    return Requirement(sentence, diagnosed, _TELLS)


shown_by = {
    asked("tells a sound trial from one without a step"): ("sound", "optimizer.step is missing"),
    asked("finds shuffled labels"): (
        "labels in another order each time",
        "one label of another kind, at another place each time",
    ),
    asked("finds a frozen parameter"): ("first layer frozen", "last bias frozen", "all frozen"),
    asked("finds parameters that the optimizer does not have"): (
        "optimizer made for a copy",
        "optimizer without the last bias",
    ),
    asked("finds a step that moves nothing"): (
        "gradients cleared before the step",
        "optimizer.step is missing, and a buffer counts the calls",
    ),
    asked("finds a learning rate that is too low or too high"): (
        "learning rate 0.00001",
        "learning rate 0.0000000001",
        "learning rate 0.00001, and small targets",
        "learning rate 1e-25, and biases that begin at 0",
        "learning rate 100",
        "a third of the loss is left after 100 steps",
        "a tenth is left after 99 and a half",
        "a tenth is left after 100 and a half",
        "the loss is near 0 after 50 steps, and large after 100",
    ),
    asked("does not suspect what is sound"): (
        "sound: two groups in Adam",
        "sound: the last layer begins at 0",
        "sound: the rows in another order each time",
    ),
}

# What a requirement's trials stand among, where that is not what ends soonest: a trial without a step.
_AMONG = {
    "sound": ["sound", *4 * ["optimizer.step is missing"]],
    "gradients cleared before the step": 3 * ["labels in another order each time"],
}


@exercise(
    tier="core",
    hints=(
        "Try the faults in the order of the docstring: each test takes a line or two.",
        "Each of `optimizer.param_groups` is a dict with a list of tensors under `params`. Compare them with the "
        "model's by `is` or `id`: `==` compares numbers.",
        "Clone the parameters before the step, and compare after it. And nan is not smaller than any number.",
    ),
    seconds=60.0,
    takes=1.0,
    spelled=lambda name, case: call_from_parts(name, f"<trial: {case.args[0]}>"),
)
def overfit_one_batch(draw: Draw) -> Iterator[Case]:
    """Find out why one batch cannot be learned."""
    for requirement, names in shown_by.items():
        # Among others, in an order that is drawn: who has not looked at a trial cannot tell.
        mixed = [*names, *(names if len(names) < 2 else ()), *_AMONG.get(names[0], 3 * ["optimizer.step is missing"])]
        order = [mixed.pop(draw.whole(0, len(mixed) - 1)) for _ in list(mixed)]
        for trial in order:
            yield requirement(trial, draw.whole(0, 9999))
