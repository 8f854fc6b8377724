"""Own words: whether a wrong answer of the bank is told what it is to be told, and nothing else."""

from __future__ import annotations

from autograder.course.answer_bank import KnownAnswer
from autograder.diagnosis.expected import ExpectedObservations
from autograder.diagnosis.judge_observations import UNTOUCHED
from autograder.diagnosis.mistake_matching import matches_mistake
from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.exercises.exercise import Exercise


def unmet(report: Report) -> list[Verdict]:
    """The checks that failed; one that waits for another has not."""
    return [each for each in report.failed_checks if each.status is not Status.SKIPPED]


def otherwise(exercise: Exercise, answer: KnownAnswer, report: Report) -> list[Verdict]:
    """The failed checks at which a wrong answer is told something else than its own mistake, in its own words.

    A program as it was given is no attempt, and has a sentence all the same.
    """
    if answer.tag == UNTOUCHED and report.verdicts[0].sentence == answer.sentence:
        return []
    return [each for each in unmet(report) if (each.mistake, each.sentence) != _own(exercise, answer, each)]


def twin(exercise: Exercise, key: ExpectedObservations, tag: str) -> str:
    """Another known mistake that shows the same as this one on every case; "" where there is none."""
    one = next(mistake for mistake in key.mistakes if mistake.tag == tag)
    others = (
        mistake
        for mistake in key.mistakes
        if mistake.tag != tag and matches_mistake(exercise, mistake, one.observations)
    )
    return next((mistake.tag for mistake in others), "")


def _own(exercise: Exercise, answer: KnownAnswer, verdict: Verdict) -> tuple[str | None, str | None]:
    if not answer.facet:
        return answer.tag, answer.sentence
    return None, exercise.tells(verdict.requirement).get(answer.facet)
