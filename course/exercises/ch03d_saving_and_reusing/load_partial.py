"""`load_partial`: load what fits of a state into a module, and tell what does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

import torch
from torch import Tensor, nn

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import Answer, names_of_changed_values, snapshot_value
from autograder.exercises.probes.functions_that_take_modules import (
    changed_tensors,
    detached_copies,
    make_sample_module_probe,
    named_tensors,
    rebound_tensor_names,
    tensor_values,
)
from autograder.exercises.seeded_draw import Draw

from .._ch03_calls import on_module


def taken(module: nn.Module, before: dict[str, Tensor], state: dict[str, Tensor]) -> Observation:
    """Which tensors of the module hold the numbers of state (`loaded`), and which neither these nor their own (`odd`).

    `before` and `state` are copies from before the call. A float64 entry is held as what its dtype makes of it.
    """
    loaded, odd = [], []
    for name, tensor in module.state_dict().items():
        given = state.get(name)
        if given is not None and given.shape == tensor.shape and torch.equal(given.to(tensor.dtype), tensor):
            loaded.append(name)
        elif not torch.equal(before[name], tensor):
            odd.append(name)
    # The numbers themselves hang on fresh input; the names before them say what is wrong with these.
    return {"loaded": loaded, "odd": odd, "numbers": tensor_values(dict(sorted(module.state_dict().items())))}


def call(answer: Answer, module: nn.Module, state: dict[str, Tensor]) -> tuple[object, Observation]:
    """Call the answer; return its result, and what the module has taken from the state."""
    before, given = detached_copies(module.state_dict()), detached_copies(state)
    result = answer(module, state)
    return result, taken(module, before, given)


@make_sample_module_probe
def names_and_numbers(answer: Answer, module: nn.Module, state: dict[str, Tensor]) -> Observation:
    """The names that are returned, whether they are sorted, and what the module has taken."""
    result, seen = call(answer, module, state)
    names = snapshot_value(result)
    in_order = not is_names(names) or names == sorted(names)
    told = names if in_order else sorted(names)
    return {"returned": told, "sorted": in_order} | seen


def is_names(result: Plain) -> TypeGuard[list[str]]:
    """Whether a result is a list of names, which can be in order."""
    return isinstance(result, list) and all(isinstance(name, str) for name in result)


@make_sample_module_probe
def same_objects(answer: Answer, module: nn.Module, state: dict[str, Tensor]) -> Observation:
    """Which parameters and buffers are others than before, and their dtypes and flags."""
    next(iter(module.parameters())).requires_grad_(False)
    before = named_tensors(module)
    kinds = kinds_of(before)
    _, seen = call(answer, module, state)
    after = named_tensors(module)
    return {
        "replaced": rebound_tensor_names(before, after),
        "kinds": names_of_changed_values(kinds, kinds_of(after)),
    } | seen


def kinds_of(held: dict[str, Tensor]) -> dict[str, Plain]:
    """The dtype and flags of tensors, by name."""
    return {name: [str(t.dtype), t.requires_grad, t.is_leaf] for name, t in held.items()}


@make_sample_module_probe
def kept_apart(answer: Answer, module: nn.Module, state: dict[str, Tensor]) -> Observation:
    """What of state is not as it was, to the last bit and in dtype, and what of the module follows when it changes."""
    entries = dict(state)
    was = tensor_values(entries)
    answer(module, state)
    before, names = detached_copies(module.state_dict()), list(entries.keys() ^ state.keys())
    seen = [*names, *rebound_tensor_names(entries, state), *names_of_changed_values(was, tensor_values(entries))]
    for tensor in entries.values():
        tensor.add_(1)
    return {"state": sorted(set(seen)), "follows": changed_tensors(before, module.state_dict())}


LOADED = {
    "loaded": "These entries of state are in the module after your call. It should be all that fit in name and shape, "
    "and no others.",
    "odd": "These tensors of the module hold other numbers after your call, and not those of the entry of their name.",
    "numbers": "The numbers of the module after your call are not what they should be.",
}
SORTED = {"sorted": "The names that you return are the right ones, but not sorted."}

basic = Requirement(
    "loads a state that fits",
    names_and_numbers,
    LOADED | {"returned:length": "All that is in state fits here, and nothing is missing: no name is to be returned."},
)
names = Requirement(
    "tells the names that only one of the two has, sorted",
    names_and_numbers,
    SORTED
    | LOADED
    | {
        "returned": "What you return is not what is asked for: the names that only the module has, together with those "
        "that only state has."
    },
    given=("loaded", "odd", "numbers"),
)
unequal = Requirement(
    "skips unequal shapes, tells them, and loads the rest",
    names_and_numbers,
    LOADED
    | SORTED
    | {
        "returned": "What you return is not what is asked for: the names whose shapes are unequal, together with those "
        "that only one of the two has."
    },
    given=("sorted", "numbers"),
)
buffers = Requirement(
    "loads buffers too", make_sample_module_probe(lambda answer, module, state: call(answer, module, state)[1]), LOADED
)
objects = Requirement(
    "keeps the module's own tensors, with dtype and flags",
    same_objects,
    {
        "replaced": "These parameters or buffers are other objects than before.",
        "kinds": "These tensors of the module have another dtype than before, or another requires_grad.",
        "loaded": "The tensors of state are float64 here, and these are in the module after your call. It should be "
        "all that fit in name and shape.",
        "odd": LOADED["odd"],
    },
    given=("loaded", "odd", "numbers"),
)
apart = Requirement(
    "leaves state as it was, and shares no memory with it",
    kept_apart,
    {
        "state": "The state that you were given is not as it was: these entries are gone, new, or other tensors, or "
        "hold something else.",
        "follows": "When the state changes later, these tensors of the module change with it: they share memory.",
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
    yield names("two layers", a, b, c, linear("", a, b))
    yield names("a linear layer", a, b, linear("module.", a, b))
    yield names("a linear layer", a, b, linear("", a, b) | {"steps": torch.tensor(3.0)})
    yield names("odd parts and a head", a, b, linear("head.0.", a, b) | {"places.table": draw.normal(a)})
    shared = linear("", b, b)
    yield names("one layer in two places", b, {f"{place}.{name}": shared[name] for place in (0, 2) for name in shared})
    yield unequal("a linear layer", 2, 1, {"weight": torch.ones(1, 2), "bias": torch.ones(9)})
    yield unequal("two layers", a, b, c, linear("0.", a, b) | linear("2.", b, c + 1))
    yield unequal("a linear layer", a, b, {"weight": draw.normal(b, a), "bias": draw.normal(1)})
    yield unequal("a linear layer", a, b, {"weight": draw.normal(a, b), "bias": draw.normal(b)})
    yield unequal("layers with batch norm", a, b, c, {"1.num_batches_tracked": torch.tensor([3])})
    yield names("layers with batch norm", a, b, c, linear("0.", a, b) | {"1.weight": draw.normal(b)})
    norm = {"1.running_mean": draw.normal(b), "1.running_var": draw.uniform(b), "1.weight": draw.normal(b)}
    yield buffers("layers with batch norm", a, b, c, norm | {"1.num_batches_tracked": torch.tensor(7)})
    wide = {name: tensor.double() for name, tensor in norm.items()}
    yield objects("layers with batch norm", a, b, c, wide | linear("0.", a, b))
    yield apart("layers with batch norm", a, b, c, norm | {"x": draw.normal(2), "0.bias": draw.normal(b).double()})
