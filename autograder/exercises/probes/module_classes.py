"""Probes for answers that are module classes: what an instance registers, computes, saves and copies.

A case's arguments construct the module, and `x` (or `batches`) is its input; the text "nn.Tanh" among the arguments
stands for that class. `make_new_module_probe` makes a probe of a function that observes such a module:

    count = make_new_module_probe(lambda module, x: {"count": len(list(module.parameters()))})
    order = Requirement("lists two parameters", count)
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
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    observe_changed_arguments,
    snapshot_value,
    snapshot_without_requires_grad,
    snapshot_without_values,
)
from autograder.exercises.probes.random_results import make_seeded_probe
from autograder.exercises.probes.sample_modules import fill_with_known_numbers
from autograder.exercises.probes.tensor_functions import weighted_sum
from autograder.exercises.replace_attributes_temporarily import replace_attribute_in_answer

INPUT_KEYWORDS = ("x", "batches")  # keyword arguments for calling the module; all others construct it


def new_module_and_input(answer: Answer, case: Case) -> tuple[Any, Any]:
    """Return a new module, constructed with a case's arguments, and the input of the case."""
    options = copy_case_data(case.kwargs)
    inputs = [options.pop(key) for key in INPUT_KEYWORDS if key in options]
    return construct_module(answer, *constructor_arguments(case), **options), inputs[0] if inputs else None


def construct_module(answer: Answer, *args: Any, **options: Any) -> Any:
    """Construct a module; raise TypeError if the answer returns anything but an nn.Module."""
    module = answer(*args, **options)
    if not isinstance(module, nn.Module):
        raise TypeError(f"expected an nn.Module, found {type(module).__name__}")
    return module


def constructor_arguments(case: Case) -> list[Any]:
    """Return copies of a case's positional arguments, with "nn.Tanh" replaced by that class."""

    def meant(arg: Any) -> Any:
        return getattr(nn, arg[3:]) if isinstance(arg, str) and arg.startswith("nn.") else arg

    return [meant(arg) for arg in copy_case_data(case.args)]


def make_new_module_probe(look: Callable[..., Observation]) -> Probe:
    """Make a probe of `look(module, x, *arguments)`, which observes a new module."""
    return make_seeded_probe(
        lambda answer, case: look(*new_module_and_input(answer, case), *constructor_arguments(case))
    )


# --- what a module computes


observe_module_result = make_new_module_probe(
    lambda module, x, *_: {"returned": snapshot_without_requires_grad(module(x))}
)
observe_result_without_values = make_new_module_probe(
    lambda module, x, *_: {"returned": snapshot_without_values(module(x))}
)


def make_known_weights_result_probe(
    *names: str, twice: bool = False, shape: bool = False, whole: bool = False, learns: bool = False
) -> Probe:
    """Make a probe of a module's result (`returned`), after known numbers were written into some attributes.

    `names` are those attributes, registered or not; without names, all parameters get known numbers, and those of every
    nn.Linear, even one that is not registered. With `twice`, the module is called twice, and `repeats` is whether the
    results agree; if not, their numbers are left out, since random numbers differ between builds of torch. With
    `shape`, the `shape` of the result is recorded. With `whole`, the known numbers are 0, 1, 2, ..., so that the result
    of whole numbers is whole.
    With `learns`, the `gradient` of x is recorded, and the names of the parameters at which no gradient arrives from
    the result (`cut_off`).
    """

    def look(answer: Answer, case: Case) -> Observation:
        with nullcontext() if names else _known_layers(answer):
            module, x = new_module_filled_with_known_numbers(answer, case, *names)
            if whole:
                _count_up(*(getattr(module, name) for name in names))
            again = copy_case_data(x)
            result = module(x.requires_grad_() * 1 if learns else x)  # times 1: it may be changed in place
            seen: Observation = {"shape": _shape_or_type(result)} if shape else {}
            seen |= {"cut_off": _cut_off(module, result)} if learns else {}
            if not twice:
                return seen | {"returned": snapshot_without_requires_grad(result)}
            repeats = not isinstance(result, Tensor) or torch.allclose(result, module(again), equal_nan=True)
            returned = snapshot_without_requires_grad(result) if repeats else "another result in each call"
            return (
                seen
                | {"repeats": repeats, "returned": returned}
                | ({"gradient": snapshot_value(x.grad)} if learns else {})
            )

    return make_seeded_probe(look)


def new_module_filled_with_known_numbers(answer: Answer, case: Case, *names: str) -> tuple[Any, Any]:
    """Return a new module and its input, as `new_module_and_input` does, and fill some tensors with known numbers.

    They are the attributes `names`; without names, all parameters that have a dimension.
    """
    module, x = new_module_and_input(answer, case)
    tensors = [getattr(module, name) for name in names] or [p for p in module.parameters() if p.dim()]
    fill_with_known_numbers(*(tensor for tensor in tensors if isinstance(tensor, Tensor)))
    return module, x


def _cut_off(module: nn.Module, result: object) -> list[Plain]:
    if isinstance(result, Tensor) and result.requires_grad:
        result.sum().backward(retain_graph=True)
    return [name for name, param in module.named_parameters() if grad_without_warning(param) is None]


def _count_up(*tensors: object) -> None:
    with torch.no_grad():
        for tensor in tensors:
            if isinstance(tensor, Tensor):
                tensor.copy_(torch.arange(tensor.numel()).reshape(tensor.shape))


