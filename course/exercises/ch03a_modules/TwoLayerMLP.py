"""`TwoLayerMLP`: a module with two layers, written by hand."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probes.module_classes import (
    make_known_weights_result_probe,
    observe_parameters,
    observe_result_without_values,
)
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import forbid_names

from .._ch03_calls import AXES, CUT_OFF, OWN_PARAMETERS, REPEATS, made_and_called

shape = Requirement("turns (batch, in_features) into (batch, out_features)", observe_result_without_values)
layers = Requirement(
    "has two linear layers, fc1 and fc2",
    observe_parameters,
    {"parameters": "The names or shapes of the parameters are not those of two layers named fc1 and fc2."}
    | OWN_PARAMETERS,
)
relu = Requirement(
    "computes fc1, then relu, then fc2",
    make_known_weights_result_probe(twice=True, learns=True),
    REPEATS
    | CUT_OFF
    | {
        "returned": "With known numbers in its layers, your module gives other values than fc1, then relu, then fc2: a "
        "step is missing, another one, or one too many, or what should be an nn.Linear is something else."
    },
)
any_axes = Requirement(
    "takes any axes in front",
    make_known_weights_result_probe(twice=True, shape=True),
    AXES,
    given=("returned", "repeats"),
)


@exercise(
    tier="warm-up",
    hints=(
        "Layers are made once, in `__init__`, after `super().__init__()`; `forward` uses them.",
        "In `__init__`: `self.fc1` and `self.fc2`, each an `nn.Linear`. In `forward`: fc1, then relu, then fc2.",
    ),
    spelled=made_and_called,
    rules=(
        forbid_names(
            "Sequential",
            requirement="does without nn.Sequential",
            sentence="You use nn.Sequential. Here you write `forward` yourself.",
        ),
    ),
)
def TwoLayerMLP(draw: Draw) -> Iterator[Case]:
    """Write a module with two layers."""
    a, hidden, b, n, m = draw.sizes(5, 2, 9)
    yield shape(a, hidden, b, x=draw.normal(draw.whole(10, 60), a))
    yield shape(8, 16, 1, x=torch.ones(5, 8))
    yield layers(a, hidden, b)
    yield relu(a, hidden, b, x=draw.normal(n, a))
    yield relu(a, hidden, b, x=40 * draw.normal(n, a))
    yield any_axes(a, hidden, b, x=draw.normal(a))
    yield any_axes(a, hidden, b, x=draw.normal(n, m, a))
