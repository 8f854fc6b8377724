"""`MLP`: as many layers as asked for, each hidden one with an activation."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, snapshot_value
from autograder.exercises.probes.module_classes import (
    construct_module,
    constructor_arguments,
    make_known_weights_result_probe,
    make_new_module_probe,
    observe_result_without_values,
)
from autograder.exercises.probes.random_results import make_seeded_probe
from autograder.exercises.seeded_draw import Draw

from .._ch03_calls import AXES, CUT_OFF, REPEATS, made_and_called


@make_seeded_probe
def given_sizes(answer: Answer, case: Case) -> Observation:
    """What the list of widths holds after a module was made from it."""
    sizes, kind = constructor_arguments(case)
    construct_module(answer, sizes, kind)
    return {"sizes": snapshot_value(sizes)}


shape = Requirement("turns (batch, sizes[0]) into (batch, sizes[-1])", observe_result_without_values)
order = Requirement(
    "lists its parameters from input to output",
    make_new_module_probe(lambda module, *_: {"parameters": [str(tuple(p.shape)) for p in module.parameters()]}),
    {
        "parameters": "parameters() does not list, from input to output, weight and bias of each layer and what an "
        "activation learns, as nn.PReLU does."
    },
)
in_turn = Requirement(
    "computes layers and activations in turn",
    make_known_weights_result_probe(twice=True, learns=True),
    REPEATS
    | CUT_OFF
    | {
        "returned": "With known numbers in its layers, your module gives other values than layer, activation, layer "
        "and so on up to the last layer: something is missing, is another one, or is one too many."
    },
)
at_the_end = Requirement(
    "has no activation after the last layer",
    make_known_weights_result_probe(),
    {"returned": "Of two sizes there is one layer, and no activation: your module gives other values than that layer."},
)
of_its_own = Requirement(
    "gives each hidden layer an activation of its own",
    make_new_module_probe(
        lambda module, _, sizes, kind: {"activations": sum(isinstance(part, kind) for part in module.modules())}
    ),
    {"activations": "The number of activations in the module is not that of the hidden layers."},
)
unchanged = Requirement(
    "leaves sizes as it is",
    given_sizes,
    {"sizes": "After a module was made from it, the list `sizes` holds something else than before."},
)
any_axes = Requirement(
    "takes any axes in front",
    make_known_weights_result_probe(twice=True, shape=True),
    AXES,
    given=("returned", "repeats"),
)


@exercise(
    tier="core",
    hints=(
        "Neighbors in `sizes` are the widths before and after a layer: `zip(sizes, sizes[1:])`.",
        "A module does not look into a plain list. Which container registers what it holds?",
        "Make a list of layer, activation, layer, activation, ..., and drop the last activation.",
    ),
    spelled=made_and_called,
)
def MLP(draw: Draw) -> Iterator[Case]:
    """Stack as many layers as asked for."""
    a, b, c, d, n = draw.sizes(5, 2, 9)
    yield shape([a, b, c], "nn.Tanh", x=draw.normal(n, a))
    yield shape([c, a], "nn.Tanh", x=draw.normal(n, c))
    yield shape([d, b, 1], "nn.Tanh", x=draw.normal(n, d))
    yield order([a, b, b, b, c], "nn.Tanh")
    yield order([d, c, a, b], "nn.PReLU")
    yield in_turn([a, b, c, d], "nn.Softplus", x=draw.normal(n, a))
    yield in_turn([d, b, a, n, c], "nn.Tanh", x=draw.normal(n, d))
    yield in_turn([c, a, c, b, c], "nn.Tanh", x=draw.normal(n, c))  # the width of a layer does not tell its place
    yield at_the_end([a, b], "nn.Sigmoid", x=draw.normal(n, a))
    yield of_its_own([3, 8, 8, 1], "nn.Tanh")
    yield of_its_own([a, b, c, d, n], "nn.PReLU")
    yield unchanged([n, b, d, a], "nn.Tanh")
    yield unchanged([c, d], "nn.Tanh")
    yield any_axes([a, d, b], "nn.Tanh", x=draw.normal(a))
    yield any_axes([a, d, b], "nn.Tanh", x=draw.normal(n, c, a))
