"""Check that the committed observations of an exercise still agree with the course.

Processors differ in the last bits of a sum, and so in some digits of the observations. These may differ from a new
build; the messages that students get must not.
"""

from __future__ import annotations

import json

from autograder.course.chapter_judge import Judge
from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.diagnosis.judge_answer import judge
from autograder.diagnosis.verdict import Report
from autograder.exercises.compare_observations import Tolerance, first_difference
from autograder.exercises.exercise import Exercise
from autograder.exercises.observation import Observation, encode_as_json_and_tensors

# Inputs are drawn through logarithms and cosines, whose last bits may differ between processors.
_INPUTS = Tolerance(relative=1e-5, absolute=1e-9)
_EXACT = Tolerance(0.0, 0.0)


def is_observation_file_current(course_judge: Judge, old: ExpectedObservations) -> bool:
    """Return whether the committed key `old` equals a new build in all but last digits that change no message.

    Cases, facets and the known mistakes' sentences and rules must be equal, and `old` must agree with the reference
    within its tolerance. If any numbers differ, both keys must give every answer of the bank, as observed on this
    machine, the same messages.
    """
    new = course_judge.keys.shipped_key(old.exercise)
    exercise, here = course_judge.exercises[new.exercise], course_judge.keys.full_key(new.exercise, VISIBLE_SEED)
    if _form(old) != _form(new) or not _same_inputs(old, new) or not _fits(exercise, old, here.reference):
        return False
    return _same(old, new) or all(
        _messages(judge(exercise, old, seen, answer.source)) == _messages(judge(exercise, new, seen, answer.source))
        for answer, seen in course_judge.keys.bank_observations(exercise.name)
    )


def _same(old: ExpectedObservations, new: ExpectedObservations) -> bool:
    """Return whether the observations of two keys are equal to the last bit, so that all their reports are equal."""
    return first_difference(_observed(old), _observed(new), _EXACT) is None


def _observed(key: ExpectedObservations) -> list[object]:
    return [key.reference, *(mistake.observations for mistake in key.mistakes)]


def _form(key: ExpectedObservations) -> list[object]:
    """Return everything in a key but its numbers: cases, facets, tags, sentences, rules and patterns."""
    cases, _ = encode_as_json_and_tensors(_plain_cases(key))
    mistakes = [
        (each.tag, each.sentence, each.rules, each.unless, each.slip, _facets(each.observations))
        for each in key.mistakes
    ]
    # As text: nan is not equal to itself.
    return [key.exercise, json.dumps(cases), _facets(key.reference), mistakes]


def _facets(observations: tuple[Observation, ...]) -> list[list[str]]:
    return [list(seen) for seen in observations]


def _plain_cases(key: ExpectedObservations) -> list[object]:
    return [case.to_plain() for case in key.cases]


def _same_inputs(old: ExpectedObservations, new: ExpectedObservations) -> bool:
    return first_difference(_plain_cases(old), _plain_cases(new), _INPUTS) is None


def _fits(exercise: Exercise, key: ExpectedObservations, reference: tuple[Observation, ...]) -> bool:
    """Return whether the solution's observations on this machine pass when they are compared with a key."""
    pairs = zip(key.reference, reference, strict=True)
    return all(exercise.compare(expected, seen, exercise.tolerance) is None for expected, seen in pairs)


def _messages(report: Report) -> list[tuple[object, ...]]:
    """Return the verdicts of a report without the values found, whose digits depend on the answer alone."""
    return [(each.requirement, each.status, each.sentence, each.mistake) for each in report.verdicts]
