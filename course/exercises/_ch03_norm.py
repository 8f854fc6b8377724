"""The probes of BatchNorm1d: what it computes, in training and in eval mode, and what becomes of its statistics."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor

from autograder.watching.exercise import Case
from autograder.watching.observation import Observation
from autograder.watching.probe import changed_inputs, copy_of, see, values

from ._ch03_probes import Answer, grad_of, make, shapes, watched, weighted
from ._ch03_zoo import known

RUNNING = ("running_mean", "running_var")


def _batches(answer: Answer, case: Case) -> tuple[Any, list[Tensor]]:
    (n,), given = copy_of(case.args), copy_of(case.kwargs)
    batches = given.get("batches") or [given["x"]]
    return make(answer, n).to(batches[0].dtype), batches


@watched
def in_training(answer: Answer, case: Case) -> Observation:
    """What a new module returns for a batch, and whether it changes the batch."""
    module, (batch,) = _batches(answer, case)
    result = values(module(batch))
    return {"returned": result, "inputs": changed_inputs(case, case.args, {"x": batch})}


@watched
def registered(answer: Answer, case: Case) -> Observation:
    """What the module lists with what start, and what it computes with another weight and bias."""
    module, (batch,) = _batches(answer, case)
    seen: Observation = {
        "parameters": {name: values(p) for name, p in sorted(module.named_parameters())},
        "buffers": {name: values(b) for name, b in sorted(module.named_buffers()) if name in RUNNING},
        "state_dict": sorted(name for name in shapes(module.state_dict().items()) if name != "num_batches_tracked"),
    }
    with torch.no_grad():
        module.weight.copy_(known(*module.weight.shape, place=2))
        module.bias.copy_(known(*module.bias.shape, place=3))
    return seen | {"scaled": values(module(batch))}


@watched
def gradients(answer: Answer, case: Case) -> Observation:
    """The gradients that arrive at the batch, at weight and at bias, of a sum of weighted squares."""
    module, (x,) = _batches(answer, case)
    x.requires_grad_()
    weighted(module(x) ** 2 + module(x)).backward()
    return {"to_x": see(x.grad), "to_weight": see(grad_of(module.weight)), "to_bias": see(grad_of(module.bias))}


@watched
def running(answer: Answer, case: Case) -> Observation:
    """The running values after each batch in training."""
    module, batches = _batches(answer, case)
    seen: Observation = {name: [] for name in RUNNING}
    for batch in batches:
        module(batch)
        for name in RUNNING:
            seen[name].append(values(getattr(module, name)))
    return seen


@watched
def in_eval(answer: Answer, case: Case) -> Observation:
    """What the module returns in eval mode, from statistics that no batch has, and which of these have moved."""
    module, batches = _batches(answer, case)
    given = {name: known(case.args[0], place=place).abs() + 0.1 for name, place in zip(RUNNING, (4, 5), strict=True)}
    for name in RUNNING:
        getattr(module, name).data.copy_(given[name])
    before = {name: getattr(module, name).clone() for name in RUNNING}
    module.eval()
    seen: Observation = {"in_eval": [values(module(batch)) for batch in batches]}
    return seen | {"moved": [name for name in RUNNING if not torch.equal(before[name], getattr(module, name))]}


@watched
def without_graph(answer: Answer, case: Case) -> Observation:
    """Whether the statistics are untracked after a step on a tracked batch, and whether the module can be copied."""
    module, (x,) = _batches(answer, case)
    for _ in range(2):
        module(x.clone().requires_grad_()).sum().backward()
    tracked = [name for name in RUNNING if getattr(module, name).requires_grad]
    return {"tracked": tracked, "copied": values(copy.deepcopy(module).eval()(x))}
