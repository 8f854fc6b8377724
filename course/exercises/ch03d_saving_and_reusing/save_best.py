"""`save_best`: remember the best state of a module so far.

A case tells `best` by its loss; one that trains a step between saving and looking has the step's input instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf, nan
from typing import Any

from torch import Tensor, nn, zeros

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import Answer, names_of_changed_values, snapshot_value, snapshot_without_requires_grad
from autograder.exercises.probes.functions_that_take_modules import (
    make_sample_module_probe,
    module_state,
    tensor_values,
)
from autograder.exercises.probes.sample_modules import fill_with_known_numbers
from autograder.exercises.seeded_draw import Draw

from .._ch03_calls import on_module


def told(record: object) -> Plain:
    """A record of loss and state as plain data; a state may be any kind of mapping."""
    if not isinstance(record, dict) or not isinstance(record.get("state"), Mapping):
        return snapshot_value(record)
    rest = {str(key): snapshot_value(value) for key, value in record.items() if key != "state"}
    return rest | {"state": tensor_values(record["state"])}


def record_of(loss: float | None) -> dict[str, Any] | None:
    """What was the best so far."""
    return None if loss is None else {"loss": loss, "state": {"weight": zeros(1)}}


def in_words(result: object, old: object) -> str:
    """What came back, with loss and names if it is another record: its numbers tell nothing more."""
    if result is old:
        return "best itself"
    if not isinstance(result, dict) or not isinstance(result.get("state"), Mapping):
        return "None" if result is None else f"something of type {type(result).__name__}"
    loss = snapshot_value(result.get("loss"))
    number = loss if isinstance(loss, float) else f"of type {type(loss).__name__}"
    return f"another record, with loss {number} and a state of {', '.join(map(str, result['state']))}"


def saved_before_a_step(answer: Answer, module: nn.Module, x: Tensor) -> Any:
    """The record of a module, which then changes its parameters and buffers as training does: in place."""
    record = answer(module, None, 0.25)
    module.train()(x)
    fill_with_known_numbers(*module.parameters(), place=7)
    return record


@make_sample_module_probe
def new_record(answer: Answer, module: nn.Module, best: float | None, loss: float) -> Observation:
    """The record that is returned."""
    return {"returned": told(answer(module, record_of(best), loss))}


@make_sample_module_probe
def old_record(answer: Answer, module: nn.Module, best: float | None, loss: float) -> Observation:
    """Whether `best` itself comes back, as it was."""
    old = record_of(best)
    result = answer(module, old, loss)
    return {"best_itself": in_words(result, old), "best": told(old)}


@make_sample_module_probe
def both_left(answer: Answer, module: nn.Module, best: float | None, loss: float) -> Observation:
    """What about the module, and about `best`, is no longer as it was after a call with a lower loss.

    `best` is once a record of ours, and once what the answer returned before the module took a step.
    """
    before = module_state(module)
    own = answer(module, None, best)
    left = names_of_changed_values(before, module_state(module))
    fill_with_known_numbers(*module.parameters(), place=7)
    kept = []
    for old in (own, record_of(best)):
        before, was = module_state(module), told(old)
        answer(module, old, loss)
        left += names_of_changed_values(before, module_state(module))
        kept.append(not names_of_changed_values({"best": was}, {"best": told(old)}))
    return {"left": sorted(set(left)), "best": kept}


@make_sample_module_probe
def kept(answer: Answer, module: nn.Module, x: Tensor) -> Observation:
    """What a snapshot holds after the module has changed, and which of its tensors keep a graph."""
    record = saved_before_a_step(answer, module, x)
    state = record["state"] if isinstance(record, dict) else None
    tracked = [name for name, tensor in state.items() if tensor.requires_grad] if isinstance(state, Mapping) else []
    return {"snapshot": told(record), "tracked": tracked}


@make_sample_module_probe
def restored(answer: Answer, module: nn.Module, x: Tensor) -> Observation:
    """What the module computes when it has changed and loaded the snapshot."""
    module.load_state_dict(saved_before_a_step(answer, module, x)["state"])
    return {"restored": snapshot_without_requires_grad(module.eval()(x))}


BEST = {"best": "`best` is no longer as it was."}

basic = Requirement(
    "saves the first loss, with the state",
    new_record,
    {
        "returned": "At the first call, with best=None, any loss is saved, and with it a copy of every tensor in "
        "state_dict(), under its name. What you return is not that."
    },
)
lower = Requirement(
    "takes a lower loss",
    new_record,
    {
        "returned": "The loss is lower than that of `best`, and you do not return a record of this loss and state. "
        "A loss may lie below 0, or be lower by very little."
    },
)
keeps = Requirement(
    "returns best itself, as it was, when the loss is not lower",
    old_record,
    {
        "best_itself": "The loss is not lower, but what you return is not `best` itself, but a copy, another record, "
        "or nothing.",
        **BEST,
    },
)
snapshot = Requirement(
    "keeps a snapshot that does not follow the module",
    kept,
    {
        "snapshot": "When the module changed afterwards, the snapshot changed as well.",
        "tracked": "These tensors of your snapshot require grad: each keeps a graph, which leads back to the module. "
        "Those of state_dict() do not.",
    },
)
back = Requirement(
    "brings the module back, buffers too",
    restored,
    {"restored": "The module has loaded the snapshot, but computes something else than before."},
)
both = Requirement(
    "changes neither the module nor best",
    both_left,
    {
        "left": "These things about the module are not as they were before your call.",
        "best": "Your call changes `best`, a record from before: its loss, its state, or a number in there.",
    },
)


def spelled(name: str, case: Case) -> str:
    """A record is told by its loss; a case that has none begins with a first loss."""
    *named, best, loss = case.args
    if isinstance(loss, Tensor):
        return on_module(name, Case("", *named, best, None, 0.25))
    call = on_module(name, Case("", *named, None, loss))
    return call if best is None else call.replace("None", f"<a record with loss {best}>")


@exercise(
    tier="core",
    hints=(
        "`state_dict()` holds the module's own tensors, not copies. What happens to them at the next step?",
        "Clone each tensor into a new dict. `best` may be None: look at that before its loss.",
    ),
    spelled=spelled,
)
def save_best(draw: Draw) -> Iterator[Case]:
    """Remember the best state."""
    a, b, c, n = draw.sizes(4, 2, 6)
    low, high = round(draw.real(0.1, 0.4), 3), round(draw.real(0.6, 0.9), 3)
    yield basic("a linear layer", 2, 1, None, 0.5)
    yield basic("a linear layer", a, b, None, high)
    yield basic("layers with batch norm", a, b, c, None, 0.0)
    yield basic("odd parts and a head", a, b, None, low)
    yield basic("a linear layer", a, b, None, inf)
    yield lower("two layers", a, b, c, high, low)
    yield lower("a linear layer", b, a, 0.0, -low)
    yield lower("a linear layer", a, b, high, round(high - 1e-6, 9))
    yield keeps("a linear layer", a, b, low, high)
    yield keeps("a linear layer", a, b, low, low)
    yield keeps("a linear layer", a, b, 0.0, low)
    yield keeps("a linear layer", a, b, low, nan)
    yield snapshot("layers with batch norm", a, b, c, draw.normal(n, a))
    yield back("layers with batch norm", a, b, c, draw.normal(n, a))
    yield both("layers with batch norm", a, b, c, high, low)
