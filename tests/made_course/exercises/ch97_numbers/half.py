"""`half`: half of a number."""

from collections.abc import Iterator

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, Requirement, exercise
from autograder.watching.probes.tensors import calling

halves = Requirement("halves", calling())


@exercise(tier="core", hints=("Divide.", "By 2."))
def half(draw: Draw) -> Iterator[Case]:
    """Halve a number."""
    yield halves(draw.whole(1, 9))
