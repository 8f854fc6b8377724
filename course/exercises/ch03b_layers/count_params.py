"""`count_params`: how many numbers of a module learn, each counted once."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probes.functions_that_take_modules import (
    make_returned_value_probe,
    make_unchanged_module_probe,
)
from autograder.exercises.seeded_draw import Draw

from .._ch03_calls import on_module

every = Requirement(
    "counts every number of a layer",
    make_returned_value_probe(),
    {
        "returned": "Your count is not that of all numbers in weight and bias: a tensor holds as many as its sizes, "
        "multiplied with each other."
    },
)
by_depth = Requirement(
    "counts the parameters of all submodules",
    make_returned_value_probe(),
    {
        "returned": "Submodules may stand in submodules, at any depth, and some hold nothing, or no bias, or a "
        "parameter of another name or of more dims. Your count is not that of all numbers in there, each once."
    },
)
once = Requirement(
    "counts a parameter in several places once",
    make_returned_value_probe(),
    {"returned": "A layer, or a weight, stands in two places here. Your count is not that of each parameter, once."},
    needs=(by_depth,),
)
no_buffers = Requirement(
    "does not count buffers",
    make_returned_value_probe(),
    {"returned": "Of a batch norm, weight and bias count, and its running values, which are buffers, do not."},
)
trainable = Requirement(
    "counts only what learns with trainable_only=True",
    make_returned_value_probe(),
    {
        "returned": "Some parameters are frozen here. With trainable_only=True, those with requires_grad count and no "
        "others; without it, all do."
    },
    needs=(by_depth,),
)
left = Requirement(
    "leaves the module as it was",
    make_unchanged_module_probe(),
    {"left": "These things about the module are not as they were before your call."},
    given=("returned",),
)


@exercise(
    tier="core",
    hints=(
        "Which method of a module lists every parameter once, at any depth, and no buffers?",
        "Sum `numel()` over `parameters()`; leave out those without `requires_grad` where that is asked for.",
    ),
    spelled=on_module,
)
def count_params(draw: Draw) -> Iterator[Case]:
    """Count what learns."""
    a, b, c = draw.sizes(3, 2, 9)
    yield every("a linear layer", 3, 2)
    yield every("a linear layer", a, b)
    yield every("a linear layer", draw.whole(10, 99), draw.whole(10, 99))
    yield by_depth("a recurrent layer", a, b)
    yield by_depth("nested layers", a, b, c)
    yield by_depth("a layer without parameters")
    yield by_depth("layers of many kinds", a, b)
    yield once("two layers of one weight", a, b)
    yield once("one layer in two places", c)
    yield every("two layers on the meta device", a, b, c)
    yield no_buffers("a batch norm", a)
    yield trainable("half frozen layers", a, b, c, trainable_only=True)
    yield trainable("half frozen layers", b, c, a)
    yield left("half frozen layers", a, b, c)
