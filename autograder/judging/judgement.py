"""Judgement: observations held against a key become a report. Pure: nothing of a student's code runs here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from autograder.judging import words
from autograder.judging.key import Key, Mistake
from autograder.judging.verdict import Report, Status, Verdict
from autograder.watching.difference import Difference
from autograder.watching.exercise import Case, Exercise
from autograder.watching.observation import Observation, Raised
from autograder.watching.rules import broken, remarks

_STUB = "NotImplementedError"


def judge(exercise: Exercise, key: Key, observations: Sequence[Observation], source: str) -> Report:
    """Compare what was seen with the key, case by case, and say which misunderstanding a difference looks like."""
    if all(is_stub(seen.get("raised")) for seen in observations):
        return whole(exercise, key.cases, Status.NOT_ATTEMPTED, words.not_attempted(exercise.name))
    parted = [
        exercise.compare(expected, seen, exercise.tolerance)
        for expected, seen in zip(key.reference, observations, strict=True)
    ]
    verdicts = list(_verdicts(exercise, key, observations, parted))
    clean = all(verdict.status is Status.PASS for verdict in verdicts)
    verdicts += _rule_verdicts(exercise, key, observations, source, clean)
    report = Report(exercise.name, tuple(_skip_after_basics(verdicts)))
    return replace(report, notes=remarks(exercise.notes, source, exercise.name)) if report.passed else report


def whole(exercise: Exercise, cases: Sequence[Case], status: Status, sentence: str) -> Report:
    """A report on an exercise whose checks all end alike: the first tells why, the rest is skipped."""
    first, *rest = _requirements(cases) + [rule.requirement for rule in exercise.rules]
    later = Status.NOT_ATTEMPTED if status is Status.NOT_ATTEMPTED else Status.SKIPPED
    return Report(exercise.name, (Verdict(first, status, sentence), *(Verdict(text, later) for text in rest)))


def is_stub(error: object) -> bool:
    """Whether what was raised is what the untouched starter raises."""
    return isinstance(error, Raised) and error.type == _STUB


def _requirements(cases: Sequence[Case]) -> list[str]:
    return list(dict.fromkeys(case.requirement for case in cases))


def _verdicts(
    exercise: Exercise, key: Key, seen: Sequence[Observation], parted: list[Difference | None]
) -> Iterator[Verdict]:
    """One verdict per requirement: that of its first case which differs."""
    for requirement in _requirements(key.cases):
        indices = [i for i, case in enumerate(key.cases) if case.requirement == requirement]
        wrong = next((i for i in indices if parted[i] is not None), None)
        if wrong is None:
            yield Verdict(requirement, Status.PASS)
        else:
            yield _wrong_verdict(exercise, key, seen, parted, wrong)


def _wrong_verdict(
    exercise: Exercise, key: Key, seen: Sequence[Observation], parted: list[Difference | None], index: int
) -> Verdict:
    difference, case = parted[index], key.cases[index]
    assert difference is not None
    told = words.tell(exercise, exercise.requirements[case.requirement].tells, difference, seen[index])
    mistake = _explanation(exercise, key, seen, parted, index)
    return Verdict(
        requirement=case.requirement,
        status=Status.ERROR if "raised" in seen[index] else Status.FAIL,
        sentence=mistake.sentence if mistake else told.sentence,
        mistake=mistake.tag if mistake else None,
        call=(exercise.spelled or words.call)(exercise.name, case),
        expected=told.expected,
        got=told.got,
        picture=told.picture,
    )


def _explanation(
    exercise: Exercise, key: Key, seen: Sequence[Observation], parted: list[Difference | None], index: int
) -> Mistake | None:
    """The one known mistake that shows the same on this case, and agrees on more cases than any other.

    It must agree on at least half of this requirement's cases that went wrong: a sentence about the wrong
    misunderstanding is worse than none.
    """
    requirement = key.cases[index].requirement
    wrong = [i for i, case in enumerate(key.cases) if case.requirement == requirement and parted[i] is not None]
    ranked: list[tuple[int, Mistake]] = []
    for mistake in key.mistakes:
        # Most mistakes show something else on this case: the others are looked at only for those that do not.
        if exercise.compare(mistake.observations[index], seen[index], exercise.tolerance) is not None:
            continue
        agrees = [
            exercise.compare(known, mine, exercise.tolerance) is None
            for known, mine in zip(mistake.observations, seen, strict=True)
        ]
        if 2 * sum(agrees[i] for i in wrong) >= len(wrong):
            ranked.append((sum(agrees), mistake))
    ranked.sort(key=lambda pair: -pair[0])
    if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return None
    return ranked[0][1]


def _rule_verdicts(
    exercise: Exercise, key: Key, seen: Sequence[Observation], source: str, clean: bool
) -> Iterator[Verdict]:
    """A verdict per rule; a known mistake explains a broken rule only where nothing else went wrong."""
    names = tuple(rule.name for rule in broken(exercise.rules, source, exercise.name))
    known = [m for m in key.mistakes if m.rules == names and clean and _shows(exercise, m, seen)] if names else []
    for rule in exercise.rules:
        if rule.name not in names:
            yield Verdict(rule.requirement, Status.PASS)
            continue
        mistake = known[0] if len(known) == 1 else None
        sentence = mistake.sentence if mistake else rule.sentence
        yield Verdict(rule.requirement, Status.FAIL, sentence, mistake.tag if mistake else None)


def _shows(exercise: Exercise, mistake: Mistake, seen: Sequence[Observation]) -> bool:
    pairs = zip(mistake.observations, seen, strict=True)
    return all(exercise.compare(known, mine, exercise.tolerance) is None for known, mine in pairs)


def _skip_after_basics(verdicts: list[Verdict]) -> list[Verdict]:
    """An answer that fails the first check has not begun to work: later passes would be luck, and earn nothing."""
    if verdicts[0].status is Status.PASS:
        return verdicts
    return [verdicts[0], *(Verdict(verdict.requirement, Status.SKIPPED) for verdict in verdicts[1:])]
