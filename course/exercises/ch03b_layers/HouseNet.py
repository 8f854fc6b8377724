"""`HouseNet`: a bug hunt, for what does not learn in a model of the prices of houses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, snapshot_without_values
from autograder.exercises.probes.module_classes import (
    grad_without_warning,
    has_no_common_parameters,
    make_known_weights_result_probe,
    make_new_module_probe,
    new_module_and_input,
)
from autograder.exercises.probes.random_results import make_seeded_probe
from autograder.exercises.seeded_draw import Draw

from .._ch03_calls import OWN_PARAMETERS, made_and_called


def learns(part: str) -> Probe:
    """Whether each shape of a part of the model stands among its first parameters, and whether gradients reach it."""

    def look(module: Any, x: Tensor, features: int) -> Observation:
        first = list(module.parameters())  # an optimizer made now would be given these
        module(x).sum().backward()
        wanted = {"hidden": {(16, features), (16,), (8, 16), (8,)}, "out": {(1, 8), (1,)}}[part]
        listed = wanted <= {tuple(p.shape) for p in first}
        reached = not listed or wanted <= {tuple(p.shape) for p in first if p.grad is not None}
        return {part: listed, "reached": reached, "returned": snapshot_without_values(module(x).detach())}

    return make_new_module_probe(look)


@make_new_module_probe
def kind_of_scale(module: Any, x: Tensor, _: int) -> Observation:
    """What kind of thing the scale is, its shape if it has one, who makes it, and whether a gradient reaches it."""
    before = getattr(module, "scale", None)
    module(x).sum().backward()
    scale = module.scale
    frozen = isinstance(scale, nn.Parameter) and not scale.requires_grad
    kind = f"{'frozen ' * frozen}parameter" if isinstance(scale, nn.Parameter) else f"{type(scale).__name__.lower()}"
    kind = "buffer" if "scale" in dict(module.named_buffers()) else kind
    kind = f"computed {kind}" if isinstance(scale, Tensor) and not scale.is_leaf else kind
    reached = bool(getattr(scale, "requires_grad", False)) and grad_without_warning(scale) is not None
    kind += f" of shape {tuple(scale.shape)}" if isinstance(scale, Tensor) and scale.dim() else ""
    kind += " that `forward` makes" if scale is not before else ""
    return {
        "scale": f"a {kind} {'with' if reached else 'without'} a gradient",
        "returned": snapshot_without_values(module(x).detach()),
    }


def with_a_scalar(answer: Answer, case: Case) -> Observation:
    """What the model computes from known numbers, and where its scale begins.

    A scale of one number is a scalar here, as another line asks, and has learned to be -7; of a model without one, that
    line speaks alone.
    """
    begins = [100.0]

    def made(*args: Any) -> Any:
        module = answer(*args)
        scale = getattr(module, "scale", None)
        if isinstance(scale, float | int) or (isinstance(scale, Tensor) and scale.numel() == 1):
            begins.append(float(torch.as_tensor(scale).detach()))
        if isinstance(scale, nn.Parameter) and scale.numel() == 1:
            module.scale = nn.Parameter(torch.full((), -7.0))
        return module

    seen = make_known_weights_result_probe()(made, case)
    return seen if "raised" in seen else {"begins": begins[-1]} | seen


@make_seeded_probe
def priced(answer: Answer, case: Case) -> Observation:
    """The form of the prices; whether the model has parameters, and whether another one has parameters of its own."""
    (module, x), (other, _) = new_module_and_input(answer, case), new_module_and_input(answer, case)
    learns = any(True for _ in module.parameters())
    own = has_no_common_parameters(module, other)
    return {"returned": snapshot_without_values(module(x).detach()), "learns": learns, "own_parameters": own}


begins = Requirement(
    "gives one price per house, and has parameters",
    priced,
    OWN_PARAMETERS
    | {
        "learns": "The prices have the right shape, but parameters() is empty: nothing here would learn.",
        "returned:shape": "There is to be one number for each house, of shape (batch,), without an axis of size 1.",
    },
)
REACHED = (
    "All stand in parameters(), but a gradient does not arrive at each: something cuts it off on the way, as "
    "`no_grad`, `.detach()`, `.data` and `.item()` do, a layer is left out, or a parameter is frozen."
)
hidden = Requirement(
    "learns in its hidden layers",
    learns("hidden"),
    {
        "hidden": "parameters() does not list, before the first call, weight and bias of two hidden layers, of 16 and "
        "of 8 units. A module does not look into a plain list, tuple or dict.",
        "reached": REACHED,
    },
    given=("returned",),
)
out = Requirement(
    "learns in its output layer",
    learns("out"),
    {
        "out": "parameters() does not list, before the first call, weight and bias of an output layer, of 8 inputs and "
        "one output.",
        "reached": REACHED,
    },
    given=("returned",),
)
scale = Requirement(
    "learns its scale",
    kind_of_scale,
    {"scale": "`scale` is to be a parameter, a scalar, and a gradient is to reach it."},
    given=("returned",),
)
again = Requirement(
    "gives the same prices for the same houses",
    make_new_module_probe(
        lambda module, x, _: {
            "same": bool(torch.equal(module(x), module(x))),
            "returned": snapshot_without_values(module(x).detach()),
        }
    ),
    {"same": "Called twice with the same houses, your model gives other prices the second time."},
    given=("returned",),
)
prices = Requirement(
    "computes the prices that the docstring describes",
    with_a_scalar,
    {
        "begins": "Your scale begins at another number than 100.0.",
        "returned": "With known numbers in its layers, and a scale of -7, your model gives other prices than two "
        "hidden layers with a ReLU after each, then the output, times its scale.",
    },
    needs=(again,),
)


@exercise(
    tier="core",
    hints=(
        "Print the names in `named_parameters()`. Seven tensors should learn: which ones are missing?",
        "Ask of each: is it made in `__init__`? Does it reach the module as an attribute that a module registers?",
        "A plain list and a plain tensor are not looked at. A layer that is made in `forward` is new at each call.",
    ),
    spelled=made_and_called,
)
def HouseNet(draw: Draw) -> Iterator[Case]:
    """Find out why a model does not learn."""
    features = draw.whole(2, 7)
    yield begins(3, x=torch.ones(5, 3))
    # Most look at shapes and facts alone: of two first ones, both are not as long as other cases by chance.
    for requirement in (begins, begins, hidden, out, scale, again, prices):
        yield requirement(features, x=draw.normal(draw.whole(8, 60), features))
    yield prices(features + 1, x=draw.normal(1, features + 1))
