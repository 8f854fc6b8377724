"""Probes of classes of modules: what a new module registers, computes and carries along.

A case's arguments make the module, and `x` (or `batches`) is what it is called on; "nn.Tanh" among the arguments
stands for that class. `on_new` makes a probe of whatever looks at such a module:

    order = Requirement("lists two parameters", on_new(lambda module, x: {"count": len(list(module.parameters()))}))
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from autograder.exercises.exercise import Case, Probe
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.patched_names import replaced_for
from autograder.exercises.probe import Answer, changed_inputs, copy_of, outline, see, values
from autograder.exercises.probes.random_results import by_known_chance
from autograder.exercises.probes.sample_modules import settle
from autograder.exercises.probes.tensors import weighted

INPUTS = ("x", "batches")  # what a new module is called on; all other arguments make it


def made(answer: Answer, case: Case) -> tuple[Any, Any]:
    """A new module of a class, and what it is to be called on."""
    options = copy_of(case.kwargs)
    inputs = [options.pop(key) for key in INPUTS if key in options]
    return make(answer, *arguments(case), **options), inputs[0] if inputs else None


def make(answer: Answer, *args: Any, **options: Any) -> Any:
    """Call a class of modules; raises TypeError where that makes something else."""
    module = answer(*args, **options)
    if not isinstance(module, nn.Module):
        raise TypeError(f"expected an nn.Module, found {type(module).__name__}")
    return module


def arguments(case: Case) -> list[Any]:
    """Copies of a case's arguments, by place; a class of torch.nn travels as its name."""

    def meant(arg: Any) -> Any:
        return getattr(nn, arg[3:]) if isinstance(arg, str) and arg.startswith("nn.") else arg

    return [meant(arg) for arg in copy_of(case.args)]


def on_new(look: Callable[..., Observation]) -> Probe:
    """A probe that makes a module and looks at it: `look(module, x, *arguments)`."""
    return by_known_chance(lambda answer, case: look(*made(answer, case), *arguments(case)))


# --- what a module computes


returns = on_new(lambda module, x, *_: {"returned": values(module(x))})
gives_shape = on_new(lambda module, x, *_: {"returned": outline(module(x))})


def computes(*names: str, twice: bool = False, shape: bool = False, whole: bool = False, learns: bool = False) -> Probe:
    """What a module returns (`returned`) where its attributes of these names hold known numbers, registered or not.

    Without names, all parameters do, and those of every nn.Linear, also of one that is not registered.
    If it is called `twice`, also whether the results agree (`repeats`); where they do not, their numbers are left out,
    since what is drawn by chance differs between builds of torch. With `shape`, the `shape` of the result as well; with
    `learns`, the names of the parameters at which no gradient arrives from it (`cut_off`).
    The known numbers are 0, 1, 2 and so on where they are to be `whole`: of a whole x, the result is whole, too.
    """

    def look(answer: Answer, case: Case) -> Observation:
        with nullcontext() if names else _known_layers(answer):
            module, x = settled(answer, case, *names)
            if whole:
                _count_up(*(getattr(module, name) for name in names))
            again = copy_of(x)
            result = module(x)
            seen: Observation = {"shape": _shape_or_type(result)} if shape else {}
            seen |= {"cut_off": _cut_off(module, result)} if learns else {}
            if not twice:
                return seen | {"returned": values(result)}
            repeats = not isinstance(result, Tensor) or torch.allclose(result, module(again), equal_nan=True)
            told = values(result) if repeats else "another result in each call"
            return seen | {"repeats": repeats, "returned": told}

    return by_known_chance(look)


def settled(answer: Answer, case: Case, *names: str) -> tuple[Any, Any]:
    """As `made`, with known numbers in these attributes, or in all parameters, where there is no name."""
    module, x = made(answer, case)
    tensors = [getattr(module, name) for name in names] or [p for p in module.parameters() if p.dim()]
    settle(*(tensor for tensor in tensors if isinstance(tensor, Tensor)))
    return module, x


def _cut_off(module: nn.Module, result: object) -> list[Plain]:
    if isinstance(result, Tensor) and result.requires_grad:
        result.sum().backward(retain_graph=True)
    return [name for name, param in module.named_parameters() if grad_at(param) is None]


