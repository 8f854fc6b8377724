"""Probes of one training step, of an evaluation and of optimizer steps, and hooks that record a model's calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.optim.optimizer import Optimizer, register_optimizer_step_pre_hook
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset

from autograder.exercises.exercise import Case, Probe
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    make_probe_recording_exceptions,
    names_of_changed_values,
    snapshot_value,
    snapshot_with_int_as_float,
    snapshot_without_requires_grad,
)
from autograder.exercises.probes.functions_that_take_modules import tensor_values
from autograder.exercises.probes.random_results import temporarily_seeded
from autograder.exercises.probes.training_fixtures import optimizer_by_name, row_model
from autograder.exercises.representation_mismatch import are_rounded

# --- recording a model's calls, gradients and steps


def record_at_each_call(model: nn.Module, look: Callable[[Any, Any], Any] = lambda inputs, output: None) -> list[Any]:
    """Return a list to which `look(inputs, output)` is appended at each call of the model from now on."""
    notes: list[Any] = []
    model.register_forward_hook(lambda _, inputs, output: notes.append(look(inputs, output)))
    return notes


def record_at_each_gradient(model: nn.Module, look: Callable[[], Any] = lambda: None) -> list[Any]:
    """Return a list to which `look()` is appended each time that a gradient reaches one of the model's parameters."""
    notes: list[Any] = []
    for param in model.parameters():
        param.register_hook(lambda _: notes.append(look()))
    return notes


def record_after_each_step(optimizer: Optimizer, look: Callable[[], Any] = lambda: None) -> list[Any]:
    """Return a list to which `look()` is appended after each step of an optimizer from now on."""
    notes: list[Any] = []
    optimizer.register_step_post_hook(lambda *_: notes.append(look()))
    return notes


@contextmanager
def record_before_each_step(look: Callable[[Optimizer], Any]) -> Iterator[list[Any]]:
    """Yield a list to which `look(optimizer)` is appended before each step of any optimizer in the block."""
    notes: list[Any] = []
    handle = register_optimizer_step_pre_hook(lambda optimizer, *_: notes.append(look(optimizer)))
    try:
        yield notes
    finally:
        handle.remove()


def model_values(model: nn.Module) -> dict[str, Plain]:
    """Return the values of all parameters and buffers, by name."""
    return tensor_values(model.state_dict())


def grads_of(model: nn.Module) -> dict[str, Plain]:
    """Return the `.grad` of each parameter, by name."""
    return {name: snapshot_value(param.grad) for name, param in model.named_parameters()}


def fill_gradients(model: nn.Module, number: float) -> None:
    """Fill the `.grad` of each parameter with a number, as an earlier backward would leave one."""
    for param in model.parameters():
        param.grad = torch.full_like(param, number)


def _in_training(model: nn.Module) -> str:
    """Return the names of the submodules in train mode as one text, all of which a message about a difference shows."""
    names = [name or "the model itself" for name, module in model.named_modules() if module.training]
    return ", ".join(names) or "none"


# --- one step


def make_training_step_probe(*kept: str, warm: bool = False) -> Probe:
    """Make a probe of one training step: `answer(model, optimizer, criterion, x, y)`.

    With `warm`, two earlier steps on other data leave gradients and an optimizer state. A case gives the names of a
    model and an optimizer, inputs, and targets. Facets: `held` (parameters and buffers), `grads`, `arrived` (whether
    any gradient reached the model), `returned` and whether it is `rounded`, `modes` (the modules in train mode),
    `forwards` (the number of calls of the model), `criterion` (which arguments each call of the criterion got) and
    `spread` (whether the criterion's arguments broadcast to more numbers than either has). If kept, `later` is `held`
    after a second call with another batch.
    """

    def look(answer: Answer, case: Case) -> Observation:
        name, kind, x, y = copy_case_data(case.args)
        model = row_model(name, x.shape[1]).to(x.dtype)
        optimizer = optimizer_by_name(kind, model.parameters(), 0.1)
        criterion, asked, spread = _noting_criterion(y)
        with temporarily_seeded(3):
            if warm:
                _warm_up(model, optimizer, x + 1.0, y)
            calls, arrived = record_at_each_call(model), record_at_each_gradient(model)
            result = answer(model, optimizer, criterion, x, y)
        seen: Observation = {"held": model_values(model), "grads": grads_of(model), "returned": snapshot_value(result)}
        seen |= {"modes": _in_training(model), "forwards": len(calls)}
        seen |= {
            "rounded": are_rounded([result]),
            "criterion": list(asked),
            "arrived": bool(arrived),
            "spread": any(spread),
        }
        if "later" in kept:
            answer(model, optimizer, criterion, x - 1.0, y)
            seen["later"] = model_values(model)
        return seen

    return make_probe_recording_exceptions(look, *kept)


