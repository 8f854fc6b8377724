"""`grad_by_hand`: apply the chain rule by hand."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import (
    Answer,
    make_probe_recording_exceptions,
    snapshot_value,
    snapshot_with_int_as_float,
)
from autograder.exercises.seeded_draw import Draw


def place(index: int) -> Probe:
    """One of the three numbers that an answer returns, as a float, at its place in a tuple or list as it came."""

    def look(answer: Answer, case: Case) -> Observation:
        result = answer(*case.args)
        if not isinstance(result, tuple | list) or len(result) != 3:
            return {"returned": snapshot_value(result)}
        found = [snapshot_with_int_as_float(each) if at == index else None for at, each in enumerate(result)]
        return {"returned": tuple(found) if isinstance(result, tuple) else found}

    return make_probe_recording_exceptions(look)


def _slope(name: str, place: str) -> dict[str, str]:
    """What to tell of a number that is not the derivative by this input."""
    return {
        "returned:values": f"The {place} number is not the derivative by {name}: how much more is (x + y) * z for "
        f"one more in {name}?"
    }


by_z = Requirement(
    "gives three numbers as a tuple, the last of them the derivative by z", place(2), _slope("z", "third")
)
by_x = Requirement("gives the derivative by x", place(0), _slope("x", "first"))
by_y = Requirement("gives the derivative by y", place(1), _slope("y", "second"))


@exercise(
    tier="warm-up",
    independent=True,
    hints=(
        "Name the sum: s = x + y, so the result is s * z. What is the derivative of s * z by s?",
        "Then go on from s to x and to y: multiply by the derivative of s by each, which is 1.",
    ),
)
def grad_by_hand(draw: Draw) -> Iterator[Case]:
    """Apply the chain rule by hand."""
    yield by_z(*map(float, draw.sizes(3, 2, 9)))
    for requirement in (by_z, by_x, by_y):
        yield requirement(*(round(draw.choice([-1, 1]) * draw.real(1.5, 9.0), 2) for _ in range(3)))
    yield by_z(2.0, 3.0, 4.0)
    yield by_z(2.0, 3.0, 0.0)  # here, and where x + y is 0, no quotient of the result says anything
    yield by_x(2.0, -2.0, 4.0)
    yield by_y(-3.0, 3.0, 2.0)