def _count_up(*tensors: object) -> None:
    with torch.no_grad():
        for tensor in tensors:
            if isinstance(tensor, Tensor):
                tensor.copy_(torch.arange(tensor.numel()).reshape(tensor.shape))


def _shape_or_type(result: object) -> Plain:
    return list(result.shape) if isinstance(result, Tensor) else type(result).__name__


@contextmanager
def _known_layers(answer: Answer) -> Iterator[None]:
    with replaced_for(answer, nn.Linear, "reset_parameters", lambda layer: settle(*layer.parameters())):
        yield


@by_known_chance
def leaves_inputs(answer: Answer, case: Case) -> Observation:
    """Which arguments have changed (`inputs`), and what a second call returns (`again`)."""
    args, given = copy_of(case.args), copy_of(case.kwargs)
    module = make(answer, *args)
    module(given["x"])
    return {"inputs": changed_inputs(case, args, given), "again": values(module(copy_of(case.kwargs["x"])))}


# --- what it registers


@on_new
def lists_parameters(module: Any, *_: Any) -> Observation:
    """The names and shapes of the parameters (`parameters`), in the order of the names; nothing else is looked at."""
    return {"parameters": [f"{name} {shape}" for name, shape in shapes(module.named_parameters()).items()]}


def registers(*names: str) -> Probe:
    """What a module lists, and whether its numbers go along: to another dtype, through state_dict, into a copy.

    Facets: `parameters` and `state_dict` (names and shapes), `leaves` (are all parameters leaves that learn), and what
    is computed from known numbers in these attributes: by a module that has `loaded` the state_dict, by one that is
    `copied`, and `as_float64`. Where one of them is a tensor that is not registered, its name is told (`stays_behind`),
    and nothing is computed.
    """

    def look(answer: Answer, case: Case) -> Observation:
        module, x = settled(answer, case, *names)
        behind = _unregistered(module, names)
        seen: Observation = {
            "stays_behind": behind,
            "parameters": shapes(module.named_parameters()),
            "state_dict": shapes(module.state_dict().items()),
            "leaves": all(p.is_leaf and p.requires_grad for p in module.parameters()),
        }
        if behind:  # a copy, or another dtype, would stop at these with an error that is not about them
            return seen | {"loaded": None, "copied": None, "as_float64": None}
        other, _ = made(answer, case)
        other.load_state_dict(module.state_dict())
        seen |= {"loaded": values(other(x)), "copied": values(copy.deepcopy(module)(x))}
        return seen | {"as_float64": values(module.to(torch.float64)(x.double()))}

    return by_known_chance(look)


def _unregistered(module: Any, names: Iterable[str]) -> list[Plain]:
    """The names among these of attributes that hold tensors, but are no parameters or buffers; a result is marked."""
    known = dict([*module.named_parameters(), *module.named_buffers()])
    behind = {name: getattr(module, name, None) for name in names if name not in known}
    return [
        name if tensor.is_leaf else f"{name} (a result)"
        for name, tensor in behind.items()
        if isinstance(tensor, Tensor)
    ]


# --- what a gradient reaches


def gradients_reach(*names: str) -> Probe:
    """The gradients that arrive at x and at these attributes, which hold known numbers (`gradients`, by name)."""

    def look(answer: Answer, case: Case) -> Observation:
        module, x = settled(answer, case, *names)
        return {"gradients": arriving(module(x.requires_grad_()), x, module, *names)}

    return by_known_chance(look)


def arriving(result: Tensor, x: Tensor, module: Any, *names: str) -> dict[str, Plain]:
    """The gradients of a sum in which each entry of a result has another weight, at x and at these attributes."""
    weighted(result).backward()
    return {"x": see(x.grad)} | {name: see(grad_at(getattr(module, name))) for name in names}


# --- tensors, as they are told


def shapes(named: Iterable[tuple[str, Tensor]]) -> dict[str, Plain]:
    """Names and shapes, sorted, of what `named_parameters()` or `state_dict().items()` gives."""
    return {name: tuple(tensor.shape) for name, tensor in sorted(named, key=lambda pair: pair[0])}


def grad_at(tensor: Tensor) -> Tensor | None:
    """The `.grad` of a tensor, without the warning that torch gives where it is no leaf."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tensor.grad