def _noting_criterion(y: Tensor) -> tuple[Callable[[Tensor, Tensor], Tensor], list[tuple[str, ...]], list[bool]]:
    """Return a mean squared error, and two lists that record each call of it.

    The first list describes the arguments, the second says whether their shapes broadcast.
    """
    asked: list[tuple[str, ...]] = []
    spread: list[bool] = []

    def criterion(prediction: Tensor, target: Tensor) -> Tensor:
        asked.append(tuple(_argument_of_criterion(arg, y) for arg in (prediction, target)))
        squares = (prediction - target) ** 2
        spread.append(squares.numel() > max(prediction.numel(), target.numel()))
        return squares.mean()

    return criterion, asked, spread


BROADCAST_LOSS_MESSAGES = {
    "spread": "You give the criterion a prediction and a target whose shapes differ, such as (n,) and (n, 1): "
    "torch then broadcasts them, and compares the prediction of each row with the targets of all rows."
}
GRADIENTS_NOT_CLEARED_MESSAGES = {
    "later": "Called a second time, with another batch, your step does not lead where it should: what the first "
    "call left in .grad must go, too."
}


def _argument_of_criterion(arg: Tensor, y: Tensor) -> str:
    if arg.numel() != y.numel() or not bool((arg.flatten() == y.flatten()).all()):
        return "prediction"
    return "y_batch" if arg.shape == y.shape else "y_batch in another shape"


def _warm_up(model: nn.Module, optimizer: Optimizer, x: Tensor, y: Tensor) -> None:
    """Take two steps on other data, which leave gradients and the optimizer's momentum behind."""
    for shift in (0.0, 2.0):
        optimizer.zero_grad()
        ((model(x) - y - shift) ** 2).mean().backward()
        optimizer.step()


# --- evaluation


def make_evaluation_probe(*kept: str, loader: Literal["whole", "sampled"] = "whole") -> Probe:
    """Make a probe of one evaluation: `answer(model, loader, criterion)`.

    With `loader="whole"`, the answer gets a DataLoader of a whole dataset, whose last batch may be smaller. With
    "sampled", it is called twice: with a list of these batches, and with a DataLoader whose sampler takes every other
    row.

    A case gives the name of a model, inputs, labels, and the batch size. Facets: `returned` (the numbers, whatever
    their types), `types`, `modes` (the modules in train mode afterwards), `tracked` (whether the model's output or the
    criterion's input required grad) and `left` (which of parameters, buffers, gradients, `requires_grad` and torch's
    grad mode changed).
    """

    def look(answer: Answer, case: Case) -> Observation:
        name, x, labels, batch_size = copy_case_data(case.args)
        model = row_model(name, x.shape[1], outputs=3)
        fill_gradients(model, 7.0)
        next(model.parameters()).requires_grad_(False)  # and is to stay frozen
        before = _contents(model)
        tracked: list[bool] = []
        model.register_forward_hook(lambda _, inputs, logits: tracked.append(logits.requires_grad))

        def criterion(logits: Tensor, labels: Tensor) -> Tensor:
            tracked.append(logits.requires_grad)
            return cross_entropy(logits, labels, label_smoothing=0.2)  # who uses a loss of their own has another

        with temporarily_seeded(3):
            results = [answer(model, batches, criterion) for batches in _loaders(loader, x, labels, batch_size)]
        result = results[0] if len(results) == 1 else results
        seen: Observation = {"returned": _of_each(result, _number), "modes": _in_training(model)}
        seen |= {"types": _of_each(result, lambda value: type(value).__name__), "tracked": any(tracked)}
        return seen | {"left": names_of_changed_values(before, _contents(model))}

    return make_probe_recording_exceptions(look, *kept)


def _contents(model: nn.Module) -> dict[str, Plain]:
    flags = {name: parameter.requires_grad for name, parameter in model.named_parameters()}
    seen = {"parameters or buffers": model_values(model), "gradients": grads_of(model), "requires_grad": flags}
    return seen | {"torch.is_grad_enabled()": torch.is_grad_enabled()}


