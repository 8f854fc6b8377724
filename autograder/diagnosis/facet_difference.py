"""Parting: where an answer parts from the reference on one case, in what its requirement is about and in the rest."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.exercises.difference import Difference, first_difference
from autograder.exercises.exercise import Case, Exercise
from autograder.exercises.form_slips import Slip, slips
from autograder.exercises.observation import Observation


@dataclass(frozen=True)
class Parting:
    """The first difference in what a requirement is about, else the first in what must be given, and in which facets.

    `slips` tells of an observation that differs in nothing but form; None where it differs in more.
    """

    own: Difference | None = None
    given: Difference | None = None
    facets: frozenset[str] = frozenset()
    slips: frozenset[Slip] | None = frozenset()

    @property
    def first(self) -> Difference | None:
        """The difference to tell."""
        return self.own or self.given


def part(exercise: Exercise, case: Case, right: Observation, mine: Observation) -> Parting:
    """Hold what was seen on a case against what the reference shows."""
    first = exercise.compare(right, mine, exercise.tolerance)
    if first is None:
        return Parting()
    given = exercise.requirements[case.requirement].given
    form = slips(right, mine, exercise.tolerance) if exercise.compare is first_difference else None
    if not given or not set(right) - set(given) <= set(mine):
        return Parting(own=first, slips=form)
    own = {facet: right[facet] for facet in right if facet not in given}
    parted = first_difference(own, {facet: mine[facet] for facet in own}, exercise.tolerance)
    if parted:
        return Parting(own=parted, slips=form)
    wrong = (f for f in given if f in right and first_difference(right[f], mine.get(f), exercise.tolerance) is not None)
    return Parting(given=first, facets=frozenset(wrong), slips=form)
