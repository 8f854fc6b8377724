"""The probes of chapter 3 for what is drawn by chance: facts instead of numbers, each with its rate of false alarm.

A bound of six standard errors refuses fewer than one right answer in a hundred million; no exercise has more than
thirty such bounds, so fewer than one right answer in a million is refused.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from autograder.watching.exercise import Case
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import copy_of, see

from ._ch03_probes import Answer, make, outline, reseed, watched
from ._ch03_zoo import build

ERRORS = 6.0  # how many standard errors a statistic may be off

# --- the distribution of numbers

# For the std s of n numbers with fourth moment k * s**4, the standard error of the std is s * sqrt((k - 1) / 4 / n).
_FOURTH = {"uniform": 1.8, "normal": 3.0}
# The share of numbers within half a std of the mean.
_NEAR = {"uniform": 0.5 / 3**0.5, "normal": 0.3829}


def drawn_like(numbers: Tensor, kind: str, std: float) -> dict[str, bool]:
    """Whether numbers with mean 0 look drawn from a distribution of this kind and std, each on its own."""
    flat = numbers.detach().double().flatten()
    error = ERRORS / max(flat.numel(), 1) ** 0.5
    near = float((flat.abs() < std / 2).double().mean())
    share = _NEAR[kind]
    return {
        "mean": abs(float(flat.mean())) < error * std,
        "std": abs(float(flat.std(correction=0)) - std) < error * std * ((_FOURTH[kind] - 1) / 4) ** 0.5,
        "distribution": abs(near - share) < error * (share * (1 - share)) ** 0.5,
        "distinct": flat.unique().numel() > flat.numel() / 2,
    }


def reach(numbers: Tensor, bounds: dict[str, float]) -> str:
    """Which bound the largest number comes near without passing it, by its name.

    The largest of 400 uniform numbers stays below 0.95 times their bound less than once in a hundred million times.
    """
    largest = float(numbers.detach().abs().max())
    return next((name for name, bound in bounds.items() if 0.95 < largest / bound < 1.0001), "another bound")


# --- Linear


@watched
def linear_start(answer: Answer, case: Case) -> Observation:
    """How the numbers of a new layer are spread, and whether another one starts with others."""
    inputs, outputs = case.args
    module, other = make(answer, inputs, outputs), make(answer, inputs, outputs)
    bounds = {"1 / sqrt(in_features)": inputs**-0.5, "1 / sqrt(out_features)": outputs**-0.5}
    bounds |= {"1 / in_features": 1 / inputs, "1": 1.0}
    seen: Observation = {}
    for name in ("weight", "bias"):
        numbers = getattr(module, name)
        seen[name] = {"reaches to": reach(numbers, bounds)} | drawn_like(numbers, "uniform", (3 * inputs) ** -0.5)
    return seen | {"others": not torch.equal(module.weight, other.weight)}


# --- init_he


def _linear_parts(module: nn.Module) -> list[nn.Linear]:
    return [part for part in module.modules() if isinstance(part, nn.Linear)]


@watched
def he_spread(answer: Answer, case: Case) -> Observation:
    """The std of each linear layer's weights, by the formula that it comes nearest, and whether their mean is 0."""
    module = build(*case.args)
    answer(module)
    return {"spread": [[_spread(part), _facts(part)["mean"]] for part in _linear_parts(module)]}


def _facts(part: nn.Linear) -> dict[str, bool]:
    return drawn_like(part.weight, "normal", (2 / part.in_features) ** 0.5)


def _spread(part: nn.Linear) -> str:
    a, b = part.in_features, part.out_features
    near = {"sqrt(1 / in_features)": a**-0.5, "2 / in_features": 2 / a, "sqrt(2 / out_features)": (2 / b) ** 0.5}
    near |= {"sqrt(2 / (in_features + out_features))": (2 / (a + b)) ** 0.5, "1": 1.0}
    near |= {"what it was": 0.5**0.5}  # of the sines that the zoo fills in
    std = float(part.weight.detach().std())
    if _facts(part)["std"]:
        return "sqrt(2 / in_features)"
    return min(near, key=lambda name: abs(near[name] / std - 1)) if std else "0"


@watched
def he_kind(answer: Answer, case: Case) -> Observation:
    """Whether the weights look normal, whatever their std, and whether they are drawn each on its own."""
    module = build(*case.args)
    answer(module)
    facts = [drawn_like(part.weight, "normal", float(part.weight.detach().std())) for part in _linear_parts(module)]
    return {"kind": [{what: one[what] for what in ("distribution", "distinct")} for one in facts]}


@watched
def he_biases(answer: Answer, case: Case) -> Observation:
    """The biases, in order."""
    module = build(*case.args)
    answer(module)
    return {"biases": [see(part.bias) for part in _linear_parts(module)]}


@watched
def he_in_place(answer: Answer, case: Case) -> Observation:
    """Whether the module that comes back, its parameters and their flags are those that went in."""
    module = build(*case.args)
    first = next(iter(module.parameters())).requires_grad_(False)
    before = dict(module.named_parameters())
    was = first.detach().clone()
    result = answer(module)
    after = dict(module.named_parameters())
    return {
        "module": result is module,
        "parameters": [name for name in before if after.get(name) is not before[name]],
        "flags": {name: p.requires_grad for name, p in after.items()},
        "frozen_too": not torch.equal(was, first),
    }


