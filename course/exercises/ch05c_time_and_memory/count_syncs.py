"""`count_syncs`: find the operations that wait for a value, in programs that the cases name."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.leaked_dispatch_modes import active_mode_count
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, copy_case_data, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.seeded_draw import Draw

ERRORS: dict[str, type[Exception]] = {"ValueError": ValueError, "RuntimeError": RuntimeError}


def counted(answer: Answer, case: Case) -> Observation:
    """One call of `count_syncs`, and another one.

    Facets: `returned`, `later` (the same list after the other call), `calls` of fn, what it `made`, and how many modes
    it `left` on.
    """
    name, x = copy_case_data(case.args)
    made: list[Any] = []
    before = active_mode_count()
    result = answer(lambda: made.append(PROGRAMS[name](x)))
    seen: Observation = {"returned": snapshot_value(result), "left": active_mode_count() - before}
    answer(lambda: torch.ones(1).nonzero())
    return seen | {
        "later": snapshot_value(result),
        "calls": len(made),
        "made": [snapshot_value(one) for one in made[:1]],
    }


def counted_until_error(answer: Answer, case: Case) -> Observation:
    """One call with an fn that computes and then raises. Facets: the `error` that arrives, and the modes `left` on."""
    name, x = copy_case_data(case.args)
    made: list[Any] = []
    raised = ERRORS[case.kwargs["error"]]("fn gives up")
    before, arrived = active_mode_count(), "nothing"

    def fails() -> None:
        made.append(PROGRAMS[name](x))
        raise raised

    try:
        answer(fails)
    except type(raised) as error:
        if error is not raised:
            raise  # the answer's own
        arrived = type(error).__name__
    return {"error": arrived, "left": active_mode_count() - before, "made": [snapshot_value(one) for one in made[:1]]}


def _spelled(name: str, case: Case) -> str:
    """What the function does that is watched."""
    doing, x = case.args
    ending = f", then raises a {case.kwargs['error']}" if case.kwargs else ""
    return f"{name}(fn), where fn does: {doing}{ending}; x has shape {tuple(x.shape)}"


def _loop(x: Tensor) -> list[float]:
    total, shown = torch.zeros(()), list[float]()
    for row in x:
        total = total + row * row
        shown.append(total.item())
    return shown


def _backward(x: Tensor) -> tuple[float, float]:
    weight = torch.ones_like(x, requires_grad=True)
    loss = (weight * x).square().sum()
    loss.backward()
    return loss.item(), weight.sum().item()


def _in_place(x: Tensor) -> Tensor:
    total = x.clone()
    total += 1.0
    return total.mul_(3.0)


returned = make_probe_recording_exceptions(counted, "returned", "made")
WAITING: dict[Requirement, dict[str, Callable[[Tensor], Any]]] = {
    Requirement(
        "lists a call of item",
        returned,
        {
            "returned": "One item() runs one aten._local_scalar_dense: the list of this call holds that name, and no "
            "other."
        },
        given=("made",),
    ): {
        "x.sum().item()": lambda x: x.sum().item(),
    },
    Requirement(
        "lists float, int, bool and if on a tensor",
        returned,
        {"returned": "Each of these runs aten._local_scalar_dense, as item() does: the list holds that, and no more."},
        given=("made",),
    ): {
        "float(x[0])": lambda x: float(x[0]),
        "int(x[0])": lambda x: int(x[0]),
        "if x.sum() > 0": lambda x: "above 0" if x.sum() > 0 else "not above 0",
        "bool(x[0] > 0)": lambda x: bool(x[0] > 0),
        "torch.full((2,), x[0])": lambda x: torch.full((2,), x[0]),  # type: ignore[call-overload]
    },
    Requirement(
        "lists nonzero",
        returned,
        {"returned": "nonzero needs the values, within torch.where(x > 0) too: the list is to hold aten.nonzero."},
        given=("made",),
    ): {
        "x.nonzero()": lambda x: x.nonzero(),
        "torch.where(x > 0)": lambda x: torch.where(x > 0),
        "torch.nonzero(x, out=places)": lambda x: torch.nonzero(x, out=torch.empty(0, dtype=torch.int64)),
    },
    Requirement(
        "lists each as often as it ran, in order",
        returned,
        {"returned": "The list has a name for each time that one of the two ran, in the order in which they ran."},
        given=("made",),
    ): {
        "x.max().item() - x.min().item()": lambda x: x.max().item() - x.min().item(),
        "item() in each round of a loop": _loop,
        "loss.backward(), then two calls of item()": _backward,
        "x.sum().item(), then x.nonzero(), then float(x[0])": lambda x: [x.sum().item(), x.nonzero(), float(x[0])],
        "x.nonzero(), then x.sum().item()": lambda x: [x.nonzero(), x.sum().item()],
    },
    Requirement(
        "lists nothing where nothing waits",
        returned,
        {"returned": "None of the two runs here: the list is to be empty."},
        given=("made",),
    ): {
        "(x * 2).sum()": lambda x: (x * 2).sum(),
        "torch.softmax(x, dim=0)": lambda x: torch.softmax(x, dim=0),
        "torch.count_nonzero(x)": lambda x: torch.count_nonzero(x),
        "x.clamp(min=0.0).to(dtype=torch.float64)": lambda x: x.clamp(min=0.0).to(dtype=torch.float64),
        "y = x.clone(); y += 1; y.mul_(3)": _in_place,
        "print(x), which the mode does not see": lambda x: print(x, file=io.StringIO()),
    },
}
PROGRAMS = {name: program for programs in WAITING.values() for name, program in programs.items()}
called = Requirement(
    "calls fn once, and lets it compute what it would",
    make_probe_recording_exceptions(counted, "calls", "made", "left", "later"),
    {
        "later": "A later call of `count_syncs` changes the list that an earlier one returned.",
        "left": "After the call a mode is still on: it sees all that follows. `with Watch(): fn()` switches it off.",
        "calls": "One call of `count_syncs` is to call fn once.",
        "made": "Within `count_syncs`, fn computes something else than without.",
    },
)

LEFT_BY_ERROR = "After an error in fn a mode is still on: it sees all that follows. A `with` block switches it off."
stopped = Requirement(
    "switches its mode off where fn raises, and lets the error go on",
    make_probe_recording_exceptions(counted_until_error),
    {"error": "The error that fn raises does not reach the caller.", "left": LEFT_BY_ERROR},
    given=("made",),
)


@exercise(
    tier="stretch",
    hints=(
        "A class within the function can write into a list of the function. A new call needs a new list.",
        "Whatever the operation is, `__torch_dispatch__` must run it with its args and kwargs and return its result.",
        "`with Watch(): fn()` switches the mode on for one call; `str(func.overloadpacket)` is the name to compare.",
    ),
    spelled=_spelled,
)
def count_syncs(draw: Draw) -> Iterator[Case]:
    """Find the operations that wait for a value."""
    for requirement, programs in WAITING.items():
        if "x.sum().item()" in programs:
            yield requirement("x.sum().item()", torch.ones(2))
        for name in programs:
            yield requirement(name, draw.normal(draw.whole(3, 6)))
    for name in (
        "(x * 2).sum()",
        "x.clamp(min=0.0).to(dtype=torch.float64)",
        "x.max().item() - x.min().item()",
        "y = x.clone(); y += 1; y.mul_(3)",
    ):
        yield called(name, draw.normal(draw.whole(3, 6)))
    for name, error in (("(x * 2).sum()", "ValueError"), ("x.sum().item()", "RuntimeError")):
        yield stopped(name, draw.normal(draw.whole(3, 6)), error=error)
