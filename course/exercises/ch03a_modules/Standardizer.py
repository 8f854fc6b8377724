"""`Standardizer`: a module that holds numbers which do not learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, copy_case_data, snapshot_without_requires_grad
from autograder.exercises.probes.functions_that_take_modules import requires_grad_flags, tensor_values
from autograder.exercises.probes.module_classes import (
    construct_module,
    make_new_module_probe,
    named_shapes,
    new_module_and_input,
    observe_changed_inputs_and_second_call,
    observe_module_result,
)
from autograder.exercises.probes.random_results import make_seeded_probe
from autograder.exercises.seeded_draw import Draw

from .._ch03_calls import made_and_called


@make_new_module_probe
def held(module: Any, *_: Any) -> Observation:
    """What the module holds as buffers and as parameters."""
    held = dict(sorted(module.named_buffers()))
    kinds = [str(tensor.dtype) for tensor in held.values()]
    as_doubles = {name: tensor.double() for name, tensor in held.items()}
    return {"parameters": requires_grad_flags(module), "buffers": tensor_values(as_doubles), "dtypes": kinds}


@make_seeded_probe
def saved(answer: Answer, case: Case) -> Observation:
    """What stands in state_dict, and what modules with other numbers compute once they have loaded it, in each mode."""
    module, x = new_module_and_input(answer, case)
    mean, std = copy_case_data(case.args)
    seen: Observation = {"state_dict": named_shapes(module.state_dict().items())}
    for facet, training in (("loaded", True), ("in_eval", False)):
        other = construct_module(answer, mean + 1, std * 3)
        other.load_state_dict(module.state_dict(), strict=False)
        seen[facet] = snapshot_without_requires_grad(other.train(training)(copy_case_data(x)))
    return seen


@make_new_module_probe
def taken_along(module: Any, x: Tensor, *_: Any) -> Observation:
    """The dtype of what the module holds after `.to(torch.float64)`, and the devices after `.to("meta")`."""
    result = module.to(torch.float64)(x.double())
    seen: Observation = {
        "dtypes": [str(module.mean.dtype), str(module.std.dtype)],
        "as_float64": snapshot_without_requires_grad(result),
    }
    result = module.to("meta")(x.to("meta"))
    return seen | {"devices": [tensor.device.type for tensor in (module.mean, module.std, result)]}


@make_seeded_probe
def kept_apart(answer: Answer, case: Case) -> Observation:
    """What the module returns after the tensors that it was made from have changed."""
    mean, std = copy_case_data(case.args)
    module = construct_module(answer, mean, std)
    mean.add_(5)
    std.mul_(2)
    return {"later": snapshot_without_requires_grad(module(copy_case_data(case.kwargs["x"])))}


basic = Requirement(
    "subtracts the mean, then divides by the std",
    observe_module_result,
    {
        "returned:shape": "The result has another shape than x. mean and std, of shape (features,), fit the last axis "
        "of x as they are: they need no axis more.",
        "returned": "Your values are not (x - mean) / std, with the mean and std that the module was made from: look "
        "for another order, and for what is left out or added.",
    },
)
exactly = Requirement(
    "divides by a small std as by any other",
    observe_module_result,
    {
        "returned": "Where std is about a millionth, your values are not (x - mean) / std: something is added to it, "
        "as 1e-8, or it is kept from being small."
    },
    needs=(basic,),
)
buffers = Requirement(
    "holds mean and std as buffers, and has no parameters",
    held,
    {
        "parameters": "Your module has parameters. mean and std are not to be learned.",
        "buffers": "The buffers of the module are not mean and std, by these names and with the numbers given.",
        "dtypes": "A copy has the dtype of what it is a copy of: here, these are the dtypes of your buffers.",
    },
)
in_state = Requirement(
    "saves them in its state_dict, and loads them",
    saved,
    {
        "state_dict": "The state_dict does not hold mean and std.",
        "loaded": "A module that has loaded your state_dict computes something else.",
        "in_eval": "In eval mode, a module that has loaded your state_dict computes something else.",
    },
)
moves = Requirement(
    "takes them along with .to",
    taken_along,
    {
        "dtypes": "After `.to(torch.float64)`, `mean` and `std` of the module are not both of dtype float64.",
        "devices": "After `.to('meta')`, mean, std or what the module computes is on another device than meta.",
        "as_float64": "After `.to(torch.float64)`, the module computes something else for the same x in float64.",
    },
)
apart = Requirement(
    "keeps copies of what it is given",
    kept_apart,
    {"later": "The module changes when the tensors change that it was made from."},
)
unchanged = Requirement("changes nothing that it is given", observe_changed_inputs_and_second_call)


@exercise(
    tier="core",
    hints=(
        "Parameters learn, plain attributes stay behind. What is the third thing that a module can hold?",
        "`self.register_buffer(name, tensor)`; give it a copy, so that nobody else writes into it.",
    ),
    spelled=made_and_called,
)
def Standardizer(draw: Draw) -> Iterator[Case]:
    """Keep numbers that do not learn."""
    yield basic(torch.tensor([1.0]), torch.tensor([2.0]), x=torch.tensor([[5.0]]))
    d, n, m = draw.sizes(3, 2, 6)
    if draw.seed == 0:  # whole numbers, which show at a glance what belongs to which feature
        powers = 2.0 ** torch.arange(d)
        yield basic(torch.arange(1.0, d + 1), powers, x=torch.arange(float(n * d)).reshape(n, d))
    rows = [(basic, (n,)), (basic, (m, n)), *((each, (n,)) for each in (buffers, in_state, moves, apart, unchanged))]
    for requirement, shape in rows:
        mean, std = draw.normal(d) * 3 + 2, draw.uniform(d, low=0.2, high=0.8)
        yield requirement(mean, std, x=draw.normal(*shape, d))
    mean, std = draw.normal(d).double(), draw.uniform(d, low=0.2, high=0.8).double()
    yield buffers(mean, std, x=draw.normal(n, d, dtype=torch.float64))
    yield basic(draw.normal(d), draw.uniform(d, low=0.2, high=0.8), x=draw.normal(d))
    # x is far from the mean: a right formula that divides first loses no digits.
    mean, std = draw.uniform(d, low=-1, high=1), draw.uniform(d, low=1e-6, high=2e-6)
    yield exactly(mean, std, x=draw.uniform(n, d, low=2, high=3))
