"""The probes of chapter 5 for devices: choosing one, moving to it, and a step of training there.

The meta device stands in for an accelerator: a tensor on it has a shape and a dtype, and refuses to meet the CPU.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import attempt, changed_inputs, copy_of, see

from ._ch05_models import Answer, Waits, grads_of, held_by, model_of, optimizer_of

# --- choosing a device

_ASKED = ((torch.cuda, "cuda"), (torch.backends.mps, "mps"))


@contextmanager
def _there(devices: str) -> Iterator[None]:
    """Make torch say which accelerators there are."""
    with ExitStack() as stack:
        for module, name in _ASKED:
            stack.enter_context(patch.object(module, "is_available", lambda name=name: name in devices))
        yield


def picked(answer: Answer, case: Case) -> Observation:
    """What is chosen with these accelerators there, one situation after another."""

    def look() -> Observation:
        prefer, situations = case.args
        chosen = []
        for devices in situations:
            with _there(devices):
                chosen.append(_first_of_kind(answer() if prefer is None else answer(prefer), prefer))
        return {"returned": chosen}

    return attempt(look)


def _first_of_kind(device: object, prefer: str | None) -> Plain:
    """`cuda:0` is `cuda` where no number was asked for."""
    if isinstance(device, torch.device) and prefer is None and device.index == 0:
        return torch.device(device.type)
    return see(device)


# --- moving to a device

Point = namedtuple("Point", "place label")  # a named tuple as students meet it
ANYTHING = range(3)  # neither tensor nor container of tensors
STRUCTURES: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "a tensor": lambda x, y: x,
    "[x, y]": lambda x, y: [x, y],
    "(x, y)": lambda x, y: (x, y),
    "(x,)": lambda x, y: (x,),
    "{'y': y, 'a': x}": lambda x, y: {"y": y, "a": x},
    "{2: x, 1: y}": lambda x, y: {2: x, 1: y},
    "[{'x': x}, (y, [x])]": lambda x, y: [{"x": x}, (y, [x])],
    "{'a': {'b': {'c': [x, (y,)]}}}": lambda x, y: {"a": {"b": {"c": [x, (y,)]}}},
    "Point(place=x, label=y)": lambda x, y: Point(x, y),
    "[Point(place=[x], label=y)]": lambda x, y: [Point([x], y)],
    "[x, 'text', None, 3, range(3)]": lambda x, y: [x, "text", None, 3, ANYTHING],
    "{'x': x, 'name': 'ab', 'flag': True, 'rate': 0.5}": lambda x, y: {"x": x, "name": "ab", "flag": True, "rate": 0.5},
    "{'x': [], 'y': (), 'z': {}}": lambda x, y: {"x": [], "y": (), "z": {}},
    "range(3)": lambda x, y: ANYTHING,
}


def moved(*kept: str) -> Probe:
    """One call of `to_device`. Facets: `returned` (types and devices), `left` (obj as before), `new` (containers)."""

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        name, x, y, device = copy_of(case.args)
        obj = STRUCTURES[name](x, y)
        before, inside = tree(obj), _containers(obj)
        result = answer(obj, device)
        seen: Observation = {"returned": tree(result), "left": tree(obj) == before}
        seen["new"] = not {id(one) for one in inside} & {id(one) for one in _containers(result)}
        return {facet: seen[facet] for facet in kept}

    return probe


def tree(value: Any) -> Plain:
    """Types, keys and devices, item by item; a tensor is told with its dtype, its shape and what it holds."""
    if isinstance(value, Tensor):
        held = "" if value.device.type == "meta" else f" holding {value.tolist()}"
        return f"{value.dtype} tensor {tuple(value.shape)} on {value.device.type}{held}"
    if isinstance(value, dict):
        return {type(value).__name__: [[see(key), tree(item)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [tree(item) for item in value]}
    return "the very object that was given" if value is ANYTHING else see(value)


def _containers(value: Any) -> list[Any]:
    """The lists and dicts in an object; an empty tuple is one and the same everywhere."""
    if isinstance(value, dict):
        return [value, *(one for item in value.values() for one in _containers(item))]
    if isinstance(value, list | tuple):
        own = [value] if isinstance(value, list) else []
        return [*own, *(one for item in value for one in _containers(item))]
    return []


# --- a step of training


def one_step(*kept: str, warm: bool = False) -> Probe:
    """One call of `train_step_on` on the CPU.

    Facets: `held`, `grads`, `returned`, `waits` (how often a value was asked for), `forwards`, `criterion` (what it was
    called with, each time), `inputs` (which part of the batch changed).
    """

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        device, name, kind, x, y = copy_of(case.args)
        model = model_of(name, x.shape[1])
        optimizer = optimizer_of(kind, model.parameters(), 0.125)
        if warm:
            _warm_up(model, optimizer, x + 1.0, y)
        watch = _Watch(model)
        with Waits() as waits:
            result = answer(device, model, optimizer, watch.criterion, x, y)
        seen: Observation = {"held": held_by(model), "grads": grads_of(model), "returned": see(result)}
        seen |= {"waits": waits.count, "forwards": len(watch.inputs), "criterion": watch.order}
        seen["inputs"] = changed_inputs(case, (device, name, kind, x, y), {})
        return {facet: seen[facet] for facet in kept}

    return probe


def _warm_up(model: nn.Module, optimizer: torch.optim.Optimizer, x: Tensor, y: Tensor) -> None:
    """A step elsewhere: gradients and the optimizer's memory stay behind."""
    ((model(x) - y) ** 2).mean().backward()
    optimizer.step()


