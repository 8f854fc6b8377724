"""`BatchNorm1d`: batch norm, in training and in eval mode, with its running statistics."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import snapshot_without_requires_grad
from autograder.exercises.probes.functions_that_take_modules import changed_tensors, detached_copies, tensor_values
from autograder.exercises.probes.module_classes import backpropagated_gradients, make_new_module_probe
from autograder.exercises.probes.sample_modules import known_tensor
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import forbid_imports_and_attributes

from .._ch03_calls import made_and_called

RUNNING = ("running_mean", "running_var")


def on_batches(look: Callable[..., Observation]) -> Probe:
    """A probe of a new module in the dtype of its batches: `look(module, *batches)`."""

    def look_at(module: Any, given: Any, n: int) -> Observation:
        batches = given if isinstance(given, list) else [given]
        return look(module.to(batches[0].dtype), *batches)

    return make_new_module_probe(look_at)


def statistics(module: Any) -> dict[str, Tensor]:
    """The running values, by name."""
    return {name: getattr(module, name) for name in RUNNING}


@on_batches
def in_training(module: Any, x: Tensor) -> Observation:
    """What a new module returns for a batch, and whether it changes the batch."""
    before = x.clone()
    result = snapshot_without_requires_grad(module(x))
    return {"returned": result, "inputs": [] if torch.equal(before, x) else ["x"]}


@on_batches
def registered(module: Any, x: Tensor) -> Observation:
    """What the module lists with what start, what it computes with another weight and bias, and whether these learn.

    In eval mode, a module with these is compared with one without: its running values may be wrong.
    """
    plain = copy.deepcopy(module).eval()(x)
    buffers = {name: buffer for name, buffer in sorted(module.named_buffers()) if name in RUNNING}
    seen: Observation = {
        "parameters": tensor_values(dict(sorted(module.named_parameters()))),
        "buffers": tensor_values(buffers),
        "state_dict": sorted(name for name in module.state_dict() if name != "num_batches_tracked"),
    }
    with torch.no_grad():
        module.weight.copy_(known_tensor(*module.weight.shape, place=2))
        module.bias.copy_(known_tensor(*module.bias.shape, place=3))
    calm = copy.deepcopy(module).eval()(x)
    in_eval = bool(torch.allclose(calm, module.weight * plain + module.bias))
    tracked = x.clone().requires_grad_()  # so that there is a graph where weight and bias take no part
    found = backpropagated_gradients(module(tracked), tracked, module, "weight", "bias")
    seen |= {"returned": snapshot_without_requires_grad(module(x)), "in_eval": in_eval}
    return seen | {f"to_{name}": found[name] for name in ("weight", "bias")}


@on_batches
def gradients(module: Any, x: Tensor) -> Observation:
    """The gradient that arrives at the batch, of a sum of weighted squares."""
    x.requires_grad_()
    return {"to_x": backpropagated_gradients(module(x) ** 2 + module(x), x, module)["x"]}


@on_batches
def after_each(module: Any, *batches: Tensor) -> Observation:
    """The running values after each batch in training."""
    seen: Observation = {name: [] for name in RUNNING}
    for place, batch in enumerate(batches):
        with torch.set_grad_enabled(place != 1):  # the mode alone decides whether they move
            module(batch)
        for name, tensor in statistics(module).items():
            seen[name].append(snapshot_without_requires_grad(tensor))
    return seen


@on_batches
def in_eval(module: Any, *batches: Tensor) -> Observation:
    """What the module returns in eval mode after a batch in training, from statistics that no batch has.

    The variance is so small that the 1e-5 counts. Beside it, which of these have moved, and what comes back once it is
    in training mode again.
    """
    module(batches[0])
    for place, (tensor, size) in enumerate(zip(statistics(module).values(), (1, 1e-3), strict=True), 4):
        tensor.data.copy_(size * (known_tensor(batches[0].shape[-1], place=place).abs() + 0.1))
    before = detached_copies(statistics(module))
    torch.nn.Sequential(module).eval()  # as in use: by the model around it
    results = [snapshot_without_requires_grad(module(batch)) for batch in batches]
    seen: Observation = {"moved": changed_tensors(before, statistics(module)), "in_eval": results}
    return seen | {"in_training": snapshot_without_requires_grad(module.train()(batches[0]))}


@on_batches
def without_graph(module: Any, x: Tensor) -> Observation:
    """Whether the statistics require no grad after a batch that does, and whether the module can be copied."""
    for _ in range(2):
        module(x.clone().requires_grad_()).sum().backward()
    tracked = [name for name, tensor in statistics(module).items() if tensor.requires_grad]
    # Torch would refuse the copy, in words that are about copies.
    return {
        "tracked": tracked,
        "copied": None if tracked else snapshot_without_requires_grad(copy.deepcopy(module).eval()(x)),
    }


basic = Requirement(
    "standardizes each feature over the batch in training",
    in_training,
    {
        "returned": "In training a new module, with a weight of ones and a bias of zeros, gives "
        "(x - mean) / sqrt(var + 1e-5), with mean and variance (correction=0) of each column of the batch. Yours gives "
        "other values."
    },
)
registers = Requirement(
    "holds weight and bias as parameters, the running values as buffers",
    registered,
    {
        "parameters": "The parameters are not a weight of ones and a bias of zeros.",
        "state_dict": "The state_dict does not hold weight, bias, running_mean and running_var, and nothing else.",
        "buffers": "The buffers are not a running_mean of zeros and a running_var of ones. No plain tensor is one.",
        "returned": "With another weight and bias the values are not weight times what is standardized, plus bias.",
        "in_eval": "In eval mode the values are not weight times what is standardized, plus bias: both count in either "
        "mode.",
        "to_weight": "The gradient that arrives at weight is not right.",
        "to_bias": "The gradient that arrives at bias is not right.",
    },
)
flows = Requirement(
    "lets the gradient flow through mean and variance",
    gradients,
    {
        "to_x": "The gradient that arrives at x is not right: mean and variance depend on x as well.",
    },
)
running = Requirement(
    "moves the running values toward those of each batch",
    after_each,
    {
        "running_mean:shape": "After a batch in training, running_mean has another shape than it began with: (n,).",
        "running_var:shape": "After a batch in training, running_var has another shape than it began with: (n,).",
        "running_mean": "After a batch in training, the running mean is not 0.9 times what it was plus 0.1 times that "
        "of the batch.",
        "running_var": "After a batch in training, the running variance is not 0.9 times what it was plus 0.1 times "
        "that of the batch, with correction=1.",
    },
)
evaluated = Requirement(
    "uses the running values in eval mode, and leaves them",
    in_eval,
    {
        "in_eval": "In eval mode, the values are not those from the running mean and variance.",
        "moved": "The running values change in eval mode.",
        "in_training": "Back in training after eval mode, the values are not those from the batch's mean and variance.",
    },
)
no_graph = Requirement(
    "keeps no graph in the running values",
    without_graph,
    {
        "tracked": "These running values require grad: each keeps the graphs of all batches so far.",
        "copied": "After batches that require grad, a copy of the module in eval mode computes something else than it "
        "should.",
    },
    given=("copied",),
    needs=(running, evaluated),
)


@exercise(
    tier="stretch",
    hints=(
        "In training the mean and variance come from the batch, and the gradient flows through them as well.",
        "The running values are buffers: change them in place under `torch.no_grad()`, in training only.",
        "Two variances: correction=0 to standardize with, correction=1 for running_var. The eps is inside the root.",
    ),
    spelled=made_and_called,
    rules=(
        forbid_imports_and_attributes(
            *("BatchNorm1d", "batch_norm", "native_batch_norm", "BatchNorm2d", "SyncBatchNorm", "LazyBatchNorm1d"),
            requirement="does without ready-made batch norm",
            sentence="You use a ready-made batch norm. Here you write down the formula yourself.",
        ),
    ),
)
def BatchNorm1d(draw: Draw) -> Iterator[Case]:
    """Write batch norm."""
    n, rows, others = draw.sizes(3, 2, 7)

    def batch(size: int) -> Tensor:
        return draw.normal(size, n, dtype=torch.float64) * 2 + torch.arange(n) - 1

    yield basic(1, x=torch.tensor([[1.0], [3.0]]))
    yield basic(n, x=batch(rows))
    yield basic(n, x=batch(others) * 1e-3)
    yield basic(n, x=batch(rows).float())
    yield registers(n, x=batch(rows))
    yield flows(n, x=batch(others + 1))
    yield running(n, x=batch(rows))
    yield running(n, batches=[batch(others), batch(rows), batch(others)])
    yield evaluated(n, batches=[batch(rows), batch(1)])
    yield no_graph(n, x=batch(rows))
