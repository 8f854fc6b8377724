"""Observes a second call with the same arguments, which differs if an answer keeps something between its calls."""

from __future__ import annotations

from autograder.exercises.exercise import Case, Probe
from autograder.exercises.observation import Observation
from autograder.exercises.observation_comparison import Tolerance, first_difference
from autograder.exercises.probe import Answer

AFRESH = {
    "afresh": "Called twice with the same arguments, your function gives two results. What it counts or collects has "
    "to begin anew in each call, and not to go on from the call before."
}


def with_second_call(probe: Probe) -> Probe:
    """Return the probe with an additional first facet `afresh`: whether a second observation equals the first."""

    def look(answer: Answer, case: Case) -> Observation:
        both = seen, later = probe(answer, case), probe(answer, case)
        raised = next((one for one in both if "raised" in one), None)
        return raised or {"afresh": first_difference(seen, later, Tolerance()) is None} | seen

    return look
