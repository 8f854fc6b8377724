"""`compare_optimizers`: how many steps two optimizers need. With first weights that are good already, neither takes a
step; so the seeds begin above all goals, but for one, beside others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch
from torch import nn

from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, copy_case_data, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.probes.random_results import temporarily_seeded
from autograder.exercises.probes.repeated_calls import STATE_BETWEEN_CALLS_MESSAGES, with_second_call
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_LOSS_MESSAGES, with_detached_loss_facet
from autograder.exercises.representation_mismatch import ROUNDED_MESSAGE, are_rounded, is_rounded
from autograder.exercises.seeded_draw import Draw


def counted(*kept: str) -> Probe:
    """Some of the counts that are returned."""

    def look(answer: Answer, case: Case) -> Observation:
        result = answer(*copy_case_data(case.args), **case.kwargs)
        if not isinstance(result, dict) or sorted(result, key=str) != ["adam", "ratio", "sgd"]:
            return {"returned": snapshot_value(result)}
        return {"returned": {key: snapshot_value(result[key]) for key in kept}}

    return make_probe_recording_exceptions(look)


def _divided() -> Probe:
    """The ratio, and whether it is that of the returned counts with its digits cut."""
    whole = counted("sgd", "adam", "ratio")

    def look(answer: Answer, case: Case) -> Observation:
        seen = whole(answer, case)
        found = seen.get("returned")
        if not isinstance(found, dict) or "ratio" not in found:
            return seen
        return {"rounded": _is_cut(found), "returned": {"ratio": found["ratio"]}}

    return look


def _is_cut(found: dict[Any, Any]) -> bool:
    """Whether the ratio is that of the counts beside it, rounded."""
    counts = [found["sgd"], found["adam"]]
    if not all(isinstance(each, list) and all(type(one) is int for one in each) for each in counts):
        return False
    steps = list(map(sum, counts))
    return steps[1] > 0 and is_rounded(found["ratio"], steps[0] / steps[1])


one_seed = Requirement(
    "counts the steps of both for one seed",
    with_detached_loss_facet(with_second_call(counted("sgd", "adam"))),
    tells=DETACHED_LOSS_MESSAGES
    | STATE_BETWEEN_CALLS_MESSAGES
    | {
        "returned": "From the weights of start(seed), with its own rate, this is not the number of steps taken when "
        "the loss is first below `goal`."
    },
)
several = Requirement(
    "counts for each seed",
    counted("sgd", "adam"),
    tells={
        "returned": "The counts are to be two lists, with a number for each seed, each from the weights of that seed: "
        "0 where the loss of these is below `goal` already."
    },
)
limit = Requirement(
    "gives the limit where the goal is not reached",
    counted("sgd", "adam"),
    tells={
        "returned": "The count is `limit` itself where the loss is not below `goal` after so many steps, and nan is "
        "not below. Where it is below after fewer, or just after the last, the count is these steps."
    },
)
ratio = Requirement(
    "divides the sums",
    _divided(),
    tells={
        "rounded": ROUNDED_MESSAGE,
        "returned": "The ratio is not that of the sums of the right counts: those of SGD by those of Adam.",
    },
)


@exercise(
    tier="core",
    hints=(
        "Call `start(seed)` once for each optimizer: then both begin at the same weights.",
        "Look at the loss before each step: the count goes up with a step, not with a look.",
        "The ratio is one division of two sums, at the end.",
    ),
    seconds=60.0,
    takes=1.0,
)
def compare_optimizers(draw: Draw) -> Iterator[Case]:
    """Measure which optimizer is faster."""

    def seeds(count: int) -> list[int]:
        drawn = iter(lambda: draw.whole(0, 9999), None)
        return list(islice(filter(_begins_above_all_goals, drawn), count))

    rates = {"sgd_lr": round(draw.real(0.05, 0.1), 3), "adam_lr": round(draw.real(0.02, 0.04), 3)}
    yield one_seed(seeds(1), **rates, goal=0.2, limit=60)
    yield one_seed(seeds(1), **rates, goal=0.25, limit=60)
    yield several(seeds(3), **rates, goal=0.25, limit=60)
    good = next(seed for seed in iter(lambda: draw.whole(0, 9999), None) if _first_loss(seed) < 0.45)
    yield several(
        [good, next(s for s in iter(lambda: seeds(1)[0], None) if _first_loss(s) > 0.55)], **rates, goal=0.5, limit=60
    )
    yield limit(seeds(2), **rates, goal=0.01, limit=draw.whole(4, 7))
    yield limit(
        [just_in_time := seeds(1)[0]],
        **rates,
        goal=0.25,
        limit=min(59, _steps(just_in_time, torch.optim.SGD, rates["sgd_lr"])) + 1,
    )
    far_too_high = {"sgd_lr": 1000.0, "adam_lr": rates["adam_lr"]}  # SGD is at nan before it is at the limit
    yield limit(seeds(1), **far_too_high, goal=0.25, limit=draw.whole(120, 140))
    many_digits = next(drawn for drawn in iter(lambda: seeds(3), None) if _needs_digits(drawn, **rates))
    yield ratio(many_digits, **rates, goal=0.25, limit=60)
    yield ratio(seeds(2), **far_too_high, goal=0.25, limit=draw.whole(120, 140))


def _begins_above_all_goals(seed: int) -> bool:
    return _first_loss(seed) > 0.25


def _first_loss(seed: int) -> float:
    return next(_losses(seed, torch.optim.SGD, 0.0))


def _needs_digits(seeds: list[int], sgd_lr: float, adam_lr: float) -> bool:
    """Whether the ratio of the steps has more digits than a rounded one would keep."""
    sgd = sum(_steps(seed, torch.optim.SGD, sgd_lr) for seed in seeds)
    adam = sum(_steps(seed, torch.optim.Adam, adam_lr) for seed in seeds)
    return sgd % adam != 0 and not are_rounded([sgd / adam])


def _steps(seed: int, kind: type[torch.optim.Optimizer], lr: float) -> int:
    """How many steps it takes to the goal of 0.25; at most 60."""
    return next((steps for steps, loss in enumerate(islice(_losses(seed, kind, lr), 60)) if loss < 0.25), 60)


def _losses(seed: int, kind: type[torch.optim.Optimizer], lr: float) -> Iterator[float]:
    """The loss before each step."""
    with temporarily_seeded(seed):
        model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
    x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
    optimizer = kind(model.parameters(), lr)  # type: ignore[arg-type]
    while True:
        distance = (model(x) - x.sin()).square().mean()
        yield distance.item()
        optimizer.zero_grad()
        distance.backward()
        optimizer.step()
