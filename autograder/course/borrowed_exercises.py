"""Add exercises of other chapters to an assignment, as cells of its own chapter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from autograder.course.chapter_model import Cell, CellKind, Chapter
from autograder.course.chapter_reader import read_chapter
from autograder.course.course_location import chapter_path


@dataclass(frozen=True)
class ExerciseOfOtherChapter:
    """An exercise of the chapter `home` that another assignment uses, and its points or extra credit there."""

    name: str
    home: str
    points: float
    extra: int = 0


AnyExerciseOfOtherChapter = TypeVar("AnyExerciseOfOtherChapter", bound=ExerciseOfOtherChapter)


def select_by_exact_type(
    lent: Iterable[ExerciseOfOtherChapter], kind: type[AnyExerciseOfOtherChapter]
) -> list[AnyExerciseOfOtherChapter]:
    """Return what is of exactly this kind: plain exercises are neither hunts nor questions."""
    return [each for each in lent if type(each) is kind]


def empty_chapter(stem: str, prelude: str) -> Chapter:
    """Return a chapter with only a setup cell, to which the exercises that an assignment borrows are added.

    A teacher's own assignment is no chapter of the course, but judging needs one. `prelude`, its setup cell,
    defines the names that answers may use.
    """
    return Chapter(stem, f"source/{stem}", (Cell(CellKind.SETUP, {"setup": True}, 1, prelude),))


def append_exercises_of_other_chapters(own: Chapter, course: Path, lent: Sequence[ExerciseOfOtherChapter]) -> Chapter:
    """Return a chapter with the borrowed exercises appended to its own cells."""
    more = (cell for each in lent for cell in _cells(read_chapter(chapter_path(course, each.home)), each))
    return replace(own, cells=(*own.cells, *more)) if lent else own


def _cells(home: Chapter, lent: ExerciseOfOtherChapter) -> tuple[Cell, Cell]:
    """Return the cell of a borrowed exercise, and a check cell with its points here."""
    exercise = home.exercise(lent.name)
    worth = {"extra": lent.extra} if lent.extra else {"points": lent.points}
    return exercise, Cell(CellKind.CHECK, {"check": lent.name, **worth}, exercise.line, "")