class _Watch:
    """A mean squared error that notes what it is called with, and a note of what the model is called with."""

    def __init__(self, model: nn.Module) -> None:
        self.inputs: list[str] = []
        self.devices: list[list[str]] = []
        self.order: list[list[str]] = []
        model.register_forward_pre_hook(self._note)

    def _note(self, _: nn.Module, args: tuple[Tensor, ...]) -> None:
        self.inputs.append(args[0].device.type)

    def criterion(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The mean of the squares, whichever comes first."""
        self.devices.append(sorted({prediction.device.type, target.device.type}))
        self.order.append(["prediction" if one.requires_grad else "target" for one in (prediction, target)])
        return ((prediction - target) ** 2).mean()


def step_elsewhere(answer: Answer, case: Case) -> Observation:
    """One step on the meta device: where model and criterion met the batch, whatever happened afterwards."""
    device, name, kind, there, x, y = copy_of(case.args)
    model = model_of(name, x.shape[1]).to(device)
    watch = _Watch(model)
    batch = [part.to("meta") if side in there else part for side, part in (("x", x), ("y", y))]

    def look() -> Observation:
        answer(device, model, optimizer_of(kind, model.parameters(), 0.125), watch.criterion, *batch)
        return {}

    failed = attempt(look)
    met: Observation = {"model_met": watch.inputs, "criterion_met": watch.devices}
    return met if watch.devices == [["meta"]] else met | failed


def no_value_needed(answer: Answer, case: Case) -> Observation:
    """How often a value is asked for; where it never is, what comes back on the meta device, which has none."""

    def look() -> Observation:
        name, kind, x, y = copy_of(case.args[1:])
        seen = one_step("waits")(answer, case)
        if seen.get("waits") == 0:
            model = model_of(name, x.shape[1]).to("meta")
            optimizer = optimizer_of(kind, model.parameters(), 0.125)
            result = answer("meta", model, optimizer, _Watch(model).criterion, x.to("meta"), y.to("meta"))
            seen["elsewhere"] = _on(result)
        return seen

    return attempt(look)


def _on(result: Any) -> Plain:
    return result.device.type if isinstance(result, Tensor) else see(result)
