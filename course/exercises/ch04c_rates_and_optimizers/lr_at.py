"""`lr_at`: the learning rate of each step, by a warm-up and half a cosine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograder.exercises.compare_observations import Tolerance
from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import ExceptionSnapshot, Observation
from autograder.exercises.probe import Answer, select_facets
from autograder.exercises.probes.tensor_functions import make_call_probe
from autograder.exercises.seeded_draw import Draw

_result = select_facets(make_call_probe(), "returned")


def without_a_warm_up(answer: Answer, case: Case) -> Observation:
    """What is returned, and whether the way there ends at a division by 0."""
    seen = _result(answer, case)
    error = seen.get("raised")
    if isinstance(error, ExceptionSnapshot) and error.type == "ZeroDivisionError":
        return {"divides_by_0": error.type, "returned": None}
    return {"divides_by_0": "no error", **seen} if error is None else seen


_HALF = (
    "min_lr + (base_lr - min_lr) * (1 + cos(pi * t)) / 2, where t is the share of the way from warmup_steps to "
    "total_steps"
)
warm = Requirement(
    "warms up in equal parts",
    _result,
    tells={"returned": "In the warm-up the rate is base_lr * (step + 1) / warmup_steps, and yours is not."},
)
cosine = Requirement("follows half a cosine", _result, tells={"returned": f"After the warm-up the rate is {_HALF}."})
peak = Requirement(
    "is at base_lr where the cosine begins",
    _result,
    tells={"returned": "At step = warmup_steps the warm-up is over and t is 0: the rate is base_lr."},
    needs=(cosine,),
)
end = Requirement(
    "ends at min_lr, and stays there",
    _result,
    tells={"returned": "At step = total_steps, and at every later step, the rate is min_lr."},
    needs=(cosine,),
)
cold = Requirement(
    "does without a warm-up",
    without_a_warm_up,
    tells={
        "returned": f"With warmup_steps=0 the cosine begins at step 0: the rate is {_HALF}.",
        "divides_by_0": "Without a warm-up your code divides by 0: warmup_steps is 0 then. Only a step of the warm-up "
        "has to be divided by it.",
    },
    needs=(cosine,),
)


@exercise(
    tier="core",
    hints=(
        "Two cases: in the warm-up, and after it. Write each formula down as it stands.",
        "t is the share of the way from warmup_steps to total_steps. What if the step lies beyond?",
    ),
    independent=True,
    tolerance=Tolerance(1e-4, 1e-9),  # rates may be small
)
def lr_at(draw: Draw) -> Iterator[Case]:
    """Follow a schedule."""
    rates = {"base_lr": round(draw.real(0.2, 0.9), 2), "min_lr": round(draw.real(0.02, 0.1), 3)}
    warmup, rest = draw.whole(4, 6), draw.whole(8, 12)
    plan: dict[str, Any] = rates | {"warmup_steps": warmup, "total_steps": warmup + rest}
    shown = {"base_lr": 1.0, "min_lr": 0.0, "warmup_steps": 2, "total_steps": 6}  # by the docstring
    for step, requirement in enumerate((warm, warm, peak, cosine, cosine, cosine, end)):
        yield requirement(step, **shown)
    for step in (1, 0, warmup - 1):
        yield warm(step, **plan)
    for step in (warmup + 1, warmup + rest // 2, warmup + rest - 1):
        yield cosine(step, **plan)
    yield peak(warmup, **plan)
    for step in (warmup + rest, warmup + rest + draw.whole(2, 5)):
        yield end(step, **plan)
    for step in (0, draw.whole(2, 5)):
        yield cold(step, **plan | {"warmup_steps": 0})
    yield warm(0, base_lr=2e-5, min_lr=0.0, warmup_steps=30, total_steps=90)
    yield warm(0, **plan | {"min_lr": rates["base_lr"] / 2})  # the warm-up begins below it
    # Other plans that differ from the one before in one thing: what is kept of a call must hang on all of them.
    yield end(warmup + rest, **plan | {"min_lr": rates["min_lr"] / 2})
    yield peak(warmup, **plan | {"base_lr": 2 * rates["base_lr"]})
    yield cosine(warmup + 1, **plan | {"total_steps": warmup + rest + 2})
