"""The probes of chapter 1 that watch more, or less, than the usual one does; and its rules."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import attempt, calling, changed_inputs, copy_of, see
from autograder.watching.rules import Rule

Answer = Callable[..., Any]


def result_only(answer: Answer, case: Case) -> Observation:
    """The usual observation, but blind to arguments changed in place: another requirement watches those."""
    return {facet: seen for facet, seen in calling()(answer, case).items() if facet != "inputs"}


def entry(*keys: str, grad: bool = False) -> Probe:
    """Look at some entries of a returned dict, whatever the others are."""

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: {"returned": _entries(answer(*_arguments(case, grad)), keys)})

    return probe


def _arguments(case: Case, grad: bool) -> tuple[Any, ...]:
    args = copy_of(case.args)
    if grad:
        args[0].requires_grad_()
    return tuple(args)


def _entries(result: object, keys: tuple[str, ...]) -> Plain:
    if not isinstance(result, dict):
        return see(result)
    return {key: _see_number(result[key], key) for key in keys if key in result}


def _see_number(value: object, key: str) -> Plain:
    """A number of NumPy's counts as Python's, and 256 counted as 256.0."""
    seen = see(value.item() if isinstance(value, np.generic) else value)
    return float(seen) if key == "counted" and type(seen) is int else seen


def flat_entries(answer: Answer, case: Case) -> Observation:
    """The numbers of each entry of a returned dict in one row; another requirement looks at shapes."""

    def look() -> Observation:
        result = answer(*copy_of(case.args))
        if not isinstance(result, dict):
            return {"returned": see(result)}
        return {"returned": {str(key): _flat(value) for key, value in result.items()}}

    return attempt(look)


def _flat(value: object) -> Plain:
    return see(value.reshape(-1) if isinstance(value, torch.Tensor) else value)


def layouts(answer: Answer, case: Case) -> Observation:
    """A list of tuples; lists and tuples count alike, in any place."""

    def look() -> Observation:
        seen = _tuples(see(answer(*copy_of(case.args))))
        return {"returned": list(seen) if isinstance(seen, tuple) else seen}

    return attempt(look)


def _tuples(value: Plain) -> Plain:
    return tuple(_tuples(item) for item in value) if isinstance(value, list | tuple) else value


# --- copy and view


def copy_and_view(answer: Answer, case: Case) -> Observation:
    """The two tensors of `first_and_rest`, and which of them follow when `x` is changed afterwards."""

    def look() -> Observation:
        (x,) = copy_of(case.args)
        result = answer(x)
        inputs = changed_inputs(case, (x,), {})
        if not isinstance(result, list | tuple):
            return {"returned": see(result)}
        before = tuple(see(part) for part in result)
        x.add_(1)
        moved = [_moved(was, part) for was, part in zip(before, result, strict=True)]
        return {
            "returned": before,
            "inputs": inputs,
            "copy_follows": moved[:1] == [True],
            "view_follows": moved[1:] == [True],
            "detached": moved[:1] == [True] and _first_is_detached(answer, case),
        }

    return attempt(look)


def _moved(before: Plain, now: object) -> bool:
    """Whether a tensor holds other numbers than it did before."""
    if not isinstance(now, torch.Tensor) or before.values is None:
        return False
    return not torch.equal(before.values, now.detach())


def _first_is_detached(answer: Answer, case: Case) -> bool:
    """Whether a first result in the memory of `x` is cut off from autograd; a view is tracked as `x` is."""
    (x,) = copy_of(case.args)
    return not bool(answer(x.requires_grad_())[0].requires_grad)


# --- random numbers


def batch_facts(answer: Answer, case: Case) -> Observation:
    """Facts about a drawn batch instead of its numbers, which may come in any order."""
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    try:
        return attempt(lambda: _batch_facts(answer, case))
    finally:
        torch.set_rng_state(states[0])
        np.random.set_state(states[1])
        random.setstate(states[2])


def _seed_everything(seed: int) -> None:
    torch.default_generator.manual_seed(seed)  # torch.manual_seed also seeds devices, which takes its time
    np.random.seed(seed)
    random.seed(seed)


def _global_numbers() -> list[float]:
    """The next number of each global generator: it tells whether somebody drew or seeded in between."""
    return [torch.rand(()).item(), np.random.rand(), random.random()]


def _batch_facts(answer: Answer, case: Case) -> Observation:
    def draw(global_seed: int, **changed: Any) -> Any:
        _seed_everything(global_seed)
        return answer(*case.args, **(case.kwargs | changed))

    batch = draw(1)
    after = _global_numbers()
    _seed_everything(1)
    untouched = after == _global_numbers()
    seed = case.kwargs.get("seed", 0)
    again, others = draw(2), [draw(1, seed=seed + step) for step in range(1, 5)]
    if not all(isinstance(drawn, torch.Tensor) for drawn in (batch, again, *others)):
        return {"returned": see(batch)}
    return {
        "returned": replace(see(batch), values=None),
        "varied": batch.unique().numel() > batch.numel() / 2,
        "repeats": bool(torch.equal(batch, again)),
        "seeds_differ": not torch.equal(batch, others[0]),
        "normal": looks_normal(batch),
        "uniform": looks_uniform(batch),
        "as_drawn": not is_standardized([batch, *others]),
        "global_untouched": untouched,
    }


def looks_normal(batch: torch.Tensor) -> bool:
    """Whether mean, spread and the share within one standard deviation are those of standard normal numbers.

    Each bound is six standard errors wide: fewer than one right batch in a hundred million is refused.
    """
    numbers = batch.double().flatten()
    error = 6 / max(numbers.numel(), 1) ** 0.5
    mean, std = float(numbers.mean()), float(numbers.std(correction=0))
    near = float((numbers.abs() < 1).double().mean())
    off = (
        abs(mean),
        abs(std - 1) / 0.7072,
        abs(near - 0.6827) / 0.4655,
    )  # each in units of one standard error
    return bool(max(off) < error)


def looks_uniform(batch: torch.Tensor) -> bool:
    """Whether the fourth moment is that of uniform numbers, 1.8; normal ones have 3."""
    numbers = batch.double().flatten()
    centered = numbers - numbers.mean()
    return abs(float((centered**4).mean() / (centered**2).mean() ** 2) - 1.8) < 0.2


def is_standardized(batches: list[torch.Tensor]) -> bool:
    """Whether all batches have mean 0, or all have spread 1, nearer than chance allows."""
    numbers = [batch.double() for batch in batches]
    centered = all(abs(float(x.mean())) < 1e-4 for x in numbers)
    return centered or all(abs(float(x.std(correction=0)) - 1) < 2e-4 for x in numbers)


# --- distances


def negative(answer: Answer, case: Case) -> Observation:
    """Whether any number of the result is below 0."""

    def look() -> Observation:
        result = answer(*copy_of(case.args))
        if not isinstance(result, torch.Tensor):
            return {"returned": see(result)}
        return {"negative": bool((result < 0).any())}

    return attempt(look)


# --- rules

_SOFTMAXES = frozenset({"softmax", "log_softmax", "Softmax", "LogSoftmax", "softmin", "Softmin", "_softmax"})


def _imports(tree: ast.AST) -> set[str]:
    """Every module and name that an import brings in, by the name it has at home."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    names = {alias.name for node in nodes for alias in node.names}
    return {part for name in modules | names for part in name.split(".")}


def _calls_softmax(tree: ast.AST) -> bool:
    """Whether a built-in softmax is used; a variable may well be called `softmax`."""
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return bool((_imports(tree) | used) & _SOFTMAXES)


def _mentions_tensors(tree: ast.AST) -> bool:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return bool((names | _imports(tree)) & {"torch", "numpy", "np"})


no_softmax = Rule(
    "no_softmax",
    "is written without torch.softmax and its relatives",
    "You call a softmax that torch brings along. Build it yourself from `exp`, a maximum and a sum.",
    _calls_softmax,
)

no_torch = Rule(
    "no_torch",
    "works from the numbers alone, without torch or NumPy",
    "`torch` or NumPy is used in `predict_layout`. Predict instead: work from the numbers alone.",
    _mentions_tensors,
)
