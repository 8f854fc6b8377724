"""`load_partial`: load what fits of a state into a module, and tell what does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

import torch
from torch import Tensor, nn

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, Requirement, exercise
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import Answer, see
from autograder.watching.probes.given_modules import (
    copies,
    makes,
    moved,
    numbers,
    on_sample,
    replaced_in,
    tensors,
)

from ._calls import on_module


def held(module: nn.Module) -> Plain:
    """The numbers of a module."""
    return numbers(dict(sorted(module.state_dict().items())))


@on_sample
def names_and_numbers(answer: Answer, module: nn.Module, state: dict[str, Tensor]) -> Observation:
    """The names that are returned, whether they are sorted, and the numbers of the module afterwards."""
    names = see(answer(module, state))
    in_order = not is_names(names) or names == sorted(names)
    told = names if in_order else sorted(names)
    return {"returned": told, "sorted": in_order, "loaded": held(module)}


def is_names(result: Plain) -> TypeGuard[list[str]]:
    """Whether a result is a list of names, which can be in order."""
    return isinstance(result, list) and all(isinstance(name, str) for name in result)


@on_sample
def same_objects(answer: Answer, module: nn.Module, state: dict[str, Tensor]) -> Observation:
    """Which parameters and buffers are others than before, and their dtypes and flags."""
    next(iter(module.parameters())).requires_grad_(False)
    before = tensors(module)
    answer(module, state)
    after = tensors(module)
    kinds = {name: [str(t.dtype), t.requires_grad, t.is_leaf] for name, t in after.items()}
    return {"replaced": replaced_in(before, after), "kinds": kinds, "loaded": held(module)}


@on_sample
def kept_apart(answer: Answer, module: nn.Module, state: dict[str, Tensor]) -> Observation:
    """Whether state is as it was, and whether the module follows when it changes later."""
    answer(module, state)
    before, seen = copies(module.state_dict()), numbers(state)
    for tensor in state.values():
        tensor.add_(1)
    return {"state": seen, "follows": moved(before, module.state_dict())}


LOADED = {
    "loaded": "The numbers of the module afterwards are not right: what fits in name and shape is to be loaded, all "
    "else stays as it was."
}
SORTED = {"sorted": "The names that you return are the right ones, but not sorted."}

basic = Requirement("loads a state that fits", names_and_numbers, LOADED)
names = Requirement(
    "tells the names that only one of the two has, sorted",
    names_and_numbers,
    SORTED
    | {"returned": "You do not return the names that only the module has, and those that only state has: these alone."},
    given=("loaded",),
)
unequal = Requirement(
    "skips unequal shapes, tells them, and loads the rest",
    names_and_numbers,
    LOADED
    | {
        "returned": "You do not return the names whose shapes are unequal, and with them the names that only one of "
        "the two has: these alone."
    },
    given=("sorted",),
)
buffers = Requirement("loads buffers too", makes(loaded=held), LOADED)
objects = Requirement(
    "keeps the module's own tensors, with dtype and flags",
    same_objects,
    {
        "replaced": "A parameter or buffer is another object than before.",
        "kinds": "A tensor of the module has another dtype or flag than before.",
        "loaded": "The tensors of state are float64 here, and fit in name and shape: their numbers are to be loaded.",
    },
    given=("loaded",),
)
apart = Requirement(
    "leaves state as it was, and shares no memory with it",
    kept_apart,
    {
        "state": "The state that you were given has changed.",
        "follows": "When the state changes later, the module changes with it: they share memory.",
    },
)


@exercise(
    tier="core",
    hints=(
        "Compare names and shapes yourself first; `strict=False` forgives names, but no shapes.",
        "Gather the entries that fit, load them with `strict=False`, and see which names of both are left.",
        "The names of both together: `own.keys() | state.keys()`. Take away those loaded, and sort.",
    ),
    spelled=on_module,
)
def load_partial(draw: Draw) -> Iterator[Case]:
    """Load what fits."""
    a, b, c = draw.sizes(3, 2, 6)

    def linear(prefix: str, a: int, b: int) -> dict[str, Tensor]:
        return {f"{prefix}weight": draw.normal(b, a), f"{prefix}bias": draw.normal(b)}

    yield basic("a linear layer", a, b, linear("", a, b))
    two = linear("2.", b, c)
    yield names("two layers", a, b, c, two | {"head.weight": draw.normal(c), "a": draw.normal(1)})
    yield names("two layers", a, b, c, linear("0.", a, b))
    yield names("two layers", a, b, c, linear("3.", a, b))
    shared = linear("", b, b)
    yield names("one layer in two places", b, {f"{place}.{name}": shared[name] for place in (0, 2) for name in shared})
    yield unequal("a linear layer", 2, 1, {"weight": torch.ones(1, 2), "bias": torch.ones(9)})
    yield unequal("two layers", a, b, c, linear("0.", a, b) | linear("2.", b, c + 1))
    yield unequal("a linear layer", a, b, {"weight": draw.normal(b, a), "bias": draw.normal(1)})
    yield unequal("a linear layer", a, b, {"weight": draw.normal(a, b), "bias": draw.normal(b)})
    norm = {"1.running_mean": draw.normal(b), "1.running_var": draw.uniform(b), "1.weight": draw.normal(b)}
    yield buffers("layers with batch norm", a, b, c, norm | {"1.num_batches_tracked": torch.tensor(7)})
    wide = {name: tensor.double() for name, tensor in norm.items()}
    yield objects("layers with batch norm", a, b, c, wide | linear("0.", a, b))
    yield apart("layers with batch norm", a, b, c, norm | {"x": draw.normal(2)})
