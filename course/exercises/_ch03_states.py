"""The probes of save_best and load_partial: what is saved, what is loaded, and what follows what afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from autograder.watching.exercise import Case
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import copy_of, see, values

from ._ch03_probes import Answer, left_on, state, watched
from ._ch03_zoo import build, settle

# --- save_best


def _saved(result: object) -> Plain:
    """A record of loss and state as plain data; a state may be any kind of mapping."""
    if not isinstance(result, dict) or not isinstance(result.get("state"), Mapping):
        return see(result)
    told = {str(key): see(value) for key, value in result.items() if key != "state"}
    return told | {"state": {str(name): values(value) for name, value in result["state"].items()}}


def _best(loss: float | None) -> dict[str, Any] | None:
    return None if loss is None else {"loss": loss, "state": {"weight": torch.zeros(1)}}


@watched
def saves(answer: Answer, case: Case) -> Observation:
    """The record that is returned."""
    *named, best, loss = copy_of(case.args)
    return {"returned": _saved(answer(build(*named), _best(best), loss))}


@watched
def keeps_best(answer: Answer, case: Case) -> Observation:
    """Whether `best` itself comes back, as it was."""
    *named, best, loss = copy_of(case.args)
    old = _best(best)
    result = answer(build(*named), old, loss)
    return {"best_itself": result is old, "best": _saved(old), "returned": _saved(result)}


def _train_a_little(module: nn.Module, x: Tensor) -> None:
    """Change parameters and buffers as training does: in place."""
    module.train()(x)
    settle(*module.parameters(), place=7)


@watched
def keeps_snapshot(answer: Answer, case: Case) -> Observation:
    """The snapshot after the module has changed in place."""
    *named, x = copy_of(case.args)
    module = build(*named)
    record = answer(module, None, 0.25)
    _train_a_little(module, x)
    return {"snapshot": _saved(record)}


@watched
def brings_back(answer: Answer, case: Case) -> Observation:
    """What the module computes when it has changed and loaded the snapshot."""
    *named, x = copy_of(case.args)
    module = build(*named)
    record = answer(module, None, 0.25)
    _train_a_little(module, x)
    module.load_state_dict(record["state"])
    return {"restored": values(module.eval()(x))}


@watched
def saving_leaves(answer: Answer, case: Case) -> Observation:
    """What about the module, and about `best`, is no longer as it was after a call with a lower loss."""
    *named, best, loss = copy_of(case.args)
    module, old = build(*named), _best(best)
    before = state(module)
    answer(module, old, loss)
    return {"left": left_on(before, module), "best": _saved(old)}


# --- load_partial


def _partial(case: Case) -> tuple[nn.Module, dict[str, Tensor]]:
    """A module, and a state that holds the given tensors under the given names."""
    *named, given = copy_of(case.args)
    return build(*named), given


@watched
def loads(answer: Answer, case: Case) -> Observation:
    """The numbers of the module afterwards."""
    module, given = _partial(case)
    answer(module, given)
    return {"loaded": {name: values(tensor) for name, tensor in sorted(module.state_dict().items())}}


@watched
def loads_and_tells(answer: Answer, case: Case) -> Observation:
    """The names that are returned, and the numbers of the module afterwards."""
    module, given = _partial(case)
    told = see(answer(module, given))
    return {"returned": told} | {"loaded": {name: values(t) for name, t in sorted(module.state_dict().items())}}


@watched
def tells(answer: Answer, case: Case) -> Observation:
    """The names that are returned."""
    return {"returned": see(answer(*_partial(case)))}


@watched
def keeps_objects(answer: Answer, case: Case) -> Observation:
    """Which parameters and buffers are others than before, and their dtypes and flags."""
    module, given = _partial(case)
    next(iter(module.parameters())).requires_grad_(False)
    before = dict([*module.named_parameters(), *module.named_buffers()])
    answer(module, given)
    after = dict([*module.named_parameters(), *module.named_buffers()])
    return {
        "replaced": [name for name, tensor in before.items() if after.get(name) is not tensor],
        "kinds": {name: [str(t.dtype), t.requires_grad, t.is_leaf] for name, t in after.items()},
    }


@watched
def keeps_apart(answer: Answer, case: Case) -> Observation:
    """Whether state is as it was, and whether the module follows when it changes later."""
    module, given = _partial(case)
    answer(module, given)
    before = {name: values(tensor) for name, tensor in module.state_dict().items()}
    seen: Observation = {"state": {name: values(tensor) for name, tensor in given.items()}}
    for tensor in given.values():
        tensor.add_(1)
    after = {name: values(tensor) for name, tensor in module.state_dict().items()}
    follows = [name for name in before if not torch.equal(before[name].values, after[name].values)]
    return seen | {"follows": follows}
