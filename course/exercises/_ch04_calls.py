"""How a report spells the calls of chapter 4: models, optimizers, loaders and trials stand in brackets, by name."""

from __future__ import annotations

from autograder.judging.words import argument, sized
from autograder.watching.exercise import Case


def stepping(name: str, case: Case) -> str:
    """One step of training, with a model, an optimizer and a batch."""
    model, optimizer, x, y = case.args
    return f"{name}(<{model}>, <{optimizer}>, criterion, {sized('x_batch', x)}, {sized('y_batch', y)})"


def evaluating(name: str, case: Case) -> str:
    """One round of evaluation, with a model and a loader."""
    model, x, _, size = case.args
    return f"{name}(<{model}>, <loader: {len(x)} samples, batches of {size}>, criterion)"


def examining(name: str, case: Case) -> str:
    """A trial by name."""
    return f"{name}(<trial: {case.args[0]}>)"


def looping(name: str, case: Case) -> str:
    """One of the loops, out of the dict that the answer returns."""
    letter, x, y, steps = case.args
    return f'{name}()["{letter}"](model, {sized("x", x)}, {sized("y", y)}, {steps})'


def fitting(name: str, case: Case) -> str:
    """A training of the model that is given, or of a new one; without settings, one of no steps."""
    given = ["<SinMLP with given weights>"] if isinstance(case.args[0], list) else []
    settings = [f"{key}={argument(value)}" for key, value in (case.kwargs or {"steps": 0}).items()]
    return f"{name}({', '.join(given + settings)})"


def optimizing(name: str, case: Case) -> str:
    """An optimizer of some tensors, and how many steps follow."""
    tensors, steps = case.args
    settings = "".join(f", {key}={argument(value)}" for key, value in case.kwargs.items())
    held = "generator" if "generator" in case.requirement else "list"
    return f"{name}(<{held} of {len(tensors)} tensors>{settings}), then {_times('step()', len(steps))}"


def clipping(name: str, case: Case) -> str:
    """Gradients, as the list that is clipped."""
    grads, most = case.args
    return f"{name}(<tensors with .grad {argument(grads)}>, {argument(most)})"


def resuming(name: str, case: Case) -> str:
    """A training to some epochs, or one that is stopped and gone on with."""
    model, optimizer, factor, order, x, _, stop, epochs = case.args
    scheduler = f"<scheduler: times {factor} each epoch>"
    parts = f"<{model}>, <{optimizer}>, {scheduler}, <loader: {len(x)} samples, {order}>"
    if case.requirement.startswith("trains"):
        return f"{name}({parts}, {epochs})"
    return f"{name}({parts}, {stop}), then {name}(..., {epochs}, checkpoint)"


def _times(what: str, count: int) -> str:
    return what if count == 1 else f"{what} {count} times"
