"""`call_counts`: how often each submodule runs, counted by hooks."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import Answer, names_of_changed_values, snapshot_value
from autograder.exercises.probes.functions_that_take_modules import (
    count_hooks,
    make_returned_value_probe,
    make_sample_module_probe,
    module_state,
)
from autograder.exercises.probes.sample_modules import InputRecordingLayer
from autograder.exercises.seeded_draw import Draw

from .._ch03_calls import on_module


def counts(result: object) -> Plain:
    """The counts, by name."""
    return dict(sorted(result.items())) if isinstance(result, dict) else snapshot_value(result)


@make_sample_module_probe
def what_ran(answer: Answer, module: nn.Sequential, x: Tensor) -> Observation:
    """How often the module's own hooks ran, and how often a layer in it did; and what arrived there."""
    ran: list[str] = []
    seen: list[float] = []

    def note(arrived: Tensor) -> None:
        ran.append("layer")
        seen.append(float(arrived.detach().sum()))

    module.register_forward_hook(lambda part, *_: ran.append("module" if part is module else "a copy of the module"))
    module.append(InputRecordingLayer(note))
    answer(module, x)
    return {"ran": ran, "arrived": seen[:1]}


@make_sample_module_probe
def left_behind(answer: Answer, module: nn.Module, x: Tensor) -> Observation:
    """What the function leaves behind, the hooks of others included; and the counts after other calls of both."""
    next(module.children()).register_forward_hook(lambda *_: None)
    module.register_forward_pre_hook(lambda *_: None)
    before = module_state(module)
    result = answer(module, x)
    seen: Observation = {"left": names_of_changed_values(before, module_state(module)), "hooks": count_hooks(module)}
    module(x)
    answer(nn.Sequential(module), x)
    return seen | {"afterwards": counts(result)}


@make_sample_module_probe
def left_by_error(answer: Answer, module: nn.Module, x: Tensor) -> Observation:
    """Whether the error of a layer goes on, what is left behind then, and what the layer before it had computed."""
    arrived: list[float] = []
    next(module.children()).register_forward_hook(lambda part, args, out: arrived.append(float(out.detach().sum())))
    before, seen = module_state(module), "nothing"
    try:
        answer(module, x)
    except ValueError as error:
        seen = type(error).__name__
    return {
        "error": seen,
        "left": names_of_changed_values(before, module_state(module)),
        "hooks": count_hooks(module),
        "arrived": arrived,
    }


ARRIVED = {"arrived": "Within your call, a layer is given other numbers than when the module is called with x."}
LEFT = {
    "left": "These things about the module are not as they were before your call.",
    "hooks": "The number of hooks on the module is not what it was before.",
}


def counting(sentence: str, said: str) -> Requirement:
    """What is required of the counts, and what is told where they are others."""
    return Requirement(sentence, make_returned_value_probe(counts), {"returned": said})


basic = counting(
    "counts each layer that runs",
    "Your counts are not those of the layers that run, each under its name in named_modules(), without the module "
    "itself.",
)
depth = counting(
    "counts submodules at any depth",
    "Submodules stand in submodules here, and each that runs is counted, under the whole path that named_modules() "
    "gives.",
)
often = counting(
    "counts what runs several times, and leaves out what does not run",
    "Some layer runs several times here, or not at all: its count is that of its runs, and without any it is left out.",
)
called = Requirement(
    "calls the module itself, once",
    what_ran,
    ARRIVED | {"ran": "Not all ran once: the module, with its own hooks, and each layer in it."},
    given=("arrived",),
)
removed = Requirement(
    "removes its own hooks, and no others",
    left_behind,
    {
        **LEFT,
        "afterwards": "A later call, of the module or of your function, changes the dict that you returned before.",
    },
)
raising = Requirement(
    "removes its hooks when the module raises, and lets the error go on",
    left_by_error,
    ARRIVED | LEFT | {"error": "The error that a layer raises does not reach the caller."},
    given=("arrived",),
)


@exercise(
    tier="core",
    hints=(
        "A forward hook on each submodule can count. Where do the names come from?",
        "A function made in a loop sees the loop's variable later: pass `name=name` as a default.",
        "Keep the handles, and call `remove()` on each in a `finally`.",
    ),
    spelled=on_module,
)
def call_counts(draw: Draw) -> Iterator[Case]:
    """Watch a module run."""
    a, b, c, n = draw.sizes(4, 2, 6)
    yield basic("a linear layer and a ReLU", 2, 3, draw.normal(n, 2))
    yield basic("two layers", a, b, c, draw.normal(n, a))
    yield basic("many layers", a, draw.whole(3, 60), draw.normal(n, a))
    yield basic("many layers", a, draw.whole(61, 120), draw.normal(n, a))
    yield depth("nested layers", a, b, c, draw.normal(n, a))
    yield depth("many layers inside", a, draw.whole(3, 60), draw.normal(n, a))
    yield often("a layer that runs several times", a, draw.whole(2, 30), draw.normal(n, a))
    yield often("one layer in two places", a, draw.normal(n, a))
    yield called("two layers", a, b, c, draw.normal(n, a))
    yield removed("many layers", a, draw.whole(3, 60), draw.normal(n, a))
    yield removed("a layer that runs several times", a, 2, draw.normal(n, a))
    yield raising("layers and a failing one", a, b, draw.normal(n, a))
    yield often("a layer made on the way", a, b, draw.normal(n, a))
