"""`Linear`: a linear layer, made from parameters."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, snapshot_without_requires_grad
from autograder.exercises.probes.module_classes import (
    make_gradients_probe,
    make_known_weights_result_probe,
    make_registered_tensors_probe,
    new_module_and_input,
    new_module_filled_with_known_numbers,
)
from autograder.exercises.probes.random_results import distribution_facts, make_seeded_probe
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import forbid_imports_and_attributes

from .._ch03_calls import AXES, made_and_called


@make_seeded_probe
def bias_and_result(answer: Answer, case: Case) -> Observation:
    """What a layer holds as its bias, and what it computes."""
    module, x = new_module_filled_with_known_numbers(answer, case, "weight", "bias")
    return {"bias": snapshot_without_requires_grad(module.bias), "returned": snapshot_without_requires_grad(module(x))}


@make_seeded_probe
def first_numbers(answer: Answer, case: Case) -> Observation:
    """How the numbers of a new layer are spread, and whether another one starts with others."""
    (module, _), (other, _) = new_module_and_input(answer, case), new_module_and_input(answer, case)
    inputs, outputs = case.args
    bounds = {"1 / sqrt(in_features)": inputs**-0.5, "1 / sqrt(out_features)": outputs**-0.5}
    bounds |= {"1 / in_features": 1 / inputs, "1": 1.0, "sqrt(in_features)": inputs**0.5}
    bounds |= {"sqrt(6 / in_features)": (6 / inputs) ** 0.5}
    bounds |= {"sqrt(6 / (in_features + out_features))": (6 / (inputs + outputs)) ** 0.5}
    seen: Observation = {}
    for parameter in ("weight", "bias"):
        numbers = getattr(module, parameter)
        facts = distribution_facts(numbers, "uniform", (3 * inputs) ** -0.5)
        share = float((numbers < 0).double().mean())
        below = {"below 0": "none" if share == 0 else "all" if share == 1 else "some"}
        # First whether each is drawn for itself: of few numbers, repeated, the largest may lie anywhere.
        seen[parameter] = {"distinct": facts["distinct"], "spread evenly": evenly(numbers)}
        seen[parameter] |= {"reaches to": reach(numbers, bounds)} | facts | below
    seen["apart"] = apart(module.weight.detach(), module.bias.detach())
    return seen | {"others": not torch.equal(module.weight, other.weight), "shape": list(module.weight.shape)}


def apart(weight: Tensor, bias: Tensor) -> bool:
    """Whether the bias was drawn for itself; of 400 independent numbers no two rows come near this correlation."""
    columns = weight.T if len(weight) == len(bias) else weight  # a weight that lies across is another mistake, too
    rows = torch.corrcoef(torch.cat([columns, bias[None]]))
    return bool(rows[-1, :-1].nan_to_num().abs().max() < 0.5)  # nan: all alike, which is another mistake


def evenly(numbers: Tensor) -> str:
    """Whether numbers lie as evenly as uniform ones do, whatever their bounds.

    Of uniform numbers the ends are 3.5 times their std apart, and of 400 normal ones hardly ever less than 4.5 times.
    """
    spread = float(numbers.detach().std())
    if not spread:
        return "all alike"
    return "as uniform numbers" if float(numbers.detach().max() - numbers.detach().min()) < 4 * spread else "otherwise"


def reach(numbers: Tensor, bounds: dict[str, float]) -> str:
    """Which bound the largest number comes near without passing it, by its name; of several the nearest.

    The largest of 400 uniform numbers stays below 0.95 times their bound less than once in a hundred million times.
    """
    largest = float(numbers.detach().abs().max())
    near = {bound: name for name, bound in reversed(bounds.items()) if 0.95 < largest / bound < 1.0001}
    return near[min(near)] if near else "another bound"


def of_start(name: str) -> dict[str, str]:
    """What to tell of the numbers that a weight, or a bias, starts with."""
    numbers = f"The numbers that {name} starts with"
    uneven = f"{numbers} do not lie evenly between two bounds, as uniform numbers do."
    return {
        f"{name}.spread evenly": uneven,
        f"{name}.reaches to": f"{numbers} reach to another bound than they should.",
        f"{name}.mean": f"{numbers} do not lie around 0: they are to reach as far below 0 as above it.",
        f"{name}.below 0": f"{numbers} do not lie on both sides of 0.",
        f"{name}.std": uneven,
        f"{name}.distribution": uneven,
        f"{name}.distinct": f"Of {numbers[4:]}, many are the same: each is to be drawn for itself.",
    }


formula = Requirement(
    "computes x @ weight.T + bias",
    make_known_weights_result_probe("weight", "bias", whole=True),
    {
        "returned": "With 0, 1, 2 and so on in weight, and in bias, your layer gives other values than x @ weight.T + "
        "bias."
    },
)
any_axes = Requirement(
    "takes any axes in front", make_known_weights_result_probe("weight", "bias", shape=True), AXES, given=("returned",)
)
registered = Requirement(
    "registers weight and bias, so that they go along everywhere",
    make_registered_tensors_probe("weight", "bias"),
    {
        "stays_behind": "Your layer computes with plain tensors, which are no parameters of the module: they do not "
        "move, are not saved, and no optimizer is given them.",
        "parameters": "The parameters of the module are not weight and bias, with shapes (out, in) and (out,).",
        "state_dict": "The state_dict is not that of a weight and a bias.",
        "loaded": "A new layer that has loaded the state_dict of yours computes other values than yours.",
        "copied": "A deep copy of your layer computes other values than the layer.",
        "as_float64": "After `.to(torch.float64)`, your layer computes other values than before.",
        "leaves": "A parameter of your module is no leaf that learns.",
    },
)
unbiased = Requirement("works without a bias", bias_and_result, {"bias": "With bias=False, `bias` is to be None."})
start = Requirement(
    "starts with uniform numbers in the right range",
    first_numbers,
    {
        **of_start("weight"),
        **of_start("bias"),
        "apart": "The bias starts with numbers of the weight, so they are not independent: draw it for itself.",
        "others": "Two new layers start with the same numbers, as they do where each one seeds the generator.",
    },
    given=("shape",),
)
gradients = Requirement(
    "lets gradients through to x, weight and bias",
    make_gradients_probe("weight", "bias"),
    {
        f"gradients.{name}": f"The gradient that arrives at {name} is not the right one; where it is None, {name} is "
        "cut off from the result, or is no leaf."
        for name in ("x", "weight", "bias")
    },
)


@exercise(
    tier="core",
    hints=(
        "A tensor becomes a parameter when an `nn.Parameter` is assigned to an attribute of the module.",
        "Draw the numbers first, then wrap: `nn.Parameter(...)` is the last step, or it is no leaf.",
        "`x @ self.weight.T` works for any axes in front: matmul looks at the last two. Without a bias, add nothing.",
    ),
    spelled=made_and_called,
    rules=(
        forbid_imports_and_attributes(
            "Linear",
            "LazyLinear",
            "Bilinear",
            requirement="does without nn.Linear",
            sentence="You use nn.Linear. Here you make such a layer yourself, from nn.Parameter.",
        ),
    ),
)
def Linear(draw: Draw) -> Iterator[Case]:
    """Make a linear layer from parameters."""
    a, b, n, m = draw.sizes(4, 2, 7)
    if draw.seed == 0:  # whole numbers, which show at a glance which of them meet
        yield formula(2, 3, x=torch.arange(8.0).reshape(4, 2))
    yield formula(a, b, x=draw.normal(n, a))
    yield any_axes(4, 2, x=torch.ones(5, 3, 4))
    yield any_axes(a, b, x=draw.normal(a))
    yield any_axes(a, b, x=draw.normal(2, m, n, a))
    yield registered(a, b, x=draw.normal(n, a))
    yield unbiased(a, b, x=draw.normal(n, a), bias=False)
    yield start(draw.whole(5, 8), draw.whole(400, 500))
    yield gradients(a, b, x=draw.normal(n, a))
