"""What an answer's text says to its judge; of everything else about it, the observations speak."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autograder.diagnosis.expected import Key
from autograder.exercises.exercise import Exercise
from autograder.exercises.source_rules import broken, remarks
from autograder.ipython_syntax import UNREAD, without_comments

_SEARCHED = 20_000  # characters: a pattern may have to be tried at each of them, to the end


@dataclass(frozen=True)
class Text:
    """The rules that it breaks, by name; the places in the key of the mistakes that it cannot have made; remarks.

    Two answers of which this is equal, and which show the same, have the same report.
    """

    broken: tuple[str, ...] = ()
    disproved: frozenset[int] = frozenset()
    remarks: tuple[str, ...] = ()

    @classmethod
    def read(cls, exercise: Exercise, key: Key, source: str) -> Text:
        """What the text of an answer, with its helpers, says."""
        names = tuple(rule.name for rule in broken(exercise.rules, source, exercise.name))
        notes = remarks(exercise.notes, source, exercise.name) if exercise.notes else ()
        return cls(names, _disproved(key, source), notes)


def _disproved(key: Key, source: str) -> frozenset[int]:
    """The mistakes whose sentence the code proves false, or could: where it is unknown, or too long to be searched.

    Every answer has a text: an empty one is one that could not be found, and proves nothing, not even what it lacks.
    Neither does one of which a part is unread.
    """
    proofs = [(place, mistake.unless) for place, mistake in enumerate(key.mistakes) if mistake.unless]
    code = without_comments(source) if proofs else ""
    unread = not code.strip() or len(code) > _SEARCHED or UNREAD in code
    return frozenset(place for place, proof in proofs if unread or re.search(proof, code))
