"""`make_agnostic`: the bug hunt: five parts of a program, each run on the CPU and on the meta device."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from autograder.diagnosis.difference_messages import tensor_placeholder
from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    make_probe_recording_exceptions,
    snapshot_value,
    snapshot_without_requires_grad,
)
from autograder.exercises.probes.devices import observe_module_on_meta, patch_reads_to_zero, record_value_reads
from autograder.exercises.probes.random_results import temporarily_seeded
from autograder.exercises.probes.training_steps import record_after_each_step
from autograder.exercises.seeded_draw import Draw

from .._ch05_models import eighths, fill, made


def _headed(width: int, classes: int) -> nn.Module:
    """A model with a body and a head, as `start` and `epoch` take it."""
    layers = {"body": nn.Linear(width, 4), "relu": nn.ReLU(), "head": nn.Linear(4, classes)}
    return nn.Sequential(OrderedDict(layers))


# --- what each of the five does


def _places(add_places: Any, x: Tensor) -> Observation:
    fresh = snapshot_value(add_places(x.shape[-1])(x.clone()).detach())
    return {"fresh": fresh} | _module(add_places(x.shape[-1]), x)


def _module(module: nn.Module, x: Tensor) -> Observation:
    """What a module does here, and within a larger one elsewhere; and the gradients of the sum of what comes out."""
    given = fill(module)(x.clone())
    if given.requires_grad:
        given.sum().backward()
    slopes = [snapshot_value(param.grad) for param in module.parameters() if param.requires_grad]
    return _moved(module, x) | {"slopes": slopes}


def _moved(module: nn.Module, x: Tensor) -> Observation:
    """What a module does within a larger one, here and elsewhere; the tensors that stay behind as words."""
    seen = observe_module_on_meta(nn.Sequential(module), x)
    stayed = ", ".join(f"one of shape {shape}" for shape in seen["left_behind"])
    return seen | {"left_behind": f"tensors left behind: {stayed or 'none'}"}


def _start(start: Any, x: Tensor, classes: int) -> Observation:
    """What start leaves of a model with a frozen weight, each thing here and elsewhere."""
    models = {where: _headed(x.shape[-1], 9) for where in ("cpu", "meta")}
    for model in models.values():
        model.get_parameter("body.weight").requires_grad_(False)
    left = {where: _started(start, model, classes, where) for where, model in models.items()}
    return {facet: {where: seen[facet] for where, seen in left.items()} for facet in left["cpu"]}


def _started(start: Any, model: Any, classes: int, where: str) -> dict[str, Plain]:
    optimizer = start(model, classes, where)
    groups: list[Any] = [{"lr": 0.0, "params": []}]
    if isinstance(optimizer, torch.optim.Optimizer):
        groups = optimizer.param_groups
    held = [param for group in groups for param in group["params"]]
    return {
        "kind": type(optimizer).__name__,
        "rate": float(groups[0]["lr"]),
        "holds": _named(held, model),
        "left": sorted(name for name, param in model.named_parameters() if param.device.type != where),
        "classes": model.head.out_features,
    }


def _named(held: list[Any], model: nn.Module) -> str:
    """The parameters that an optimizer holds, by their names in the order of the model; behind them all others."""
    names = {id(param): name for name, param in model.named_parameters()}
    mine = [name for key, name in names.items() if key in {*map(id, held)}]
    shapes = sorted(str(tuple(param.shape)) for param in held if id(param) not in names)
    return ", ".join([*mine, *(f"one of shape {shape} that is not in the model" for shape in shapes)])


def _trained(epoch: Any, x: Tensor, labels: Tensor, size: int) -> Observation:
    """Batches that wait on the CPU train a model elsewhere, and one here; a call for a value does not fail."""
    model, optimizer = _model(x, "cpu")
    epoch(model, optimizer, _batches(x, labels, size), "cpu")
    elsewhere, other = _model(x, "meta")
    steps = record_after_each_step(other)
    with patch_reads_to_zero(epoch):
        epoch(elsewhere, other, _batches(x, labels, size), "meta")
    return {
        "held": [snapshot_without_requires_grad(param) for param in model.parameters()],
        "steps_elsewhere": len(steps),
    }


def _epoch_loss(epoch: Any, x: Tensor, labels: Tensor, size: int) -> Observation:
    """What comes back, here and elsewhere, from batches that are there already; and how often a value was asked for."""
    with record_value_reads(epoch) as asked:
        here = epoch(*_model(x, "cpu"), _batches(x, labels, size), "cpu")
    seen: Observation = {"waits": f"values asked for: {len(asked)}", "here": snapshot_value(here), "elsewhere": None}
    if not asked:
        seen["elsewhere"] = snapshot_value(
            epoch(*_model(x, "meta"), _batches(x.to("meta"), labels.to("meta"), size), "meta")
        )
    return seen


def _model(x: Tensor, device: str) -> tuple[nn.Module, torch.optim.Optimizer]:
    model = made(lambda: _headed(x.shape[-1], 3)).to(device)
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)


def _batches(x: Tensor, labels: Tensor, size: int) -> list[tuple[Tensor, Tensor]]:
    return list(zip(x.split(size), labels.split(size), strict=True))


def part(name: str, look: Callable[..., Observation]) -> Probe:
    """What one part does, by its name in the dict that the answer returns; its first weights are the same each time."""

    def run(answer: Answer, case: Case) -> Observation:
        made_by_answer = answer()[name]
        with temporarily_seeded(11):
            return look(made_by_answer, *copy_case_data(case.args))

    return make_probe_recording_exceptions(run)


# --- what is asked of them


def _spelled(name: str, case: Case) -> str:
    """The part of the hunt that a requirement is about, and how it is called."""
    x, *rest = case.args
    width, given = x.shape[-1], tensor_placeholder("x", x)
    if case.requirement == places.sentence:
        return f"AddPlaces({width})({given})"
    if case.requirement == keep.sentence:
        return f"KeepColumns({width}, {rest[0]})({given})"
    if case.requirement == stack.sentence:
        return f"Stack({[width, *rest[0]]})({given})"
    if case.requirement == start.sentence:
        return f"start(<model>, {rest[0]}, device)"
    return f"epoch(<model>, <SGD>, <batches of {rest[1]} of {len(x)} rows>, device)"


HERE = {
    "here": "On the CPU, what comes out is not what it should be.",
    "elsewhere": "On the meta device, what comes out is not what it should be.",
}
_PLACES = "On the CPU, row i of each sequence, counted from 0, is to have i times the vector added to it."
MODULE = HERE | {
    "slopes": "The gradients that arrive at what the module learns are not right, or none arrives.",
    "learned": "The count of numbers that are learned is not what it should be.",
    "left_behind": "After `.to`, these tensors of the module are still where they were.",
    "input_kept": "The module changes the tensor that it is given.",
}
places = Requirement(
    "AddPlaces makes its numbers where x is",
    part("places", _places),
    MODULE
    | {
        "fresh": f"{_PLACES} In a new module the vector is all ones.",
        "here": _PLACES,
        "learned": "Learned in AddPlaces is the slope, a number for each column, and nothing else.",
    },
)
keep = Requirement(
    "the mask of KeepColumns moves along, and is not learned",
    part("keep", lambda made, x, columns: _moved(fill(made(x.shape[-1], columns)), x)),
    MODULE
    | {
        "here": "On the CPU, the given columns of x come out as they are, and 0 in all others.",
        "learned": "In KeepColumns nothing is learned.",
    },
)
stack = Requirement(
    "all layers of Stack move, and are learned",
    part("stack", lambda made, x, sizes: _module(made([x.shape[-1], *sizes]), x)),
    MODULE
    | {
        "here": "On the CPU, what comes out is not what the layers make of x, one after another, with nothing between.",
        "learned": "Learned in Stack are the weights and biases of all its layers, and nothing else.",
    },
)
start = Requirement(
    "start gives the optimizer the parameters of the model as it then is",
    part("start", _start),
    {
        "kind": "What start returns is not an SGD optimizer.",
        "rate": "The optimizer that start returns has not the learning rate that stood there.",
        "holds": "The optimizer is to hold the parameters that the model has in the end: each of them, a "
        "frozen one too, and no other.",
        "left": "After start, these parameters of the model are not on the device.",
        "classes": "After start, the model has not a last layer for so many classes.",
    },
)
batches = Requirement(
    "epoch moves its batches",
    part("epoch", _trained),
    {
        "held": "After the epoch, the parameters are not those of a step for each batch, along the gradient of its "
        "loss alone.",
        "steps_elsewhere": "On the meta device, the optimizer is to step once for each batch.",
    },
)
loss = Requirement(
    "epoch waits for no value, and returns the mean loss as a tensor without a graph",
    part("epoch", _epoch_loss),
    HERE
    | {
        "elsewhere": "On the meta device, what comes back is not a tensor of shape () on that device.",
        "here": "What comes back on the CPU is not the mean of the losses, as a float32 tensor of shape (), without "
        "a graph.",
        "here:requires_grad": "What comes back on the CPU has a graph: as long as it is kept, so are those of all "
        "batches.",
        "waits": "A value is asked for within epoch: a GPU would have to be waited for.",
    },
)


@exercise(
    tier="core",
    independent=True,
    hints=(
        "Ask of each tensor: which line makes it, on which device, and does `.to` of its module move it? `.to` moves "
        "parameters and buffers only.",
        "`nn.ModuleList` and `register_buffer` tell a module what it holds. `device=x.device` makes a tensor where "
        "the input is.",
        "An optimizer holds the parameters that it was given: replace the layer and move the model first. `.item()` "
        "waits for the device: add up tensors.",
    ),
    spelled=_spelled,
)
def make_agnostic(draw: Draw) -> Iterator[Case]:
    """Mend five parts that only work on the CPU."""
    n, d = draw.sizes(2, 4, 7)
    for length in draw.sizes(2, 2, 6):
        yield places(eighths(draw, 2, length, d))
    yield places(eighths(draw, 1, draw.whole(1030, 1100), 2))  # longer than tables of places that are made beforehand
    yield keep(eighths(draw, n, d), sorted(draw.sizes(2, 0, 3)))
    yield keep(eighths(draw, 2, n, d), [draw.whole(0, 3)])
    yield stack(eighths(draw, n, d), list(draw.sizes(3, 2, 5)))
    yield stack(eighths(draw, n, d), [draw.whole(2, 5)])
    yield start(eighths(draw, n, d), draw.whole(10, 99))
    for requirement in (batches, loss):
        for rows, size in ((5, 2), (7, 4)):  # few steps; the last batch has one row, or more than there are batches
            yield requirement(eighths(draw, rows, d), draw.ints(0, 3, rows), size)
