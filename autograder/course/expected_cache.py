"""Cache the expected observations of a grading run on disk, so that a run that was killed need not compute them again.

For a chapter with long trainings, computing them takes a minute, and no submission is graded before most are there.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.diagnosis.expected_observations import ExpectedObservations, KnownMistake
from autograder.errors import DamagedData, WorkFailed
from autograder.exercises.observation import decode_plain_data, encode_plain_data
from autograder.files import sha256_of_texts, write_all


@dataclass(frozen=True)
class ExpectedCache:
    """A folder of cached keys; `digest` is a hash of everything that they depend on besides exercise and seed."""

    folder: Path
    digest: str

    def find(self, kind: str, exercise: str, seed: int) -> tuple[int, ExpectedObservations] | None:
        """Return the seed that the cases were drawn from and the key without its cases; None if none can be read."""
        try:
            drawn, reference, mistakes = decode_plain_data(self._place(kind, exercise, seed).read_bytes())
            found = tuple(_mistake(*each) for each in mistakes)
            return drawn, ExpectedObservations(exercise, (), tuple(reference), found)
        except (OSError, DamagedData, ValueError, TypeError):
            return None

    def keep(self, kind: str, seed: int, drawn: int, key: ExpectedObservations) -> None:
        """Write a key atomically; ignore a full disk, which writing the verdicts will report."""
        mistakes = [[m.tag, m.sentence, [*m.observations], [*m.rules], m.unless, m.slip] for m in key.mistakes]
        data = encode_plain_data([drawn, [*key.reference], mistakes])
        with contextlib.suppress(WorkFailed):
            write_all({self._place(kind, key.exercise, seed): data})

    def _place(self, kind: str, exercise: str, seed: int) -> Path:
        return self.folder / sha256_of_texts(self.digest, kind, exercise, str(seed))


def _mistake(tag: str, sentence: str, seen: list[Any], rules: list[str], unless: str, slip: bool) -> KnownMistake:
    return KnownMistake(tag, sentence, tuple(seen), tuple(rules), unless, slip)