def _loaders(kind: str, x: Tensor, labels: Tensor, batch_size: int) -> list[Any]:
    whole = DataLoader(TensorDataset(x, labels), batch_size=batch_size)
    if kind == "whole":
        return [whole]
    # With this seed, the first batch differs in each pass through the loader.
    part = SubsetRandomSampler(range(0, len(x), 2), torch.Generator().manual_seed(10))
    return [list(whole), DataLoader(whole.dataset, batch_size=batch_size, sampler=part)]


def _of_each(result: object, look: Callable[[Any], Plain]) -> Plain:
    """Apply a function to each value of a dict, or of each dict in a list; return other values as plain data."""
    if isinstance(result, list):
        return [_of_each(one, look) for one in result]
    if not isinstance(result, dict):
        return snapshot_value(result)
    return {str(key): look(value) for key, value in sorted(result.items(), key=str)}


def _number(value: Any) -> Plain:
    """Return a number, or a tensor with one element, as a float; any other value as plain data."""
    return snapshot_with_int_as_float(value.item() if isinstance(value, Tensor) and value.numel() == 1 else value)


# --- the student's own optimizer


def make_optimizer_steps_probe(*kept: str, generator: bool = False) -> Probe:
    """Make a probe of an optimizer class: `answer(params, **settings)` and steps with given gradients.

    A case gives the tensors, and their gradients for each step. With `generator`, `params` is a generator. Facets:
    `path` and `grads` (the tensors, and their `.grad`, after each step), `in_place` (whether the steps changed the
    tensors in place) and, if kept, `cleared` (whether `zero_grad` sets each `.grad` to None) and `later` (the tensors
    after one more step).
    """

    def look(answer: Answer, case: Case) -> Observation:
        tensors, steps = copy_case_data(case.args)
        # One without a gradient in the first step is frozen until then.
        params = [tensor.requires_grad_(grad is not None) for tensor, grad in zip(tensors, steps[0], strict=True)]
        views = [tensor.detach() for tensor in tensors]
        for param, grad in zip(params, copy_case_data(steps[0]), strict=True):
            param.grad = grad  # as a backward before would leave it
        optimizer = answer((p for p in params) if generator else params, **case.kwargs)
        [param.requires_grad_() for param in params]
        seen: Observation = {"path": [], "grads": []}
        for grads in steps:
            seen["path"].append(_step(optimizer, params, grads))
            seen["grads"].append([snapshot_value(p.grad) for p in params])
        seen["in_place"] = all(map(torch.equal, params, views))
        if "cleared" in kept:
            optimizer.zero_grad()
            seen["cleared"] = [p.grad is None for p in params]
            seen["later"] = _step(optimizer, params, copy_case_data(case.args[1][-1]))
        return seen

    return make_probe_recording_exceptions(look, *kept)


def make_two_optimizers_probe(*, generator: bool = False) -> Probe:
    """Make a probe of two optimizers that step in turn, and of a third on the tensors of the first: facet `path`.

    It reveals state that the instances of the class share, because the tensors of the second are half as large, and
    what the first one remembers of its tensors.
    """

    def look(answer: Answer, case: Case) -> Observation:
        tensors, steps = copy_case_data(case.args)
        both = [tensors, [(0.5 * tensor).detach() for tensor in tensors]]
        held = [[tensor.requires_grad_() for tensor in params] for params in both]
        made = [answer(iter(params) if generator else params, **case.kwargs) for params in held]
        pairs = list(zip(made, held, strict=True))
        path: list[Plain] = [[_step(*pair, copy_case_data(grads)) for pair in pairs] for grads in steps]
        later = answer(iter(held[0]) if generator else held[0], **case.kwargs)
        return {"path": [*path, [_step(later, held[0], copy_case_data(steps[0]))]]}

    return make_probe_recording_exceptions(look)


def _step(optimizer: Any, params: list[Tensor], grads: list[Tensor | None]) -> Plain:
    for param, grad in zip(params, grads, strict=True):
        if param.grad is None or grad is None:
            param.grad = grad
        else:
            param.grad.copy_(grad)  # the same `.grad` tensor in every step, as torch has it
    optimizer.step()
    return [snapshot_without_requires_grad(param) for param in params]
