"""Inspect an answer's source: which rules it breaks, which known mistakes it disproves, and which remarks apply."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.exercises.exercise import Exercise
from autograder.exercises.source_rules import applicable_style_remarks, broken_rules
from autograder.ipython_syntax import UNPARSED_MARK, remove_comments

_SEARCHED = 20_000  # characters; searching a longer text for a pattern could take too long


@dataclass(frozen=True)
class SourceFindings:
    """What inspecting an answer's text found: broken rules, known mistakes that it rules out, and notes.

    `broken` are the names of the broken rules, `disproved` the indices (in `key.mistakes`) of the mistakes that the
    text rules out, and `remarks` the sentences of the notes. Two answers with equal `SourceFindings` and equal
    observations have the same report.
    """

    broken: tuple[str, ...] = ()
    disproved: frozenset[int] = frozenset()
    remarks: tuple[str, ...] = ()

    @classmethod
    def read(cls, exercise: Exercise, key: ExpectedObservations, source: str) -> SourceFindings:
        """Examine the text of an answer, helper functions included."""
        names = tuple(rule.name for rule in broken_rules(exercise.rules, source, exercise.name))
        notes = applicable_style_remarks(exercise.notes, source, exercise.name) if exercise.notes else ()
        return cls(names, _disproved(key, source), notes)


def _disproved(key: ExpectedObservations, source: str) -> frozenset[int]:
    """Return the indices of the mistakes whose sentence may be false of this code.

    A mistake is ruled out if its pattern `unless` is found, and also if the code cannot be searched: it is too long, a
    part of it is unread, or it is empty, which means that the text of the answer was not found.
    """
    proofs = [(place, mistake.unless) for place, mistake in enumerate(key.mistakes) if mistake.unless]
    code = remove_comments(source) if proofs else ""
    unread = not code.strip() or len(code) > _SEARCHED or UNPARSED_MARK in code
    return frozenset(place for place, proof in proofs if unread or re.search(proof, code))
