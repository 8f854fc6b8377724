"""An exercise made for the tests of judging and feedback: `double(x, plus)` returns 2 * x + plus."""

import inspect
from collections.abc import Callable, Iterator

import torch

from autograder.diagnosis.expected_observations import ExpectedObservations, KnownMistake
from autograder.diagnosis.judge_answer import judge
from autograder.diagnosis.verdict import Report
from autograder.exercises.exercise import Case, Exercise, Requirement
from autograder.exercises.exercise import exercise as exercise_of
from autograder.exercises.probes.tensor_functions import make_call_probe
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import StyleRemark, calls_method_more_often_than, no_loops

NOTE = "Right; one `add` is enough."

doubles = Requirement("doubles", make_call_probe())
adds = Requirement("adds", make_call_probe())


@exercise_of(
    tier="core",
    hints=("Twice.", "Use `*`."),
    rules=(no_loops,),
    notes=(StyleRemark(NOTE, calls_method_more_often_than("add", more_than=1)),),
)
def double(draw: Draw) -> Iterator[Case]:
    """Double a tensor."""
    yield doubles(draw.normal(2, 3), plus=0.0)
    yield doubles(draw.normal(4), plus=0.0)
    yield adds(draw.normal(2, 2), plus=1.5)


def reference(x: torch.Tensor, plus: float) -> torch.Tensor:
    """Return the right result."""
    return 2 * x + plus


def roundabout(x: torch.Tensor, plus: float) -> torch.Tensor:
    """A right answer that gets a note, because it adds twice."""
    return x.add(x).add(plus)


def roundabout_and_wrong(x: torch.Tensor, plus: float) -> torch.Tensor:
    """The same structure, with a wrong result."""
    return x.add(x).add(2 * plus)


def square(x: torch.Tensor, plus: float) -> torch.Tensor:
    """A known mistake that fails the first requirement."""
    return x**2 + plus


def forgets(x: torch.Tensor, plus: float) -> torch.Tensor:
    """A known mistake that fails only when `plus` is not 0."""
    return 2 * x


def in_place(x: torch.Tensor, plus: float) -> torch.Tensor:
    """A known mistake that returns the right values, but changes the input."""
    return x.mul_(2).add_(plus)


def loops(x: torch.Tensor, plus: float) -> torch.Tensor:
    """A known mistake that breaks a rule, with right results."""
    for _ in range(1):
        x = x + x
    return x + plus


MISTAKES: dict[Callable[..., object], tuple[str, str]] = {
    square: ("square", "You square instead of doubling."),
    forgets: ("forgets-plus", "You leave out `plus`."),
    in_place: ("in-place", "You write into the input."),
    loops: ("loop", "A loop is not needed here."),
}


def exercise() -> Exercise:
    """Return the exercise."""
    return double


def key(seed: int = 0) -> ExpectedObservations:
    """Return its key for the cases of a seed."""
    made = exercise()
    cases = made.cases(seed)
    mistakes = tuple(
        KnownMistake(tag, text, made.observe(function, cases), ("no_loops",) if tag == "loop" else ())
        for function, (tag, text) in MISTAKES.items()
    )
    return ExpectedObservations("double", cases, made.observe(reference, cases), mistakes)


def report(answer: Callable[..., object], seed: int = 0) -> Report:
    """Return the report on an answer to the exercise."""
    held = key(seed)
    return judge(exercise(), held, exercise().observe(answer, held.cases), inspect.getsource(answer))
