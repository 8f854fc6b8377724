"""`init_he`: first weights of the right size, drawn by chance.

The sizes are large, so that the std of a layer's weights tells the right formula from every other one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import Answer
from autograder.exercises.probes.functions_that_take_modules import (
    changed_tensors,
    detached_copies,
    make_module_after_call_probe,
    make_sample_module_probe,
    named_tensors,
    rebound_tensor_names,
    requires_grad_flags,
    training_modes,
)
from autograder.exercises.probes.random_results import distribution_facts, randomness_facts
from autograder.exercises.probes.sample_modules import fill_with_known_numbers
from autograder.exercises.seeded_draw import Draw

from .._ch03_calls import on_module


def linear_parts(module: nn.Module) -> list[nn.Linear]:
    """The layers to be drawn."""
    return [part for part in module.modules() if isinstance(part, nn.Linear)]


def spreads(module: nn.Module) -> Plain:
    """The std of each linear layer's weights, by the formula that it comes nearest."""
    return [nearest(part) for part in linear_parts(module)]


def centered(module: nn.Module) -> Plain:
    """Whether the weights of each linear layer have mean 0."""
    return [facts(part)["mean"] for part in linear_parts(module)]


def facts(part: nn.Linear) -> dict[str, bool]:
    """Whether the weights of a layer are as they should be."""
    return distribution_facts(part.weight, "normal", (2 / part.in_features) ** 0.5)


def nearest(part: nn.Linear) -> str:
    """The formula that the std of a layer's weights comes nearest, if it comes near to any."""
    a, b = part.in_features, part.out_features
    near = {"sqrt(1 / in_features)": a**-0.5, "2 / in_features": 2 / a, "sqrt(2 / out_features)": (2 / b) ** 0.5}
    near |= {"sqrt(2 / (in_features + out_features))": (2 / (a + b)) ** 0.5, "1": 1.0}
    near |= {"sqrt(2) / in_features": 2**0.5 / a, "1 / in_features": 1 / a, "in_features / 2": a / 2}
    near |= {"that of nn.Linear's own start": (3 * a) ** -0.5}
    std = float(part.weight.detach().std())
    if torch.equal(part.weight, before(part)):
        return "that of the old weights, which are still there"
    if facts(part)["std"]:
        return "sqrt(2 / in_features)"
    if not std:
        return "0"
    name = min(near, key=lambda name: abs(near[name] / std - 1))
    return name if abs(near[name] / std - 1) < 0.1 else "another"


def drawn(module: nn.Module) -> int:
    """How many weights of linear layers are other numbers than a sample module begins with."""
    return sum(int((part.weight.detach() != before(part)).sum()) for part in linear_parts(module))


def before(part: nn.Linear) -> Tensor:
    """The weights that a layer of a sample module begins with."""
    fresh = torch.empty_like(part.weight)
    fill_with_known_numbers(fresh)
    return fresh


def kinds(module: nn.Module) -> Plain:
    """Whether the weights look normal, whatever their std, and are drawn each on its own, in each layer anew."""
    looks = [
        distribution_facts(part.weight, "normal", float(part.weight.detach().std())) for part in linear_parts(module)
    ]
    flat = [part.weight.detach().flatten()[:100] for part in linear_parts(module)]
    alike = [bool(torch.allclose(a / a.std(), b / b.std(), rtol=1e-3)) for a, b in pairwise(flat)]
    return [{what: one[what] for what in ("distribution", "distinct")} for one in looks] + [{"layers alike": alike}]


def kind_of_bias(part: nn.Linear) -> str:
    """What the bias of a layer is after a call."""
    bias: Any = part.bias
    if not isinstance(bias, Tensor):
        return str(bias)
    old = torch.empty_like(bias)
    fill_with_known_numbers(old)
    if torch.equal(bias, old):
        return "the old numbers"
    return "all 0" if not bias.any() else "other numbers"


@make_sample_module_probe
def same_objects(answer: Answer, module: nn.Module) -> Observation:
    """Whether the module that comes back, its parameters and their flags are those that went in."""
    layer, other = linear_parts(module.double())
    layer.requires_grad_(False)
    first = layer.weight
    places = {name: (p.dtype, p.data_ptr()) for name, p in module.named_parameters()}
    objects, was = dict(module.named_parameters()), first.detach().clone()
    result = answer(module)
    return {
        "module": result is module,
        "parameters": rebound_tensor_names(objects, dict(module.named_parameters())),
        "moved": [name for name, p in module.named_parameters() if places[name] != (p.dtype, p.data_ptr())],
        "flags": ", ".join(name for name, flag in requires_grad_flags(module).items() if flag),
        "frozen_too": not torch.equal(was, first),
        "frozen_bias": kind_of_bias(layer) in ("all 0", kind_of_bias(other)),
        "drawn": drawn(module),
    }


