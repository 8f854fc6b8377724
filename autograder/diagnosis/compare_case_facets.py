"""Compare one case's observation with the expected one: first in the requirement's own facets, then in `given` ones.

The facets in `Requirement.given` are those that another requirement checks.
"""

from __future__ import annotations

from dataclasses import dataclass

from autograder.exercises.compare_observations import Difference, first_difference
from autograder.exercises.exercise import Case, Exercise
from autograder.exercises.observation import Observation
from autograder.exercises.representation_mismatch import FormMismatch, find_form_mismatches


@dataclass(frozen=True)
class CaseComparison:
    """Where an answer's observation of a case differs from the reference's; all fields are empty if it does not.

    `own` is the first difference in a facet that the requirement itself is about. If there is none, `given` is the
    first difference in a facet that another requirement is about (`Requirement.given`), and `facets` are the names
    of those that differ. `slips` are the slips of form, or None if more than the form differs.
    """

    own: Difference | None = None
    given: Difference | None = None
    facets: frozenset[str] = frozenset()
    slips: frozenset[FormMismatch] | None = frozenset()

    @property
    def first(self) -> Difference | None:
        """Return the difference that the message is about, or None."""
        return self.own or self.given


def compare_facets(exercise: Exercise, case: Case, right: Observation, mine: Observation) -> CaseComparison:
    """Compare an answer's observation of a case (`mine`) with the reference's (`right`)."""
    first = exercise.compare(right, mine, exercise.tolerance)
    if first is None:
        return CaseComparison()
    given = exercise.requirements[case.requirement].given
    form = find_form_mismatches(right, mine, exercise.tolerance) if exercise.compare is first_difference else None
    if not given or not set(right) - set(given) <= set(mine):
        return CaseComparison(own=first, slips=form)
    own = {facet: right[facet] for facet in right if facet not in given}
    parted = first_difference(own, {facet: mine[facet] for facet in own}, exercise.tolerance)
    if parted:
        return CaseComparison(own=parted, slips=form)
    wrong = (f for f in given if f in right and first_difference(right[f], mine.get(f), exercise.tolerance) is not None)
    return CaseComparison(given=first, facets=frozenset(wrong), slips=form)
