"""Find distractors: descriptions of other mistakes that are false of every answer with a given known mistake."""

from __future__ import annotations

import re
from collections.abc import Iterable

from autograder.course.answer_bank import KnownAnswer
from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.diagnosis.mistake_matching import cases_showing_mistake
from autograder.exercises.exercise import Exercise


def mistakes_excluded_by(
    exercise: Exercise, key: ExpectedObservations, bank: Iterable[KnownAnswer], tag: str
) -> list[str]:
    """Return the tags of mistakes whose sentences are false of every answer that shows the mistake `tag`.

    Such a mistake fails on a case on which this one is right, so an answer that shows this one does not make it.
    Those that fail on most such cases come first. Left out are mistakes that the bank says to occur together with
    this one (`also`), and those whose sentence begins with mostly the same words.
    """
    mistakes = {each.tag: each for each in key.mistakes}
    also = {each.tag: {*each.also} for each in bank}
    mine = set(cases_showing_mistake(exercise, key, mistakes[tag]))
    ranked = []
    for other in key.mistakes:
        wrong = set(cases_showing_mistake(exercise, key, other))
        akin = other.tag in also[tag] or tag in also[other.tag] or also[tag] & also[other.tag]
        if other.tag in (tag, "untouched") or not other.sentence or akin or not wrong - mine:
            continue
        if not _alike(other.sentence, mistakes[tag].sentence):
            ranked.append((-len(wrong - mine) / len(wrong), other.tag))
    return [name for _, name in sorted(ranked)]


def _alike(one: str, other: str) -> bool:
    """Return whether two sentences share most words of their first clause."""
    words = [set(re.findall(r"\w{3,}", re.split(r"[.:,]", text)[0].lower())) for text in (one, other)]
    return len(words[0] & words[1]) > 0.5 * max(1, min(map(len, words)))
