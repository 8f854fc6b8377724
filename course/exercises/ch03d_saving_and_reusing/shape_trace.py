"""`shape_trace`: find all shapes in a module without computing a number."""

from __future__ import annotations

from collections.abc import Iterator

from torch import nn

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import Answer, combine_probes_in_order, snapshot_value
from autograder.exercises.probes.functions_that_take_modules import (
    make_returned_value_probe,
    make_sample_module_probe,
    make_unchanged_module_probe,
    rebound_tensor_names,
)
from autograder.exercises.probes.sample_modules import InputRecordingLayer
from autograder.exercises.probes.training_steps import fill_gradients
from autograder.exercises.seeded_draw import Draw

from .._ch03_calls import on_module


def pairs(result: object) -> Plain:
    """A list of pairs; lists, tuples and sizes count alike."""
    return [pairs(item) for item in result] if isinstance(result, list | tuple) else snapshot_value(result)


@make_sample_module_probe
def met_inside(answer: Answer, module: nn.Module, shape: tuple[int, ...]) -> Observation:
    """The device and dtype of what a layer meets, each time it runs."""
    met: list[str] = []
    spy = InputRecordingLayer(lambda x: met.append(f"{x.dtype} on {x.device.type}"))
    result = answer(nn.Sequential(module, spy), shape)
    return {"met": met, "returned": pairs(result)}


@make_sample_module_probe
def same_parameters(answer: Answer, module: nn.Module, shape: tuple[int, ...]) -> Observation:
    """Which parameters are other objects after a call."""
    before = dict(module.named_parameters())
    answer(module, shape)
    return {"replaced": rebound_tensor_names(before, dict(module.named_parameters()))}


def _in_use(module: nn.Module) -> None:
    """Put the first part into eval mode, and give each parameter a gradient."""
    next(module.children()).eval()
    fill_gradients(module, 7.0)


def listing(sentence: str, said: str) -> Requirement:
    """What is required of the list, and what is told where it is another."""
    return Requirement(sentence, make_returned_value_probe(pairs), {"returned": said})


basic = listing(
    "lists names and output shapes",
    "Your list is not that of the leaves as they run: a pair of the name in named_modules() and the shape that comes "
    "out.",
)
leaves = listing(
    "lists leaves only, at any depth",
    "Submodules stand in submodules here: those without submodules of their own, at any depth, make up the list.",
)
as_run = listing(
    "follows the order of running, and lists twice what runs twice",
    "A layer runs several times here, and stands in the list each time, in the order in which all of them run.",
)
alone = listing(
    "lists a module that is a leaf itself",
    'The module itself has no submodules here: the list is one pair, of the name "" and the shape that comes out.',
)
on_meta = Requirement(
    "runs the module once, on the meta device",
    met_inside,
    {"met": "What a layer in the module met is not one float32 input on the meta device."},
    given=("returned",),
)
left = Requirement(
    "leaves the module as it was",
    combine_probes_in_order(make_unchanged_module_probe(pairs, first=_in_use), same_parameters),
    {
        "left": "These things about the module are not as they were before your call.",
        "replaced": "These parameters are other objects than before your call: an optimizer would still hold the old "
        "ones.",
    },
    given=("returned",),
)


@exercise(
    tier="stretch",
    hints=(
        "A tensor on the meta device has a shape and no numbers. Copy the module there, then call the copy.",
        "`copy.deepcopy(module).to('meta')`, and a forward hook on each submodule that has no children.",
        "A hook gets module, inputs and output; pass the name as a default, as in call_counts.",
    ),
    spelled=on_module,
    seconds=60.0,  # the first number that is not computed on the meta device makes torch import its compiler
)
def shape_trace(draw: Draw) -> Iterator[Case]:
    """Find all shapes without computing a number."""
    a, b, c, n = draw.sizes(4, 2, 9)
    yield basic("a linear layer and a ReLU", 2, 3, [5, 2])
    yield basic("two layers", a, b, c, [n, a])
    yield basic("images", b, [n, b, 8, 6 + c])
    yield leaves("nested layers", a, b, c, [c, n, a])
    yield as_run("a layer that runs several times", a, draw.whole(2, 3), [n, a])
    yield as_run("one layer in two places", a, [n, a])
    yield alone("a linear layer", a, b, [n, a])
    yield alone("a layer without parameters", [n, a])
    yield on_meta("two layers", a, b, c, [n, a])
    yield left("layers with batch norm", a, b, c, [n, a])
    yield left("odd parts and a head", a, b, [n, a])
