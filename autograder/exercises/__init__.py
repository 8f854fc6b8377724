"""The exercises of every chapter, found by name."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from autograder.errors import CourseError, UnknownExercise

if TYPE_CHECKING:  # with torch, which those who record grades do without
    from autograder.exercise import Exercise, ExerciseSet


def stems() -> list[str]:
    """The chapters that have exercises, in order."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name.startswith("ch"))


@cache
def load(stem: str) -> ExerciseSet:
    """The exercises of one chapter; raises CourseError where one has hints that graded cells do not show."""
    if stem not in stems():
        raise UnknownExercise(stem, stems())
    exercises: ExerciseSet = import_module(f"{__name__}.{stem}").EXERCISES
    shown, given = hints(stem), {exercise.name: exercise.hints for exercise in exercises}
    odd = [name for name in {**given, **shown} if given.get(name) != shown.get(name)]
    if odd:
        raise CourseError(
            f"expected hints to {', '.join(odd)} from autograder/exercises/_{stem[:4]}_hints.py, where graded cells "
            'find them, found others. Write them there, and give the exercise `hints=HINTS["its_name"]`.'
        )
    return exercises


def hints(stem: str) -> dict[str, tuple[str, ...]]:
    """The hints to the exercises of one chapter, read without torch; none for a chapter that is not known."""
    if stem not in stems():
        return {}
    found: dict[str, tuple[str, ...]] = import_module(f"{__name__}._{stem[:4]}_hints").HINTS
    return found


def every() -> Iterator[Exercise]:
    """All exercises, chapter by chapter."""
    for stem in stems():
        yield from load(stem)


def find(name: object) -> Exercise:
    """The exercise of this name; raises UnknownExercise with the nearest name."""
    for exercise in every():
        if exercise.name == name:
            return exercise
    raise UnknownExercise(name, [exercise.name for exercise in every()])
