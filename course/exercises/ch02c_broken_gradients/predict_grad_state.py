"""`predict_grad_state`: predict what autograd leaves behind."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import (
    Answer,
    make_probe_recording_exceptions,
    snapshot_value,
    snapshot_with_int_as_float,
)
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import forbid_names


@make_probe_recording_exceptions
def state_told(answer: Answer, case: Case) -> Observation:
    """The predicted state of a program, and where no number is in it, of `once`; a whole number counts as a float."""
    result = answer(*case.args)
    if not isinstance(result, dict):
        return {"returned": snapshot_value(result)}
    seen: Observation = {"returned": _told(result)}
    name, start = case.args[0]
    # Most of what there is to tell does not depend on the number: beside it stands what does.
    return seen if name in BY_NUMBER else seen | {"once": _told(answer(("once", start)))}


def _told(result: object) -> Plain:
    if not isinstance(result, dict):
        return snapshot_value(result)
    told = {str(key): value for key, value in result.items()}
    return {
        key: snapshot_with_int_as_float(value) if key == "grad" else snapshot_value(value)
        for key, value in told.items()
    }


# Of these programs the number is part of the state.
BY_NUMBER = ("once", "twice", "fresh", "twice_sum", "rebound", "under")

# Other starts: one to reckon with, one whose .grad is 0.0 and not None, and one below 0.
_SPECIAL = {"once": (3.0,), "under": (1.0, -2.0)}

# Beside each program whose state has no number in it, the answer is asked for a number that it cannot know.
ONCE = {"once": 'Asked for "once" with another start in between, your function tells another state than it should.'}

programs = {
    Requirement(
        "tells what one backward leaves behind",
        state_told,
        tells={"returned": "x is a leaf, nothing stops the program, and x.grad holds the derivative of x ** 2."},
    ): ("once",),
    Requirement(
        "tells what a second backward does",
        state_told,
        tells={
            "returned": "A second backward fails where the first has let go of something saved, and else adds to "
            ".grad. What the first has left in .grad stays in any case."
        },
    ): ("twice", "fresh", "twice_sum"),
    Requirement(
        "tells about a tensor in the middle",
        state_told,
        tells=ONCE
        | {
            "returned": "An operation made h: it is no leaf, and has a .grad only where `retain_grad` asked for it, "
            "the one by h itself."
        },
        given=("once",),
    ): ("middle", "kept"),
    Requirement(
        "tells what a leaf is after an update",
        state_told,
        tells={
            "returned": "After `x = x - 1` the name x stands for a result; under `no_grad`, `x -= 1` moves the leaf "
            "itself, and what comes later is computed with its new value."
        },
    ): ("rebound", "under"),
    Requirement(
        "tells what detach does",
        state_told,
        tells=ONCE
        | {
            "returned": "What `detach` gives does not require grad: backward from there is an error, and nothing "
            "arrives in .grad."
        },
        given=("once",),
    ): ("detached",),
    Requirement(
        "tells which changes in place stop a program",
        state_told,
        tells=ONCE
        | {
            "returned": "A change in place stops a program in two cases: at once, where a leaf that requires grad is "
            "changed while a graph is built, or at backward, where what it changed had been saved. Neither makes "
            "another leaf of x, or leaves something in .grad."
        },
        given=("once",),
    ): ("on_leaf", "after_exp", "after_twice"),
}


@exercise(
    tier="core",
    rules=(
        forbid_names(
            "torch",
            requirement="works by the rules, without torch",
            sentence="You ask torch. Predict instead: the rules say what each line leaves behind.",
        ),
    ),
    hints=(
        "Go line by line: is the tensor asked about made by an operation? What did each operation save?",
        "`**` and `exp` save a tensor, a sum and `* 2` do not. What is not saved can be neither freed nor spoilt.",
        "Only leaves get a .grad, unless asked by `retain_grad`; a program that stops keeps what was done before.",
    ),
)
def predict_grad_state(draw: Draw) -> Iterator[Case]:
    """Predict what autograd leaves behind."""
    for told, names in programs.items():
        for name in names:
            yield told((name, round(draw.real(2.5, 9.0), 2)))
            for start in _SPECIAL.get(name, ()):
                yield told((name, start))
