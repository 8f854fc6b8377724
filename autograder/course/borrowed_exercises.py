"""Exercises that an assignment asks for and that stand in another chapter: as cells of a chapter of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.course.chapter_cells import Cell, Chapter, Kind
from autograder.course.chapter_reader import read_chapter
from autograder.course.course_location import chapter_path


@dataclass(frozen=True)
class Lent:
    """An exercise that stands in the chapter `home`, and what it is worth where it is lent to."""

    name: str
    home: str
    points: float
    extra: int = 0


def begun(stem: str, prelude: str) -> Chapter:
    """An assignment that is no chapter as one without exercises; answers find there what `prelude` gives."""
    return Chapter(stem, f"source/{stem}", (Cell(Kind.SETUP, {"setup": True}, 1, prelude),))


def joined(own: Chapter, course: Path, lent: Sequence[Lent]) -> Chapter:
    """A chapter with the exercises that are lent to it, behind its own."""
    more = (cell for each in lent for cell in _cells(read_chapter(chapter_path(course, each.home)), each))
    return replace(own, cells=(*own.cells, *more)) if lent else own


def _cells(home: Chapter, lent: Lent) -> tuple[Cell, Cell]:
    """The cell of a lent exercise, and its check with what it is worth here."""
    exercise = home.exercise(lent.name)
    worth = {"extra": lent.extra} if lent.extra else {"points": lent.points}
    return exercise, Cell(Kind.CHECK, {"check": lent.name, **worth}, exercise.line, "")
