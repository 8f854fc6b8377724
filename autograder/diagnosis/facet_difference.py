"""Compare the observation of one case with the expected one, in the facets that its requirement is about and the rest.

The rest are the facets in `Requirement.given`, which another requirement is about.
"""

from __future__ import annotations

from dataclasses import dataclass

from autograder.exercises.exercise import Case, Exercise
from autograder.exercises.observation import Observation
from autograder.exercises.observation_comparison import Difference, first_difference
from autograder.exercises.representation_mismatch import Slip, find_form_slips


@dataclass(frozen=True)
class FacetDifference:
    """The result of the comparison; without arguments, no difference.

    `own` is the first difference in the requirement's own facets. If there is none, `given` is the first difference in
    its given facets, and `facets` are the names of those that differ. `slips` are the slips of form, or None if the
    observation differs in more than form.
    """

    own: Difference | None = None
    given: Difference | None = None
    facets: frozenset[str] = frozenset()
    slips: frozenset[Slip] | None = frozenset()

    @property
    def first(self) -> Difference | None:
        """Return the difference that the message is about, or None."""
        return self.own or self.given


def compare_facets(exercise: Exercise, case: Case, right: Observation, mine: Observation) -> FacetDifference:
    """Compare an answer's observation of a case (`mine`) with the reference's (`right`)."""
    first = exercise.compare(right, mine, exercise.tolerance)
    if first is None:
        return FacetDifference()
    given = exercise.requirements[case.requirement].given
    form = find_form_slips(right, mine, exercise.tolerance) if exercise.compare is first_difference else None
    if not given or not set(right) - set(given) <= set(mine):
        return FacetDifference(own=first, slips=form)
    own = {facet: right[facet] for facet in right if facet not in given}
    parted = first_difference(own, {facet: mine[facet] for facet in own}, exercise.tolerance)
    if parted:
        return FacetDifference(own=parted, slips=form)
    wrong = (f for f in given if f in right and first_difference(right[f], mine.get(f), exercise.tolerance) is not None)
    return FacetDifference(given=first, facets=frozenset(wrong), slips=form)