@make_sample_module_probe
def other_layers(answer: Answer, module: nn.Module) -> Observation:
    """What about other layers is no longer as it was: numbers, flags and objects, by name, and modes."""
    linear = {id(p) for part in linear_parts(module.eval()) for p in part.parameters()}
    others = {
        name: tensor.requires_grad_(False) for name, tensor in named_tensors(module).items() if id(tensor) not in linear
    }
    held = detached_copies(others)
    answer(module)
    now = named_tensors(module)
    return {
        "others": changed_tensors(held, others),
        "flags": [name for name in others if now[name].requires_grad],
        "replaced": rebound_tensor_names(others, now),
        "mode": [name or "the module itself" for name, mode in training_modes(module).items() if mode],
        "drawn": drawn(module),
    }


@make_sample_module_probe
def draws(answer: Answer, module: nn.Module) -> Observation:
    """Whether a second call draws other numbers, and whether the same seed draws the same ones again."""

    def draw() -> Tensor:
        answer(module)
        return torch.cat([part.weight.detach().flatten().clone() for part in linear_parts(module)])

    return randomness_facts(draw) | {"drawn": drawn(module)}


DRAWN = {"drawn": "This many weights of linear layers should be other numbers after your call than before it."}
SPREAD = DRAWN | {
    "spread": "The std of a layer's weights is not sqrt(2 / in_features).",
    "centered": "The mean of a layer's weights is not 0.",
}
spread = make_module_after_call_probe(spread=spreads, centered=centered, drawn=drawn)

basic = Requirement("gives the weights std sqrt(2 / in_features)", spread, SPREAD)
depth = Requirement("finds layers at any depth, and the module itself", spread, SPREAD)
normal = Requirement(
    "draws normal numbers, each on its own",
    make_module_after_call_probe(kind=kinds, drawn=drawn),
    DRAWN
    | {
        "kind.distribution": "The weights of a layer do not lie around 0 as normal numbers do.",
        "kind.distinct": "Many weights of a layer are the same number: each is to be drawn on its own.",
        "kind.layers alike": "Two layers have the same weights, but for a factor: each is to be drawn anew.",
    },
    given=("drawn",),
)
biases = Requirement(
    "sets the biases to 0, where there are any",
    make_module_after_call_probe(biases=lambda module: [kind_of_bias(part) for part in linear_parts(module)]),
    {"biases": "After your call, the bias of a layer is not what it should be: all 0, or None if it was None before."},
    needs=(depth,),
)
in_place = Requirement(
    "returns the module, with the same parameters and flags",
    same_objects,
    DRAWN
    | {
        "module": "What you return is not the module that you were given: nothing, a copy, or something else.",
        "parameters": "These parameters are other objects than before: an optimizer that was given the old ones would "
        "train what nobody uses.",
        "moved": "These parameters have other memory than before, or another dtype. The numbers are to be written into "
        "what is there.",
        "flags": "The parameters with requires_grad=True are not the same as before.",
        "frozen_too": "A frozen layer keeps its old weights; it is to be drawn anew, too.",
        "frozen_bias": "The bias of a frozen layer is to be all 0 after your call, too.",
    },
    given=("drawn",),
)
others = Requirement(
    "leaves all other layers as they were",
    other_layers,
    DRAWN
    | {
        "others": "Layers that are no nn.Linear have other numbers than before, in these parameters or buffers.",
        "flags": "These parameters of layers that are no nn.Linear were frozen, and no longer are.",
        "replaced": "These parameters or buffers of layers that are no nn.Linear are other objects than before.",
        "mode": "These parts of the module were in eval mode, and no longer are.",
    },
    given=("drawn",),
    needs=(depth,),
)
anew = Requirement(
    "draws anew at each call, and never seeds",
    draws,
    DRAWN
    | {
        "anew": "A second call draws the same numbers.",
        "global": "The same seed of torch's global generator gives other numbers.",
        "untouched": "After your call torch's global generator goes on from one place, whatever its seed was.",
    },
    given=("drawn",),
)


@exercise(
    tier="core",
    hints=(
        "`module.modules()` goes to any depth, and the module itself is one of them. Which ones concern you?",
        "`nn.init.normal_` and `nn.init.zeros_` write into the tensor that they are given.",
        "The std is `math.sqrt(2 / part.in_features)`; a layer without bias has `part.bias is None`.",
    ),
    spelled=on_module,
)
def init_he(draw: Draw) -> Iterator[Case]:
    """Start with weights of the right size."""
    a, b, c = draw.whole(90, 100), draw.whole(45, 55), draw.whole(65, 75)
    yield basic("two layers", a, b, c)
    yield basic("two layers", draw.whole(90, 100), draw.whole(45, 55), draw.whole(65, 75))
    yield depth("nested layers", b, c, a)
    yield depth("a linear layer", 200, 50)
    yield depth("a linear layer", b, a)
    yield depth("layers of many kinds", b, c)
    yield depth("a class made from nn.Linear", a, b)
    yield normal("two layers", c, b, a)
    yield normal("two layers", b, b, b)
    yield biases("layers of many kinds", b, c)
    yield in_place("two layers", a, b, c)
    yield others("layers of many kinds", c, b)
    yield others("layers with batch norm", a, b, c)
    yield anew("two layers", b, c, a)
