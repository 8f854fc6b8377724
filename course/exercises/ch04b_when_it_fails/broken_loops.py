"""`broken_loops`: eight loops to be fixed in a line or two each.

Every loop runs on a line without noise, so that a right one learns it nearly perfectly, whatever its curve.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import torch
from torch import Tensor, nn

from autograder.diagnosis.difference_messages import tensor_placeholder
from autograder.exercises.compare_observations import Difference, Tolerance, first_difference
from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    make_probe_recording_exceptions,
    snapshot_value,
    snapshot_without_requires_grad,
)
from autograder.exercises.probes.random_results import temporarily_seeded
from autograder.exercises.probes.training_steps import record_before_each_step
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_LOSS_MESSAGES, with_detached_loss_facet
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import max_changed_lines

# --- the limit on changed lines

MOST_LINES = 2
_SGD = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
_LOOP = "for _ in range(steps):"
_ZERO = "optimizer.zero_grad()"
_LOSS = "loss = F.mse_loss(model(x).squeeze(1), y)"
_END = ("loss.backward()", "optimizer.step()", "losses.append(loss.item())", "return losses")
_RATE, _SLOWER = "scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)", "scheduler.step()"
_MIDDLE = ("losses = []", _LOOP, _ZERO)
GIVEN: dict[str, tuple[str, ...]] = {
    "loop_a": (_SGD, "losses = []", _LOOP, _LOSS, *_END),
    "loop_b": (_SGD, "losses = []", _LOOP, _LOSS, _END[0], _ZERO, *_END[1:]),
    "loop_c": (_SGD.replace("0.1", "10.0"), *_MIDDLE, _LOSS, *_END),
    "loop_d": ("twin = copy.deepcopy(model)", _SGD.replace("model", "twin"), *_MIDDLE, _LOSS, *_END),
    "loop_e": (_SGD, *_MIDDLE, "loss = ((model(x) - y) ** 2).mean()", *_END),
    "loop_f": ("losses = []", _LOOP, "optimizer = torch.optim.Adam(model.parameters(), lr=0.03)", _ZERO, _LOSS, *_END),
    "loop_g": (_SGD, *_MIDDLE, "order = torch.randperm(len(x))", _LOSS.replace("(x)", "(x[order])"), *_END),
    "loop_h": (_SGD, _RATE, "losses = []", "for step in range(steps):", _ZERO, _LOSS, *_END[:2], _SLOWER, *_END[2:]),
}

few = max_changed_lines(
    MOST_LINES,
    GIVEN,
    f"changes at most {MOST_LINES} lines of each loop",
    f"One of the loops differs from what you were given in more than {MOST_LINES} lines, or has lost its name. "
    "Each fault needs less than that.",
)

# --- the loops at work

_SMALL = 0.0001  # a loop has learned when its last losses are below this part of the first


@make_probe_recording_exceptions
def loop_run(answer: Answer, case: Case) -> Observation:
    """One loop, run on a line: its losses, the model's loss at the end, and the optimizers that took steps.

    A step of another model comes first: a loop that keeps its losses, or its optimizer, has them from there.
    """
    letter, x, y, steps = copy_case_data(case.args)
    loops = answer()
    if not isinstance(loops, dict) or letter not in loops:
        return {"returned": snapshot_value(loops)}
    with temporarily_seeded(21):
        loops[letter](_at_zero(x.shape[1]), copy_case_data(x), copy_case_data(y), 1)
        model = _at_zero(x.shape[1])
        with record_before_each_step(
            lambda used: (type(used).__name__, float(used.param_groups[0]["lr"]))
        ) as steps_taken:
            losses = loops[letter](model, x, y, steps)
    return {
        "losses": snapshot_value(losses),
        "left": ((model(x).squeeze(1) - y) ** 2).mean().item(),
        "weights": [snapshot_without_requires_grad(param) for param in model.parameters()],
        "optimizers": sorted({kind for kind, _ in steps_taken}),
        "rates": [rate for _, rate in steps_taken] if letter == "h" else [],
    }


def _at_zero(width: int) -> nn.Linear:
    model = nn.Linear(width, 1).double()
    [nn.init.zeros_(param) for param in model.parameters()]
    return model


def compare_loops(expected: Observation, got: Observation, tolerance: Tolerance) -> Difference | None:
    """Loops that have learned are alike, whatever their curves; of others, the curves tell which fault it is."""
    if "losses" not in expected or "losses" not in got:
        return first_difference(expected, got, tolerance)
    right, mine = ({"cut_loss": seen.get("cut_loss")} | _facts(seen) for seen in (expected, got))
    if right["floats"] != mine["floats"]:
        right, mine = ({facet: one[facet] for facet in ("cut_loss", "floats")} for one in (right, mine))
        return first_difference(right, mine, tolerance)
    if all(one.get("learned") and one.get("trained") for one in (right, mine)):
        return first_difference(right, mine, tolerance)
    return first_difference(right | expected, mine | got, tolerance)


def _facts(seen: Observation) -> dict[str, Plain]:
    losses = seen["losses"]
    are_floats = isinstance(losses, list) and bool(losses) and all(type(loss) is float for loss in losses)
    if not are_floats:
        return {"floats": False}
    return {
        "floats": True,
        "learned": max(map(_or_inf, losses[-5:])) < _SMALL * losses[0],
        "trained": _or_inf(seen["left"]) < _SMALL * losses[0],
        "length": len(losses),
        "first": losses[0],
        "optimizers": seen["optimizers"],
        **_schedule(seen.get("rates")),
    }


def _schedule(rates: object) -> dict[str, Plain]:
    """After which steps the rate first changed, and by which factors; none where no rates were kept."""
    if not isinstance(rates, list) or not all(type(rate) is float for rate in rates):
        return {"falls": None, "factors": None}
    pairs = list(enumerate(pairwise(rates), start=1))
    changed = [(step, after / before) for step, (before, after) in pairs if before and after != before]
    return {"falls": [step for step, _ in changed[:4]], "factors": [factor for _, factor in changed[:4]]}


def _or_inf(loss: float) -> float:
    return loss if loss == loss else float("inf")


# --- what is asked

_TELLS = {
    "floats": "What this loop returns is not a list of plain floats, one for each step.",
    "trained": "The losses fall, but the model that was given has not learned.",
    "length": "The list of losses is not as long as asked for: one for each step of this call, none of other calls.",
    "first": "The first loss is not the mean of the squared errors of the first weights, from before the step.",
    "optimizers": "The loop should keep its kind of optimizer.",
    "falls": "Loop h learns, but not at the rates that are asked for: its rate should fall after every 20 steps, and "
    "at no other time. These are the first steps after which it changed.",
    "factors": "Loop h learns, and its rate falls after every 20 steps, but it should be multiplied by 0.9 each time.",
}


def asked(sentence: str, question: str) -> Requirement:
    """A requirement that some loops learn, and what to ask of one that does not."""
    learned = f"The last losses of this loop are not a small part of the first. {question}"
    return Requirement(
        sentence, with_detached_loss_facet(loop_run), {**DETACHED_LOSS_MESSAGES, "learned": learned, **_TELLS}
    )


shown_by = {
    asked("loop a learns", "What stands in .grad when a step is taken?"): "a",
    asked("loop b learns", "What stands in .grad when a step is taken?"): "b",
    asked("loops d and e learn", "Whose parameters does the optimizer move, and which shapes meet in the loss?"): "de",
    asked("loops g and h learn", "Does each row meet its own target, and how soon does the rate fall?"): "gh",
    asked("loop f learns", "What does its optimizer remember from one step to the next?"): "f",
    asked("loop c learns", "How far does one step go, and do the losses grow, swing or crawl?"): "c",
}
_STEPS = {"c": 240, "f": 110, "h": 60}


def looping(name: str, case: Case) -> str:
    """One of the loops, out of the dict that the answer returns."""
    letter, x, y, steps = case.args
    return f'{name}()["{letter}"](model, {tensor_placeholder("x", x)}, {tensor_placeholder("y", y)}, {steps})'


@exercise(
    tier="core",
    hints=(
        "Compare each loop with the five lines: what is missing, out of place, or done too often?",
        "Which parameters does the optimizer move? Which shapes meet in the loss? Which row belongs to which target?",
        "Things with a memory are made once, before the loop. A schedule counts what its comment says.",
    ),
    rules=(few,),
    compare=compare_loops,
    independent=True,
    seconds=60.0,
    spelled=looping,
)
def broken_loops(draw: Draw) -> Iterator[Case]:
    """Mend eight broken loops."""
    for requirement, letters in shown_by.items():
        for letter in letters:
            yield requirement(letter, *_line(draw), _STEPS.get(letter, 28))


def _line(draw: Draw) -> tuple[Tensor, Tensor]:
    """Inputs whose columns have mean 0, variance 1 and nothing in common, and targets on a line: no noise."""
    n, d = draw.whole(6, 9), draw.whole(2, 3)
    columns = torch.cat([torch.ones(n, 1, dtype=torch.float64), draw.normal(n, d, dtype=torch.float64)], dim=1)
    x = torch.linalg.qr(columns).Q[:, 1:] * n**0.5
    weight = draw.uniform(d, low=0.25, high=0.4).double()
    return x, x @ weight + draw.real(0.25, 0.4)
