"""What a course's solutions and answer banks show on the cases of a seed, kept on the disk by content.

The proof of the bank, the graded classes and the notebooks of `test_parity` look at the same fresh cases: what one test
has computed, no other one computes again. The visible cases are watched anew each time, and `THOROUGH=1` keeps nothing.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.authoring.proof import SEEDS
from autograder.authoring.proof_receipts import is_as_read, proof_path
from autograder.course.answer_keys import AnswerKeys
from autograder.course.exercise_parts import ExerciseParts
from autograder.diagnosis.expected import ExpectedObservations
from autograder.exercises.exercise import Exercise
from tests.small_chapter import PROJECT

SEED = SEEDS[1]
FOLDER = PROJECT / "build" / "proved" / "keys"

_computed, _computed_reference = AnswerKeys._compute_full, AnswerKeys._compute_reference


def full_key(keys: AnswerKeys, exercise: Exercise, seed: int) -> ExpectedObservations:
    """What `AnswerKeys` computes of an exercise, or what it computed before with the same content."""
    place = _place(keys, exercise) if seed == SEED else None
    if place is None:
        return _computed(keys, exercise, seed)
    if not place.is_file():
        key = _computed(keys, exercise, seed)
        _write(place, [keys.drawn[exercise.name, seed], key.reference, key.mistakes])
        return key
    drawn, reference, mistakes = pickle.loads(place.read_bytes())
    keys.drawn[exercise.name, seed] = drawn
    return ExpectedObservations(exercise.name, exercise.cases(drawn), reference, mistakes)


def reference_key(keys: AnswerKeys, exercise: Exercise, seed: int) -> ExpectedObservations:
    """The same without the mistakes that are no slips."""
    place = _place(keys, exercise) if seed == SEED else None
    if place is None:
        return _computed_reference(keys, exercise, seed)
    if not place.is_file():
        keys._reference[exercise.name, seed] = _computed_reference(keys, exercise, seed)  # `full_key` begins with it
    key = full_key(keys, exercise, seed)
    return replace(key, mistakes=tuple(mistake for mistake in key.mistakes if mistake.slip))


def _place(keys: AnswerKeys, exercise: Exercise) -> Path | None:
    """Where the key is kept; None where the keys may have read something else than what is there now."""
    parts = ExerciseParts(keys.course, keys.chapter.stem, exercise.name)
    place = FOLDER / proof_path(parts).name
    return place if is_as_read(parts) else None


def _write(place: Path, data: list[Any]) -> None:
    """Another process may be about to write the same."""
    place.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=place.parent, suffix=".tmp")
    with os.fdopen(descriptor, "wb") as file:
        pickle.dump(data, file)
    os.replace(name, place)
