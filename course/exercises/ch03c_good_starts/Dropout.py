"""`Dropout`: drop numbers in training.

A case's x is a shape: the probes make their inputs, without zeros, so that what is 0 in a result was dropped. Some
thousand numbers are drawn, which is enough for bounds that no right answer passes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import snapshot_without_requires_grad, snapshot_without_values
from autograder.exercises.probes.module_classes import make_new_module_probe
from autograder.exercises.probes.random_results import MAX_STANDARD_ERRORS, randomness_facts
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import forbid_imports_and_attributes

from .._ch03_calls import made_and_called

Shape = tuple[int, ...]
_CALLS = 64  # with a draw for each of 30 rows, p is then known to within 0.07


def numbers(shape: Shape) -> Tensor:
    """Numbers from 1 to 2, in order."""
    return torch.linspace(1, 2, math.prod(shape)).reshape(shape)


@make_new_module_probe
def share(module: Any, shape: Shape, p: float) -> Observation:
    """How much a call drops, and whether that is about a share p of the numbers.

    The bound is wide enough for one draw per row or column, which another requirement refuses, and too narrow for
    another p of those that are drawn: what an answer earns does not hang on chance. Who drops all or nothing is told
    so, whatever the share.
    """
    results = [module(numbers(shape)) for _ in range(_CALLS)]
    shares = [float((result == 0).double().mean()) for result in results]
    with torch.no_grad():
        free = bool((module(numbers(shape)) == 0).any())
    dropped = sum(shares) / _CALLS
    near = abs(dropped - p) < MAX_STANDARD_ERRORS * (p * (1 - p) / (_CALLS * min(shape))) ** 0.5
    drops = sorted({"nothing" if each == 0 else "everything" if each == 1 else "some" for each in shares})
    told = "p" if near or drops != ["some"] else _named(dropped, shape, p)
    seen: Observation = {"returned": snapshot_without_values(results[0]), "drops": drops, "share": told}
    return seen | {"without_graph": free or drops != ["some"]}


def _named(dropped: float, shape: Shape, p: float) -> str:
    """What a share that is not p may come from, if that many numbers, each drawn on its own, come near to it."""
    below = (1 + math.erf(p / 2**0.5)) / 2
    known = {"1 - p": 1 - p, "one half": 0.5, f"the share of normal numbers below p, {below:.2f}": below}
    error = MAX_STANDARD_ERRORS * (0.25 / (_CALLS * math.prod(shape))) ** 0.5
    return next((name for name, one in known.items() if abs(dropped - one) < error), f"about {dropped:.1f}")


@make_new_module_probe
def each_alone(module: Any, shape: Shape, p: float) -> Observation:
    """Whether most rows, and most columns, hold dropped and kept numbers, and whether their count varies.

    Eight counts of a thousand numbers or more are all equal less than once in a hundred million calls. Where each call
    drops the same numbers, another requirement says so, and the count tells nothing.
    """
    dropped = [module(numbers(shape)) == 0 for _ in range(8)]
    mixed = [bool(((dropped[0].double().mean(dim) % 1) != 0).double().mean() > 0.5) for dim in (1, 0)]
    repeats = all(torch.equal(dropped[0], one) for one in dropped)
    varies = repeats or len({int(one.sum()) for one in dropped}) > 1
    seen = {"rows_mixed": mixed[0], "columns_mixed": mixed[1], "count_varies": varies}
    seen["parts_differ"] = repeats or _parts_differ(module, shape)
    return seen | {"shape": list(dropped[0].shape)}


def _parts_differ(module: Any, shape: Shape) -> bool:
    """Whether other places are dropped in the second part of an x with one axis more; True if it cannot be taken."""
    try:
        first, second = module(numbers((2, *shape))) == 0
    except RuntimeError:
        return True  # that it takes any shape is another line's
    return not torch.equal(first, second)


@make_new_module_probe
def factors(module: Any, shape: Shape, p: float) -> Observation:
    """What the numbers that stay are multiplied with: the smallest and the largest factor."""
    x = numbers(shape)
    result = module(x.clone())
    found = (result / x)[result != 0]
    ends = (found.min(), found.max()) if found.numel() else ()
    return {"factors": [round(float(end), 4) for end in ends]}  # 2.5, not 2.499999761581421


@make_new_module_probe
def by_mode(module: Any, shape: Shape, p: float) -> Observation:
    """Whether eval mode gives x with its history, before a call in training and after one that drops."""
    x = numbers(shape)
    model = torch.nn.Sequential(module)  # as in use: the model's eval() and train() reach the module
    calm = model.eval()(x.clone().requires_grad_())
    again = any(bool((model.train()(x.clone()) == 0).any()) for _ in range(16))
    later = model.eval()(x.clone())
    in_eval = [snapshot_without_requires_grad((result / x).unique()) for result in (calm, later)]
    seen = {"in_eval": in_eval, "tracked": calm.requires_grad, "after_train": again}
    return seen | {"shape": list(calm.shape)}


@make_new_module_probe
def what_stays(module: Any, shape: Shape, p: float) -> Observation:
    """The dtypes of results, whether x has changed, and the gradient where numbers stay and are dropped."""
    x = torch.linspace(1, 2, math.prod(shape), dtype=torch.float64).reshape(shape)
    given, tracked = x.clone(), x.clone().requires_grad_()
    module(given)
    result = module(tracked * 1)  # no leaf: torch refuses to change one in place, in words that are not about x
    result.sum().backward()
    flows = tracked.grad is not None and torch.allclose(tracked.grad * x, result.to(x.dtype))
    short = module(x.to(torch.bfloat16))
    seen = {"dtypes": f"{result.dtype} and {short.dtype}", "unchanged": torch.equal(given, x), "flows": bool(flows)}
    return seen | {"shape": list(result.shape)}


@make_new_module_probe
def draws(module: Any, shape: Shape, p: float) -> Observation:
    """Whether a second call draws other numbers, and whether the same seed draws the same ones again."""
    x = torch.ones(shape)
    return randomness_facts(lambda: module(x.clone())) | {"shape": list(module(x).shape)}


basic = Requirement(
    "drops about a share p of the numbers in training",
    share,
    {
        "drops": "In training each call is to set some of the numbers to 0: not all of them, and not none.",
        "share": "The share of numbers that you set to 0 is not p.",
        "without_graph": "Under `torch.no_grad()` your module drops nothing in training. The mode alone decides that, "
        "and not whether a graph is recorded.",
    },
)
scaled = Requirement(
    "divides the others by 1 - p",
    factors,
    {"factors": "The numbers that stay are not multiplied by 1 / (1 - p)."},
)
SHAPE = {"shape": "What comes back has not the shape of x."}
singly = Requirement(
    "drops each number independent of the others",
    each_alone,
    SHAPE
    | {
        "rows_mixed": "Whole rows are dropped, or kept. Each number is to have a draw of its own.",
        "columns_mixed": "Whole columns are dropped, or kept. Each number is to have a draw of its own.",
        "parts_differ": "For an x with one axis more, the same places are dropped in each of its parts. Each number is "
        "to have a draw of its own.",
        "count_varies": "You drop the same number of entries each time: such draws depend on each other.",
    },
    given=("shape",),
)
calm = Requirement(
    "drops nothing in eval mode",
    by_mode,
    SHAPE
    | {
        "in_eval": "In eval mode the result is not x: these are the numbers that x was multiplied with, before a call "
        "in training and after one.",
        "tracked": "In eval mode the result holds the numbers of x, and no gradient flows back from it to x.",
        "after_train": "After eval mode, back in training, nothing is dropped any more.",
    },
    given=("shape",),
)
anew = Requirement(
    "draws anew at each call, and never seeds",
    draws,
    SHAPE
    | {
        "anew": "Two calls in a row drop the same numbers.",
        "global": "The same seed of torch's global generator gives other numbers: they come from somewhere else.",
        "untouched": "After your call torch's global generator goes on from one place, whatever its seed was.",
    },
    given=("shape",),
)
gentle = Requirement(
    "keeps dtype, gradient and x as they should be",
    what_stays,
    SHAPE
    | {
        "dtypes": "For an x in float64, and one in bfloat16, these are the dtypes of your results: keep that of x.",
        "unchanged": "Your code changes x in place.",
        "flows": "The gradient is not 1 / (1 - p) where numbers stay, and 0 where they are dropped.",
    },
    given=("shape",),
)


@exercise(
    tier="stretch",
    hints=(
        "`self.training` says in which mode the module is.",
        "Compare uniform random numbers of the shape of x with p: that is a mask with a draw for each number.",
    ),
    spelled=made_and_called,
    rules=(
        forbid_imports_and_attributes(
            *("Dropout", "dropout", "dropout_", "Dropout1d", "dropout1d", "alpha_dropout", "native_dropout"),
            requirement="does without ready-made dropout",
            sentence="You use a ready-made dropout. Here you draw the mask yourself.",
        ),
    ),
)
def Dropout(draw: Draw) -> Iterator[Case]:
    """Drop numbers in training."""
    # A low share and a high one: some other formula comes near to one of them by chance.
    # None is a number of tenths: a die with ten sides would do for those.
    shares = [[0.21, 0.32], [0.61, 0.72], *([[0.21, 0.32, 0.41, 0.61, 0.72]] * 5)]
    for requirement, among in zip((basic, basic, scaled, singly, calm, anew, gentle), shares, strict=True):
        yield requirement(draw.choice(among), x=(draw.whole(30, 40), draw.whole(41, 50)))
    yield scaled(0.0, x=(draw.whole(3, 9), draw.whole(3, 9)))
    yield calm(0.5, x=(draw.whole(30, 40),))
    rows = draw.whole(3, 5)
    yield gentle(0.5, x=(rows, rows, draw.whole(6, 9)))  # equally many: a draw for each row is another line's fault
