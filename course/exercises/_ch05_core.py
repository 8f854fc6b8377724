"""The exercises of chapter 5 about devices and measuring: where tensors are, how long work takes, what it holds."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, ExerciseSet
from autograder.watching.probe import in_part

from . import _ch05_calls as calls
from . import _ch05_devices as devices
from . import _ch05_measures as measures
from ._ch05_hints import HINTS
from ._ch05_models import IN_EVAL

EXERCISES = ExerciseSet("ch05_gpu_amp")


def eighths(draw: Draw, *shape: int) -> Tensor:
    """Numbers between -1 and 1, in eighths and never 0: products of a few of them are exact in 16 bits too."""
    return (draw.ints(-8, 8, *shape) + 0.5).float() / 8


_BOTH, _NONE = "cuda and mps there", "only the CPU there"


@EXERCISES.add(
    "pick_device",
    tier="warm-up",
    hints=HINTS["pick_device"],
    probe=devices.picked,
    spelled=calls.picking,
)
def pick_device(draw: Draw) -> Iterator[Case]:
    """Choose a device."""
    yield Case("gives the CPU where there is nothing else", None, [_NONE])
    yield Case("takes cuda where it is there", None, ["cuda there"])
    yield Case("takes cuda where it is there", None, [_BOTH])
    yield Case("takes mps where there is no cuda", None, ["mps there"])
    for name in ("cpu", f"cuda:{draw.whole(1, 99)}"):
        yield Case("takes the device that it is asked for", name, [_BOTH, _NONE])
    yield Case("asks torch anew at each call", None, [_BOTH, _NONE, "mps there"])


_DEEP, _NAMED = "goes down to any depth", "keeps named tuples"
_OTHERS, _NEW = "keeps everything else as it is", "leaves obj as it was, and makes new containers"
_PLACES = {
    "moves a tensor": ("a tensor",),
    "moves what is in lists and tuples": ("[x, y]", "(x, y)", "(x,)"),
    "moves what is in dicts, and keeps their order": ("{'y': y, 'a': x}", "{2: x, 1: y}"),
    _DEEP: ("[{'x': x}, (y, [x])]", "{'a': {'b': {'c': [x, (y,)]}}}"),
    _NAMED: ("Point(place=x, label=y)", "[Point(place=[x], label=y)]"),
    _OTHERS: (
        "[x, 'text', None, 3, range(3)]",
        "{'x': x, 'name': 'ab', 'flag': True, 'rate': 0.5}",
        "{'x': [], 'y': (), 'z': {}}",
        "range(3)",
    ),
    _NEW: ("[x, y]", "{'y': y, 'a': x}", "{'a': {'b': {'c': [x, (y,)]}}}", "[{'x': x}, (y, [x])]"),
}


@EXERCISES.add(
    "to_device",
    tier="core",
    hints=HINTS["to_device"],
    spelled=calls.moving,
    probe=in_part({_NEW: devices.moved("left", "new")}, otherwise=devices.moved("returned")),
    tells={
        "left": "After your function, obj itself is not what it was.",
        "new": "A list or dict in your result is one of those that obj holds: whoever changes one changes the other.",
    },
)
def to_device(draw: Draw) -> Iterator[Case]:
    """Move a nest of tensors."""
    for requirement, names in _PLACES.items():
        for name in names:
            n, d = draw.sizes(2, 1, 4)
            yield Case(requirement, name, draw.normal(n, d), draw.ints(0, 9, n), "meta")
    x, y = eighths(draw, 2), draw.ints(0, 9, 3)
    yield Case("moves a tensor", "a tensor", x, y, torch.device("meta"))
    yield Case("moves what is in lists and tuples", "(x, y)", x, y, torch.device("cpu"))


_ELSEWHERE = "moves both parts of the batch to the device"
_CLEARS = "clears old gradients, and leaves those of this batch"
_LOSS = "returns the loss from before the step, as a scalar tensor without a record"
_WAITS, _ONCE = "asks for no value", "calls the model and the criterion once, prediction first"
_STEP_PARTS = {
    _ELSEWHERE: devices.step_elsewhere,
    _CLEARS: devices.one_step("held", "grads", warm=True),
    _LOSS: devices.one_step("returned"),
    _WAITS: devices.no_value_needed,
    _ONCE: devices.one_step("forwards", "criterion", "inputs"),
}


@EXERCISES.add(
    "train_step_on",
    tier="core",
    hints=HINTS["train_step_on"],
    spelled=calls.stepping,
    probe=in_part(_STEP_PARTS, otherwise=devices.one_step("held")),
    tells={
        "held": "After your step, the parameters are not what they should be.",
        "grads": "After your step, .grad does not hold the gradient of this batch alone.",
        "model_met": "The model was called with a tensor on another device than `device`, or not called once.",
        "criterion_met": "The criterion met tensors that are not both on `device`, or was not called once.",
        "waits": "Your step asks for the value of a tensor; a GPU would have to be waited for.",
        "elsewhere": "On the meta device, your step does not return a tensor on that device.",
        "forwards": "The model is to be called once: `model(x)`.",
        "criterion": "The criterion is to be called once, with the prediction and then the targets.",
        "inputs": "Your step changes the batch itself.",
    },
)
def train_step_on(draw: Draw) -> Iterator[Case]:
    """Do a step of training on any device."""
    n, d = draw.sizes(2, 3, 6)

    def batch() -> tuple[Tensor, Tensor]:
        return eighths(draw, n, d), eighths(draw, n, 1)

    yield Case("moves the parameters against the gradient", "cpu", "linear", "SGD", *batch())
    yield Case("moves the parameters against the gradient", torch.device("cpu"), "two layers", "SGD", *batch())
    for there_already in ([], ["x"], ["y"], ["x", "y"]):
        yield Case(_ELSEWHERE, "meta", "two layers", "SGD", there_already, *batch())
    yield Case(_ELSEWHERE, torch.device("meta"), "linear", "SGD with momentum", [], *batch())
    yield Case(_CLEARS, "cpu", "two layers", "SGD with momentum", *batch())
    yield Case(_CLEARS, "cpu", "linear", "Adam", *batch())
    yield Case(_LOSS, "cpu", "linear", "SGD", *batch())
    yield Case(_WAITS, "cpu", "two layers", "SGD", *batch())
    yield Case(_ONCE, "cpu", "two layers", "SGD", *batch())


_MIDDLE, _WARM = "gives the median of several calls", "leaves the warm-up out"
_DONE, _BEFORE = "waits until the work of a call is done", "begins with no work left over"
_CALLS = "calls fn as often as asked for"


@EXERCISES.add(
    "bench",
    tier="core",
    hints=HINTS["bench"],
    spelled=calls.timing,
    probe=in_part(
        {_CALLS: measures.benched("calls"), _DONE: measures.benched("waits", "returned")},
        otherwise=measures.benched("returned"),
    ),
    tells={
        "calls": "fn is to be called `warmup` times, and then `iters` times.",
        "waits": "You never call sync: nobody waits for the work.",
    },
)
def bench(draw: Draw) -> Iterator[Case]:
    """Measure how long a call takes."""

    def times(count: int, low: int = 1, high: int = 30) -> list[float]:
        """Different times, in quarters of a second, in no order."""
        return [quarters / 4 for quarters in draw.sizes(count, low, high)]

    def spread(count: int) -> list[float]:
        """Times of which one is much longer, so that their mean is not their median."""
        return [*times(count - 1), draw.whole(50, 90) * 1.0]

    yield Case("times one call", "synchronous", times(1), 0, 1)
    yield Case(_MIDDLE, "synchronous", spread(5), 0, 5)
    yield Case(_MIDDLE, "synchronous", spread(4), 0, 4)
    for slow in (draw.whole(20, 40), draw.whole(20, 40)):
        yield Case(_WARM, "synchronous", [slow * 1.0] * 4 + spread(3), 4, 3)
    yield Case(_DONE, "asynchronous", spread(3), 0, 3)
    yield Case(_DONE, "asynchronous", spread(4), 0, 4)
    yield Case(_BEFORE, "asynchronous", [draw.whole(20, 40) * 1.0] * 2 + times(1), 2, 1)
    yield Case(_BEFORE, "asynchronous", [draw.whole(20, 40) * 1.0] * 3 + spread(2), 3, 2)
    yield Case(_CALLS, "asynchronous", times(2), draw.whole(2, 5), draw.whole(6, 9))


_SAVED, _ONE_PIECE = "counts what the model saves for backward", "counts each piece of memory once, and whole"
_OWN, _AS_IT_WAS = "leaves parameters and buffers out of the activations", "leaves model and batch as they were"
_PLAN_PARTS = {
    "counts gradients of what is trained": measures.planned("gradients"),
    "knows the state of each optimizer": measures.planned("optimizer"),
    _SAVED: measures.planned("activations"),
    _ONE_PIECE: measures.planned("activations"),
    _OWN: measures.planned("activations"),
    _AS_IT_WAS: measures.plan_left,
}


@EXERCISES.add(
    "memory_plan",
    tier="core",
    hints=HINTS["memory_plan"],
    spelled=calls.planning,
    probe=in_part(_PLAN_PARTS, otherwise=measures.planned("parameters")),
    tells={
        "model": "After your plan, a parameter or buffer of the model is not what it was.",
        "grads": "After your plan, a .grad of the model is not what it was.",
        "mode": "After your plan, the model is in another mode: train mode is True, eval mode is False.",
        "inputs": "Your plan changes the batch itself.",
    },
)
def memory_plan(draw: Draw) -> Iterator[Case]:
    """Plan the memory of a training step."""
    half, single, double = torch.bfloat16, torch.float32, torch.float64

    def case(requirement: str, model: str, optimizer: str, dtype: torch.dtype) -> Case:
        n, d = draw.sizes(2, 3, 7)
        return Case(requirement, model, eighths(draw, n, d), optimizer, dtype)

    yield case("counts each parameter once", "linear", "sgd", single)
    yield case("counts each parameter once", "first layer frozen", "adam", half)
    yield case("counts each parameter once", "one weight in two layers", "sgd", double)
    yield case("counts each parameter once", "with a buffer", "momentum", single)
    yield case("counts gradients of what is trained", "linear", "sgd", half)
    yield case("counts gradients of what is trained", "first layer frozen", "sgd", double)
    for name, model, dtype in (("adam", "two layers", single), ("momentum", "linear", half), ("sgd", "linear", double)):
        yield case("knows the state of each optimizer", model, name, dtype)
    yield case("knows the state of each optimizer", "first layer frozen", "adam", half)
    yield case(_SAVED, "three layers", "sgd", single)
    yield case(_SAVED, "three layers", "adam", half)
    yield case(_SAVED, "with sin(exp(x)) in train mode", "sgd", double)
    yield case(_SAVED, f"with sin(exp(x)) in train mode{IN_EVAL}", "sgd", single)
    yield case(_SAVED, "first layer frozen", "momentum", half)
    yield case(_ONE_PIECE, "with squares", "sgd", double)
    yield case(_ONE_PIECE, "with halves", "sgd", single)
    yield case(_OWN, "with a buffer", "sgd", half)
    yield case(_OWN, "one weight in two layers", "sgd", single)
    yield case(_AS_IT_WAS, "two layers", "sgd", half)
    yield case(_AS_IT_WAS, f"with sin(exp(x)) in train mode{IN_EVAL}", "sgd", single)
