"""A second call on the same arguments: an answer that keeps something between its calls gives another result."""

from __future__ import annotations

from autograder.exercises.difference import Tolerance, first_difference
from autograder.exercises.exercise import Case, Probe
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer

AFRESH = {
    "afresh": "Called twice with the same arguments, your function gives two results. What it counts or collects has "
    "to begin anew in each call, and not to go on from the call before."
}


def repeated(probe: Probe) -> Probe:
    """The probe, with one facet before all others: `afresh`, whether it sees the same when it watches again."""

    def look(answer: Answer, case: Case) -> Observation:
        both = seen, later = probe(answer, case), probe(answer, case)
        raised = next((one for one in both if "raised" in one), None)
        return raised or {"afresh": first_difference(seen, later, Tolerance()) is None} | seen

    return look
