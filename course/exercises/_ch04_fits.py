"""The probes of chapter 4 that let an answer train: the sine, house prices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from autograder.watching.difference import Difference, Tolerance, first_difference
from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation, Plain, Seen
from autograder.watching.probe import attempt, changed_inputs, copy_of, see, values

from ._ch04_models import random_from

Answer = Callable[..., Any]

# --- the sine

# A fit is good where its mean squared error, computed anew, is below this. 10 000 honest runs by Adam, each from first
# weights of its own: 1000 steps with lr=0.01 end at 0.0003 (the middle one) to 0.0033 (the worst), 300 steps with
# lr=0.03 at 0.0004 to 0.032. A straight line gets 0.196.
BELOW = {1000: 0.02, 300: 0.05}
_SHAPES = {"hidden weight": (16, 1), "hidden bias": (16,), "out weight": (1, 16), "out bias": (1,)}
_ASKED_FOR: Plain = sorted(_SHAPES.values())
_GRID = torch.linspace(-math.pi, math.pi, 200, dtype=torch.float64).unsqueeze(1)


def new_model(answer: Answer, case: Case) -> Observation:
    """What `sin_fit` makes without a model: its parameters, and what it gives on a few x."""

    def look() -> Observation:
        with random_from(_seed_in(case.args[0])):
            model = answer(steps=0)
        return _seen(model)

    return attempt(look)


def long_fit(answer: Answer, case: Case) -> Observation:
    """The model after a whole training from first weights of its own."""

    def look() -> Observation:
        with random_from(_seed_in(case.args[0])):
            model = answer(**case.kwargs)
        return _seen(model, BELOW[case.kwargs["steps"]])

    return attempt(look)


def short_fit(answer: Answer, case: Case) -> Observation:
    """Whether the given model is trained in place, and its parameters after a few steps from given first weights."""

    def look() -> Observation:
        model = answer(steps=0)
        if _shapes(model) != sorted(_SHAPES.values()):
            return _seen(model)
        _load(model, copy_of(case.args[0]))
        result = answer(model, **case.kwargs)
        return {"in_place": result is model, "parameters": [values(p) for p in _in_order(model)]}

    return attempt(look)


def named_seed(draw: Draw) -> str:
    """A seed for the first weights, in words: the case says that no model is given."""
    return f"weights of its own, seed {draw.whole(0, 10**6)}"


def _seed_in(name: str) -> int:
    return int(name.rsplit(" ", 1)[1])


def first_weights(draw: Draw) -> list[Tensor]:
    """Weights as nn.Linear would draw them, in the order of `_SHAPES`."""
    bounds = (1.0, 1.0, 0.25, 0.25)
    return [draw.uniform(*shape, low=-b, high=b) for shape, b in zip(_SHAPES.values(), bounds, strict=True)]


def _seen(model: object, below: float | None = None) -> Observation:
    if not isinstance(model, nn.Module):
        return {"returned": see(model)}
    shapes = _shapes(model)
    if shapes != sorted(_SHAPES.values()):
        return {"shapes": shapes}
    with torch.no_grad():
        outputs = model(_GRID[::20].float())
    seen: Observation = {"shapes": shapes, "outputs": see(outputs), "below": below}
    return seen | {"parameters": [values(p) for p in _in_order(model)]}


def _shapes(model: object) -> Plain:
    return sorted(tuple(p.shape) for p in model.parameters()) if isinstance(model, nn.Module) else None


def _in_order(model: nn.Module) -> list[Tensor]:
    by_shape = {tuple(p.shape): p for p in model.parameters()}
    return [by_shape[shape] for shape in _SHAPES.values()]


def _load(model: nn.Module, weights: list[Tensor]) -> None:
    with torch.no_grad():
        for param, weight in zip(_in_order(model), weights, strict=True):
            param.copy_(weight)


def compare_fits(expected: Observation, got: Observation, tolerance: Tolerance) -> Difference | None:
    """Weights that a short training left are compared as they are; a whole training, by the facts of its network.

    The network is made here, from the weights alone: 1 -> 16 -> 1 with a ReLU. What another run gives differs in its
    weights, and is as good.
    """
    if "shapes" in got and got["shapes"] != expected.get("shapes", _ASKED_FOR):
        return Difference(("shapes",), "values", _ASKED_FOR, got["shapes"])
    facts = facts_of_a_training(expected)
    if "fits" in facts:
        return _compare_trainings(facts, got, tolerance)
    if "outputs" not in expected or "outputs" not in got:
        return first_difference(expected, got, tolerance)
    facts, other = ({"relu_net": _is_relu_net(seen)} for seen in (expected, got))
    if not facts["relu_net"] and not other["relu_net"]:  # both are wrong: in the same way?
        facts, other = ({"outputs": seen["outputs"]} for seen in (expected, got))
    return first_difference(facts, other, tolerance)


def facts_of_a_training(seen: Observation) -> Observation:
    """What a key keeps of a whole training: is it the network asked for, does it fit?

    Hundreds of steps carry the last bit of the first one, which differs between processors, into every digit.
    """
    if seen.get("below") is None or "parameters" not in seen:
        return seen
    error = float(((_network(seen["parameters"], _GRID) - torch.sin(_GRID)) ** 2).mean())
    kept = {facet: seen[facet] for facet in ("shapes", "below")}
    return kept | {"relu_net": _is_relu_net(seen), "fits": error < seen["below"]}


def _compare_trainings(facts: Observation, got: Observation, tolerance: Tolerance) -> Difference | None:
    if not {"outputs", "parameters"} <= set(got):  # facts count only where they follow from weights
        return Difference((), "keys", list(facts), list(got))
    return first_difference(facts, facts_of_a_training(got | {"below": facts["below"]}), tolerance)


def _is_relu_net(seen: Observation) -> bool:
    """Whether what a network gives follows from its weights, with a ReLU between the layers."""
    return _close(_network(seen["parameters"], _GRID)[::20], seen["outputs"])


def _network(parameters: list[Plain], x: Tensor) -> Tensor:
    w1, b1, w2, b2 = (part.values.double() for part in parameters)
    outputs: Tensor = torch.relu(x @ w1.T + b1) @ w2.T + b2
    return outputs


def _close(outputs: Tensor, seen: Plain) -> bool:
    same_shape = isinstance(seen, Seen) and seen.values is not None and seen.values.shape == outputs.shape
    return same_shape and bool(torch.allclose(seen.values.double(), outputs, rtol=1e-3, atol=1e-4))


# --- two optimizers


def counted(*kept: str) -> Probe:
    """Some of the counts that `compare_optimizers` returns."""

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer(*copy_of(case.args), **case.kwargs)))

    def look(result: object) -> Observation:
        if not isinstance(result, dict) or sorted(result, key=str) != ["adam", "ratio", "sgd"]:
            return {"returned": see(result)}
        return {"returned": {key: see(result[key]) for key in kept}}

    return probe


# --- house prices


def priced(*kept: str) -> Probe:
    """A fitted line, in units of the spread of x and y. Facets: `line` (its prices for x), `weight`, `prices` (of the
    new houses), `added_up` (the prices are what weight and bias give), `tracked`, `inputs`.
    """

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        args = copy_of(case.args)
        result = answer(*args)
        if not isinstance(result, dict) or sorted(result, key=str) != ["bias", "prices", "weight"]:
            return {"returned": see(result)}
        parts = {key: torch.as_tensor(part).detach().double() for key, part in result.items()}
        seen = _line(parts, *case.args) | {"inputs": changed_inputs(case, args, {})}
        seen["tracked"] = [key for key in sorted(result) if getattr(result[key], "requires_grad", False)]
        return {facet: seen[facet] for facet in kept}

    return probe


def _line(parts: dict[str, Tensor], x: Tensor, y: Tensor, new: Tensor) -> Observation:
    x, y, new = x.double(), y.double(), new.double()
    given = new @ parts["weight"] + parts["bias"]
    return {
        "line": see((x @ parts["weight"] + parts["bias"] - y.mean()) / y.std()),
        "weight": see(parts["weight"] * x.std(0) / y.std()),
        "prices": see((parts["prices"] - y.mean()) / y.std()),
        "added_up": parts["prices"].shape == given.shape
        and bool(((parts["prices"] - given) / y.std()).abs().max() < 0.01),
        "shapes": {key: tuple(part.shape) for key, part in parts.items()},
    }
