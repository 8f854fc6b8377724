"""`half`: half of a number."""

from collections.abc import Iterator

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probes.tensor_functions import make_call_probe
from autograder.exercises.seeded_draw import Draw

halves = Requirement("halves", make_call_probe())


@exercise(tier="core", hints=("Divide.", "By 2."))
def half(draw: Draw) -> Iterator[Case]:
    """Halve a number."""
    yield halves(draw.whole(1, 9))