def _shape_or_type(result: object) -> Plain:
    return list(result.shape) if isinstance(result, Tensor) else type(result).__name__


@contextmanager
def _known_layers(answer: Answer) -> Iterator[None]:
    with replace_attribute_in_answer(
        answer, nn.Linear, "reset_parameters", lambda layer: fill_with_known_numbers(*layer.parameters())
    ):
        yield


@make_seeded_probe
def observe_changed_inputs_and_second_call(answer: Answer, case: Case) -> Observation:
    """Observe which arguments the module changed (`inputs`), and what a second call returns (`again`)."""
    args, given = copy_case_data(case.args), copy_case_data(case.kwargs)
    module = construct_module(answer, *args)
    module(given["x"])
    return {
        "inputs": observe_changed_arguments(case, args, given),
        "again": snapshot_without_requires_grad(module(copy_case_data(case.kwargs["x"]))),
    }


# --- what it registers


@make_seeded_probe
def observe_parameters(answer: Answer, case: Case) -> Observation:
    """Observe `parameters`, their names and shapes, and `own_parameters`: whether a second module has others."""
    module, other = (new_module_and_input(answer, case)[0] for _ in range(2))
    shapes = named_shapes(module.named_parameters())
    return {
        "parameters": [f"{name} {shape}" for name, shape in shapes.items()],
        "own_parameters": has_no_common_parameters(module, other),
    }


def has_no_common_parameters(module: nn.Module, other: nn.Module) -> bool:
    """Return whether a module has no parameter in common with another."""
    return not {*map(id, module.parameters())} & {*map(id, other.parameters())}


def make_registered_tensors_probe(*names: str) -> Probe:
    """Make a probe of what a module registers, and whether `state_dict`, `deepcopy` and `.to` include the attributes.

    Facets: `parameters` and `state_dict` (names and shapes), `leaves` (whether all parameters are leaves that require
    grad), and the results, with known numbers in these attributes, of a module that has `loaded` the state_dict, of one
    that is `copied`, and of the module `as_float64`. `stays_behind` lists the attributes that hold unregistered
    tensors; if there are any, no results are computed.
    """

    def look(answer: Answer, case: Case) -> Observation:
        module, x = new_module_filled_with_known_numbers(answer, case, *names)
        behind = _unregistered(module, names)
        seen: Observation = {
            "stays_behind": behind,
            "parameters": named_shapes(module.named_parameters()),
            "state_dict": named_shapes(module.state_dict().items()),
            "leaves": all(p.is_leaf and p.requires_grad for p in module.parameters()),
        }
        if behind:  # a copy, or another dtype, would stop at these with an error that is not about them
            return seen | {"loaded": None, "copied": None, "as_float64": None}
        other, _ = new_module_and_input(answer, case)
        other.load_state_dict(module.state_dict())
        seen |= {
            "loaded": snapshot_without_requires_grad(other(x)),
            "copied": snapshot_without_requires_grad(copy.deepcopy(module)(x)),
        }
        return seen | {"as_float64": snapshot_without_requires_grad(module.to(torch.float64)(x.double()))}

    return make_seeded_probe(look)


def _unregistered(module: Any, names: Iterable[str]) -> list[Plain]:
    """Return the names of attributes that are tensors, but neither parameters nor buffers; results are marked.

    They are those in `names`, and others that hold a result, such as a transposed weight: torch copies no result.
    """
    known = dict([*module.named_parameters(), *module.named_buffers()])
    results = [name for name, value in vars(module).items() if isinstance(value, Tensor) and not value.is_leaf]
    behind = {name: getattr(module, name, None) for name in dict.fromkeys([*names, *results]) if name not in known}
    return [
        name if tensor.is_leaf else f"{name} (a result)"
        for name, tensor in behind.items()
        if isinstance(tensor, Tensor)
    ]


# --- what a gradient reaches


def make_gradients_probe(*names: str) -> Probe:
    """Make a probe with the facet `gradients`: by name, those that backward leaves at x and at these attributes.

    The attributes are filled with known numbers first, so that the gradients are the same for every right answer.
    """

    def look(answer: Answer, case: Case) -> Observation:
        module, x = new_module_filled_with_known_numbers(answer, case, *names)
        return {"gradients": backpropagated_gradients(module(x.requires_grad_()), x, module, *names)}

    return make_seeded_probe(look)


def backpropagated_gradients(result: Tensor, x: Tensor, module: Any, *names: str) -> dict[str, Plain]:
    """Backpropagate a weighted sum of the result and return the gradients at `x` and at the named attributes.

    The weights differ, so that a transposed or summed gradient is noticed.
    """
    weighted_sum(result).backward()
    return {"x": snapshot_value(x.grad)} | {
        name: snapshot_value(grad_without_warning(getattr(module, name))) for name in names
    }


# --- tensors, as they are told


def named_shapes(named: Iterable[tuple[str, Tensor]]) -> dict[str, Plain]:
    """Return the shape of each tensor by name, sorted by name."""
    return {name: tuple(tensor.shape) for name, tensor in sorted(named, key=lambda pair: pair[0])}


def grad_without_warning(tensor: Tensor) -> Tensor | None:
    """Return the `.grad` of a tensor without torch's warning for tensors that are no leaves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tensor.grad
