"""Check that the report on a wrong answer of the bank gives that answer's own message, and no other."""

from __future__ import annotations

from autograder.course.answer_bank import KnownAnswer
from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.diagnosis.judge_answer import UNTOUCHED_TAG
from autograder.diagnosis.mistake_matching import matches_mistake
from autograder.diagnosis.verdict import Report, Verdict
from autograder.exercises.exercise import Exercise


def verdicts_with_unexpected_message(exercise: Exercise, answer: KnownAnswer, report: Report) -> list[Verdict]:
    """Return the failed verdicts on a wrong answer that show another message than the one the bank gives it.

    The unchanged starter of a bug hunt is judged as not attempted: for it, only the first verdict has to show the
    bank's sentence.
    """
    if answer.tag == UNTOUCHED_TAG and report.verdicts[0].sentence == answer.sentence:
        return []
    return [each for each in report.failed_verdicts if (each.mistake, each.sentence) != _own(exercise, answer, each)]


def indistinguishable_mistake(exercise: Exercise, key: ExpectedObservations, tag: str) -> str:
    """Return the tag of another known mistake that has the observations of mistake `tag` on every case, or ""."""
    one = next(mistake for mistake in key.mistakes if mistake.tag == tag)
    others = (
        mistake
        for mistake in key.mistakes
        if mistake.tag != tag and matches_mistake(exercise, mistake, one.observations)
    )
    return next((mistake.tag for mistake in others), "")


def _own(exercise: Exercise, answer: KnownAnswer, verdict: Verdict) -> tuple[str | None, str | None]:
    """Return the mistake tag and the sentence that a failed verdict on this wrong answer must have."""
    if not answer.facet:
        return answer.tag, answer.sentence
    return None, exercise.tells(verdict.requirement).get(answer.facet)