@watched
def he_others(answer: Answer, case: Case) -> Observation:
    """Which parameters and buffers of other layers no longer hold what they held."""
    module = build(*case.args)
    linear = {id(p) for part in _linear_parts(module) for p in part.parameters()}
    others = {name: p for name, p in [*module.named_parameters(), *module.named_buffers()] if id(p) not in linear}
    before = {name: p.detach().clone() for name, p in others.items()}
    answer(module)
    changed = [name for name, p in others.items() if not torch.equal(before[name], p)]
    return {"others": changed, "mode": module.training}


@watched
def he_chance(answer: Answer, case: Case) -> Observation:
    """Whether a second call draws other numbers, and whether the same seed draws the same ones again."""
    module = build(*case.args)

    def draw() -> Tensor:
        answer(module)
        return torch.cat([part.weight.detach().flatten().clone() for part in _linear_parts(module)])

    return chances(draw)


def chances(draw: Callable[[], Tensor]) -> dict[str, Plain]:
    """Whether numbers come from the global generator, anew at each draw, and whether it is never seeded."""
    reseed(1)
    first, second, after = draw(), draw(), torch.rand(4)
    reseed(1)
    again = draw()
    reseed(2)
    _ = draw(), draw()
    return {
        "anew": not torch.equal(first, second),
        "global": torch.equal(first, again),
        "untouched": not torch.equal(after, torch.rand(4)),
    }


# --- Dropout


def _sizes(case: Case) -> tuple[float, tuple[int, int]]:
    """The share to drop, and the shape of x."""
    return case.args[0], case.kwargs["x"]


def _dropped(answer: Answer, case: Case, calls: int = 1) -> tuple[Tensor, list[Tensor]]:
    """An input without zeros, and what a module in training makes of it."""
    p, (rows, cols) = _sizes(case)
    x = torch.linspace(1, 2, rows * cols).reshape(rows, cols)
    module = make(answer, p)
    return x, [module(x.clone()) for _ in range(calls)]


@watched
def drops_share(answer: Answer, case: Case) -> Observation:
    """Whether about a share p is dropped, and whether the number dropped varies."""
    p, (rows, cols) = _sizes(case)
    _, results = _dropped(answer, case, calls=8)
    counts = [int((result == 0).sum()) for result in results]
    n = rows * cols * len(counts)
    near = abs(sum(counts) / n - p) < ERRORS * (p * (1 - p) / n) ** 0.5
    return {"returned": outline(results[0]), "share": near}


@watched
def drops_singly(answer: Answer, case: Case) -> Observation:
    """Whether most rows, and most columns, hold dropped and kept numbers, and whether their count varies.

    Eight counts of a thousand numbers or more are all equal less than once in a hundred million calls.
    """
    _, results = _dropped(answer, case, calls=8)
    dropped = results[0] == 0
    mixed = [bool(((dropped.double().mean(dim) % 1) != 0).double().mean() > 0.5) for dim in (1, 0)]
    counts = {int((result == 0).sum()) for result in results}
    return {"rows_mixed": mixed[0], "columns_mixed": mixed[1], "count_varies": len(counts) > 1}


@watched
def drops_scaled(answer: Answer, case: Case) -> Observation:
    """What the numbers that stay are multiplied with: the smallest and the largest factor."""
    x, (result,) = _dropped(answer, case)
    factors = (result / x)[result != 0]
    return {"factors": [float(factors.min()), float(factors.max())] if factors.numel() else []}


@watched
def drops_in_training_only(answer: Answer, case: Case) -> Observation:
    """Whether eval mode gives x itself, and whether training mode drops again afterwards."""
    p, (rows, cols) = _sizes(case)
    x, module = torch.linspace(1, 2, rows * cols).reshape(rows, cols), make(answer, p)
    calm = module.eval()(x.clone())
    return {"in_eval": see((calm / x).unique()), "after_train": bool((module.train()(x.clone()) == 0).any())}


@watched
def drops_anew(answer: Answer, case: Case) -> Observation:
    """Whether each call draws anew from the global generator, which nobody seeds."""
    p, (rows, cols) = _sizes(case)
    module, x = make(answer, p), torch.ones(rows, cols)
    return chances(lambda: module(x.clone()))


@watched
def drops_gently(answer: Answer, case: Case) -> Observation:
    """The dtype of a float64 result, the gradient where numbers stay and are dropped, and whether x has changed."""
    p, (rows, cols) = _sizes(case)
    x = torch.linspace(1, 2, rows * cols, dtype=torch.float64).reshape(rows, cols)
    given, module = copy_of(x), make(answer, p)
    module(given)
    unchanged = torch.equal(given, x)
    tracked = x.clone().requires_grad_()
    result = module(tracked)
    result.sum().backward()
    flows = tracked.grad is not None and torch.allclose(tracked.grad * x, result)
    return {"dtype": str(result.dtype), "unchanged": unchanged, "flows": bool(flows)}
