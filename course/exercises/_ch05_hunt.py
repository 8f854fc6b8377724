"""The probes of chapter 5's bug hunt: five parts of a program, each run on the CPU and on the meta device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from autograder.watching.exercise import Case
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import attempt, copy_of, see

from ._ch05_models import Answer, Waits, fill


class Headed(nn.Module):
    """A model with a body and a head, as `start` and `epoch` take it; it notes the devices of its inputs."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.body = nn.Linear(width, 4)
        self.head = nn.Linear(4, classes)

    def forward(self, x: Tensor) -> Tensor:
        """(n, width) to (n, classes)."""
        logits: Tensor = self.head(torch.relu(self.body(x)))
        return logits


def part(name: str) -> Callable[[Answer, Case], Observation]:
    """The probe of one part, by its name in the dict that the answer returns."""
    return lambda answer, case: attempt(lambda: _look(name, answer(), copy_of(case.args)))


def _look(name: str, parts: dict[str, Any], given: tuple[Any, ...]) -> Observation:
    """What one part does; the first weights that it draws are the same each time."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        return _LOOKS[name](parts[name.split(":")[0]], *given)


# --- the three modules


def _places(made: Any, x: Tensor) -> Observation:
    return {"fresh": see(made(x.shape[-1])(x.clone()).detach())} | _module(made(x.shape[-1]), x)


def _keep(made: Any, x: Tensor, columns: list[int]) -> Observation:
    return _module(made(x.shape[-1], columns), x)


def _stack(made: Any, x: Tensor, sizes: list[int]) -> Observation:
    return _module(made([x.shape[-1], *sizes]), x)


def _module(module: Any, x: Tensor) -> Observation:
    """What is learned, what comes out here, what comes out on the meta device, and what did not move."""
    fill(module)
    seen: Observation = {"learned": sum(p.numel() for p in module.parameters() if p.requires_grad)}
    given = x.clone()
    seen["here"] = see(module(given).detach())
    seen["input_kept"] = torch.equal(given, x)
    module.to("meta")
    tensors = [*module.parameters(), *module.buffers()]
    tensors += [value for inner in module.modules() for value in vars(inner).values() if isinstance(value, Tensor)]
    seen["left_behind"] = [tuple(t.shape) for t in tensors if t.device.type != "meta"]
    seen["elsewhere"] = see(module(x.to("meta")).detach())
    return seen


# --- start


def _start(start: Any, x: Tensor, classes: int) -> Observation:
    return {where: _started(start, x.shape[-1], classes, where) for where in ("cpu", "meta")}


def _started(start: Any, width: int, classes: int, where: str) -> Plain:
    model = Headed(width, 9)
    optimizer = start(model, classes, where)
    names = {id(param): name for name, param in model.named_parameters()}
    held = [param for group in optimizer.param_groups for param in group["params"]]
    return {
        "kind": type(optimizer).__name__,
        "rate": float(optimizer.param_groups[0]["lr"]),
        "holds": sorted(names.get(id(p), f"another one, of shape {tuple(p.shape)}") for p in held),
        "model_on": sorted({param.device.type for param in model.parameters()}),
        "classes": model.head.out_features,
    }


# --- epoch


@contextmanager
def _any_value() -> Iterator[None]:
    """Let each tensor give a value, also where it has none: what waits for values is another requirement."""
    with ExitStack() as stack:
        for method in ("item", "__float__"):
            stack.enter_context(patch.object(Tensor, method, lambda self: 0.0))
        yield


def _model(x: Tensor, device: str) -> tuple[nn.Module, torch.optim.Optimizer]:
    model = Headed(x.shape[-1], 3)
    fill(model)
    model.to(device)
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)


def _batches(x: Tensor, labels: Tensor, size: int) -> list[tuple[Tensor, Tensor]]:
    return list(zip(x.split(size), labels.split(size), strict=True))


def _trained(epoch: Any, x: Tensor, labels: Tensor, size: int) -> Observation:
    """Batches that wait on the CPU train a model elsewhere, and one here; a call for a value does not fail."""
    model, optimizer = _model(x, "cpu")
    epoch(model, optimizer, _batches(x, labels, size), "cpu")
    elsewhere, other = _model(x, "meta")
    steps: list[None] = []
    other.register_step_post_hook(lambda *_: steps.append(None))
    with _any_value():
        epoch(elsewhere, other, _batches(x, labels, size), "meta")
    return {"held": [see(param.detach()) for param in model.parameters()], "steps_elsewhere": len(steps)}


def _epoch_loss(epoch: Any, x: Tensor, labels: Tensor, size: int) -> Observation:
    """What comes back, here and elsewhere, from batches that are there already; and how often a value was asked for."""
    with Waits() as waits:
        here = epoch(*_model(x, "cpu"), _batches(x, labels, size), "cpu")
    if waits.count:
        return {"waits": waits.count, "here": see(here), "elsewhere": None}
    elsewhere = epoch(*_model(x, "meta"), _batches(x.to("meta"), labels.to("meta"), size), "meta")
    return {"waits": 0, "here": see(here), "elsewhere": see(elsewhere)}


_LOOKS: dict[str, Callable[..., Observation]] = {
    "places": _places,
    "keep": _keep,
    "stack": _stack,
    "start": _start,
    "epoch: batches": _trained,
    "epoch: loss": _epoch_loss,
}


# --- is one of them mended?


def any_mended(answer: Answer, case: Case) -> Observation:
    """Whether one of the five at least does what it should elsewhere too: the starter's do not."""

    def look() -> Observation:
        parts = answer()
        x, labels, size = copy_of(case.args)
        given: dict[str, tuple[Any, ...]] = {"keep": (x, [0]), "stack": (x, [4, 3]), "start": (x, 3)}
        given |= {"places": (x[None],), "epoch: batches": (x, labels, size), "epoch: loss": (x, labels, size)}
        return {"names": sorted(parts), "mended": any(_works(name, parts, given[name]) for name in given)}

    return attempt(look)


_NAMES = ["body.bias", "body.weight", "head.bias", "head.weight"]


def _works(name: str, parts: dict[str, Any], given: tuple[Any, ...]) -> bool:
    seen = attempt(lambda: _look(name, parts, given))
    if "raised" in seen or seen.get("left_behind") or seen.get("waits"):
        return False
    return name != "start" or all(where["holds"] == _NAMES for where in seen.values())
