"""The exercises of chapter 3: functions that look into modules and change them; two more modules hold the others.

The cases name modules, since a case is plain data; each is built anew, with known numbers, for each call.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case
from autograder.watching.probe import in_part

from . import _ch03_calls as calls
from . import _ch03_chance as chance
from . import _ch03_functions as functions
from . import _ch03_states as states
from . import _ch03_stretch
from ._ch03_hints import HINTS

__all__ = ["EXERCISES"]
EXERCISES = _ch03_stretch.EXERCISES

_DEPTH = "counts submodules at any depth"
_OFTEN = "counts what runs several times, and leaves out what does not run"
_CALLED = "calls the module itself, once"
_REMOVED = "removes its own hooks, and no others"
_RAISING = "removes its hooks when the module raises, and lets the error go on"


@EXERCISES.add(
    "call_counts",
    tier="core",
    hints=HINTS["call_counts"],
    spelled=calls.on_module,
    probe=in_part(
        {
            _CALLED: functions.called_once,
            _REMOVED: functions.hooks_gone,
            _RAISING: functions.hooks_gone_after_error,
        },
        otherwise=functions.calls_counted,
    ),
    tells={
        "ran": "Not all ran once: the module, with its own hooks, and each layer in it.",
        "left": "The module is not as it was before: look at its hooks.",
        "hooks": "The number of hooks on the module is not what it was before.",
        "afterwards": "The dict that you returned went on counting in a later call.",
        "error": "The error that a layer raises does not reach the caller.",
    },
)
def call_counts(draw: Draw) -> Iterator[Case]:
    """Watch a module run."""
    a, b, c, n = draw.sizes(4, 2, 6)
    yield Case("counts each layer that runs", "two layers", a, b, c, draw.normal(n, a))
    yield Case(_DEPTH, "nested layers", a, b, c, draw.normal(n, a))
    yield Case(_OFTEN, "a layer that runs several times", a, draw.whole(2, 4), draw.normal(n, a))
    yield Case(_OFTEN, "one layer in two places", a, draw.normal(n, a))
    yield Case(_CALLED, "two layers", a, b, c, draw.normal(n, a))
    yield Case(_REMOVED, "two layers", a, b, c, draw.normal(n, a))
    yield Case(_RAISING, "layers and a failing one", a, b, draw.normal(n, a))


_NORMAL = "draws normal numbers, each on its own"
_BIASES = "sets the biases to 0, where there are any"
_PLACE = "returns the module, with the same parameters and flags"
_OTHERS = "leaves all other layers as they were"
_CHANCE = "draws anew at each call, and never seeds"


@EXERCISES.add(
    "init_he",
    tier="core",
    hints=HINTS["init_he"],
    spelled=calls.on_module,
    probe=in_part(
        {
            _NORMAL: chance.he_kind,
            _BIASES: chance.he_biases,
            _PLACE: chance.he_in_place,
            _OTHERS: chance.he_others,
            _CHANCE: chance.he_chance,
        },
        otherwise=chance.he_spread,
    ),
    tells={
        "spread": "The std of a layer's weights is not sqrt(2 / in_features), or their mean is not 0.",
        "kind": "The weights are not normal numbers that are drawn each on its own.",
        "module": "What you return is not the module that you were given.",
        "parameters": "A parameter is another object than before; whoever has the old one trains what nobody uses.",
        "flags": "A requires_grad is no longer as it was.",
        "frozen_too": "A frozen layer keeps its old weights; it is to be drawn anew, too.",
        "others": "A layer that is no nn.Linear has other numbers than before.",
        "anew": "A second call draws the same numbers.",
        "global": "The same seed of torch's global generator gives other numbers.",
        "untouched": "After your call torch's global generator goes on from one place, whatever its seed was.",
    },
)
def init_he(draw: Draw) -> Iterator[Case]:
    """Start with weights of the right size."""
    a, b, c = draw.whole(90, 100), draw.whole(45, 55), draw.whole(65, 75)
    basic, depth = "gives the weights std sqrt(2 / in_features)", "finds layers at any depth, and the module itself"
    yield Case(basic, "two layers", a, b, c)
    yield Case(depth, "nested layers", b, c, a)
    yield Case(depth, "a linear layer", b, a)
    yield Case(_NORMAL, "two layers", c, b, a)
    yield Case(_BIASES, "layers of many kinds", b, c)
    yield Case(_PLACE, "two layers", a, b, c)
    yield Case(_OTHERS, "layers of many kinds", c, b)
    yield Case(_OTHERS, "layers with batch norm", a, b, c)
    yield Case(_CHANCE, "two layers", b, c, a)


_LOWER = "takes a lower loss"
_KEEPS = "returns best itself, as it was, when the loss is not lower"
_SNAPSHOT = "keeps a snapshot that does not follow the module"
_BACK = "brings the module back, buffers too"
_BOTH = "changes neither the module nor best"


@EXERCISES.add(
    "save_best",
    tier="core",
    hints=HINTS["save_best"],
    spelled=calls.saving,
    probe=in_part(
        {
            _KEEPS: states.keeps_best,
            _SNAPSHOT: states.keeps_snapshot,
            _BACK: states.brings_back,
            _BOTH: states.saving_leaves,
        },
        otherwise=states.saves,
    ),
    tells={
        "best_itself": "The loss is not lower, but what you return is not `best` itself.",
        "best": "`best` is no longer as it was.",
        "snapshot": "When the module changed afterwards, the snapshot changed as well.",
        "restored": "The module has loaded the snapshot, but computes something else than before.",
        "left": "The module is no longer as it was.",
    },
)
def save_best(draw: Draw) -> Iterator[Case]:
    """Remember the best state."""
    a, b, c, n = draw.sizes(4, 2, 6)
    low, high = round(draw.real(0.1, 0.4), 3), round(draw.real(0.6, 0.9), 3)
    basic = "saves the first loss, with the state"
    yield Case(basic, "a linear layer", a, b, None, high)
    yield Case(basic, "layers with batch norm", a, b, c, None, 0.0)
    yield Case(_LOWER, "two layers", a, b, c, high, low)
    yield Case(_LOWER, "a linear layer", b, a, 0.0, -low)
    yield Case(_KEEPS, "a linear layer", a, b, low, high)
    yield Case(_KEEPS, "a linear layer", a, b, low, low)
    yield Case(_KEEPS, "a linear layer", a, b, 0.0, low)
    yield Case(_SNAPSHOT, "layers with batch norm", a, b, c, draw.normal(n, a))
    yield Case(_BACK, "layers with batch norm", a, b, c, draw.normal(n, a))
    yield Case(_BOTH, "layers with batch norm", a, b, c, high, low)


_NAMES = "tells the names that only one of the two has, sorted"
_SHAPES = "skips unequal shapes, tells them, and loads the rest"
_BUFFERS = "loads buffers too"
_OBJECTS = "keeps the module's own tensors, with dtype and flags"
_APART = "leaves state as it was, and shares no memory with it"


@EXERCISES.add(
    "load_partial",
    tier="core",
    hints=HINTS["load_partial"],
    spelled=calls.on_module,
    probe=in_part(
        {_NAMES: states.tells, _BUFFERS: states.loads, _OBJECTS: states.keeps_objects, _APART: states.keeps_apart},
        otherwise=states.loads_and_tells,
    ),
    tells={
        "loaded": "The numbers of the module afterwards are not right.",
        "replaced": "A parameter or buffer is another object than before.",
        "kinds": "A tensor of the module has another dtype or flag than before.",
        "state": "The state that you were given has changed.",
        "follows": "When the state changes later, the module changes with it: they share memory.",
    },
)
def load_partial(draw: Draw) -> Iterator[Case]:
    """Load what fits."""
    a, b, c = draw.sizes(3, 2, 6)
    yield Case("loads a state that fits", "a linear layer", a, b, _linear_state(draw, "", a, b))
    two = _linear_state(draw, "2.", b, c)
    yield Case(_NAMES, "two layers", a, b, c, two | {"head.weight": draw.normal(c), "a": draw.normal(1)})
    yield Case(_NAMES, "two layers", a, b, c, _linear_state(draw, "0.", a, b))
    yield Case(_NAMES, "two layers", a, b, c, _linear_state(draw, "3.", a, b))
    yield Case(_SHAPES, "two layers", a, b, c, _linear_state(draw, "0.", a, b) | _linear_state(draw, "2.", b, c + 1))
    yield Case(_SHAPES, "a linear layer", a, b, {"weight": draw.normal(b, a), "bias": draw.normal(1)})
    yield Case(_SHAPES, "a linear layer", a, b, {"weight": draw.normal(a, b), "bias": draw.normal(b)})
    norm = {"1.running_mean": draw.normal(b), "1.running_var": draw.uniform(b), "1.weight": draw.normal(b)}
    yield Case(_BUFFERS, "layers with batch norm", a, b, c, norm | {"1.num_batches_tracked": torch.tensor(7)})
    wide = {name: tensor.double() for name, tensor in norm.items()}
    yield Case(_OBJECTS, "layers with batch norm", a, b, c, wide | _linear_state(draw, "0.", a, b))
    yield Case(_APART, "layers with batch norm", a, b, c, norm | {"x": draw.normal(2)})


def _linear_state(draw: Draw, prefix: str, a: int, b: int) -> dict[str, Tensor]:
    return {f"{prefix}weight": draw.normal(b, a), f"{prefix}bias": draw.normal(b)}


_THAWED = "makes the parameters that fit trainable again"
_TOLD = "returns the names left trainable, in order"
_REST = "puts frozen parts into eval mode, with everything inside"
_STILL = "keeps the statistics of frozen parts still"
_CALM = "leaves the mode of all other parts"
_UNTOUCHED = "changes no numbers, no .grad and no objects"


@EXERCISES.add(
    "freeze_all_but",
    tier="core",
    hints=HINTS["freeze_all_but"],
    spelled=calls.freezing,
    probe=in_part(
        {
            _THAWED: functions.thawed,
            _TOLD: functions.names_told,
            _REST: functions.at_rest,
            _STILL: functions.statistics_still,
            _CALM: functions.calm_stays,
            _UNTOUCHED: functions.freezing_leaves,
        },
        otherwise=functions.frozen,
    ),
    tells={
        "flags": "The requires_grad of some parameter is not right.",
        "modes": "Some module is not in the mode that it should be in (True: training).",
        "moved": "In a training step, the statistics of a frozen part have moved.",
        "left": "Something about the module has changed that should not.",
        "replaced": "A parameter is another object than before.",
    },
)
def freeze_all_but(draw: Draw) -> Iterator[Case]:
    """Train the head alone."""
    a, b, c, n = draw.sizes(4, 2, 6)
    basic = "freezes the parameters that do not fit"
    yield Case(basic, "a body and a head", a, b, c, "head.weight")
    yield Case(basic, "a body and a head", a, b, c, "head.*")
    yield Case(basic, "two layers", a, b, c, "*.bias")
    yield Case(_THAWED, "a body and a head", a, b, c, "head.*")
    yield Case(_THAWED, "nested layers", a, b, c, "encoder.[0-9].weight")
    yield Case(_TOLD, "nested layers", a, b, c, "*e*.weight")
    yield Case(_TOLD, "a body and a head", a, b, c, "body.1.*")
    yield Case(_REST, "a body and a head", a, b, c, "head.*")
    yield Case(_REST, "a body and a head", a, b, c, "nothing")
    yield Case(_STILL, "a body and a head", a, b, c, "head.*", draw.normal(n, a))
    yield Case(_STILL, "a body and a head", a, b, c, "body.1.*", draw.normal(n, a))
    yield Case(_CALM, "a body and a head", a, b, c, "body.0.*")
    yield Case(_UNTOUCHED, "a body and a head", a, b, c, "head.*")
