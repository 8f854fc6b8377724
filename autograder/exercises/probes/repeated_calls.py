"""Observe a second call with the same arguments; its result differs if the answer keeps state between calls."""

from __future__ import annotations

from autograder.exercises.compare_observations import Tolerance, first_difference
from autograder.exercises.exercise import Case, Probe
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer

STATE_BETWEEN_CALLS_MESSAGES = {
    "afresh": "Called twice with the same arguments, your function gives two results. What it counts or collects has "
    "to begin anew in each call, and not to go on from the call before."
}


def with_second_call(probe: Probe) -> Probe:
    """Add a first facet `afresh` to a probe: whether a second call gives the same observation as the first.

    It does not if the answer keeps state between calls.
    """

    def look(answer: Answer, case: Case) -> Observation:
        both = seen, later = probe(answer, case), probe(answer, case)
        raised = next((one for one in both if "raised" in one), None)
        return raised or {"afresh": first_difference(seen, later, Tolerance()) is None} | seen

    return look
