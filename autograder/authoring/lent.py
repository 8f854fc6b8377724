"""Exercises that an assignment asks for and that stand in another chapter: `check("NAME", NAME)` in its check cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nbformat import NotebookNode

from autograder.authoring.cells import Cell, Chapter, Kind
from autograder.authoring.chapter import read_chapter
from autograder.catalog.contents import Listed
from autograder.cell_text import CHECK
from autograder.reading.answers import checked_in
from autograder.reading.marks import exercise_checked, grade_id, ran_before


@dataclass(frozen=True)
class Lent:
    """An exercise that stands in the chapter `home`, and what it is worth where it is lent to."""

    name: str
    home: str
    points: float
    extra: int = 0


def lent_in(release: NotebookNode, stem: str, listed: Iterable[Listed]) -> tuple[Lent, ...]:
    """What a released notebook checks of the exercises of other chapters, in its order.

    A cell without points is worth what a stretch exercise earns in its own chapter.
    """
    worth = {name: (each.stem, each.exercises[name].extra) for each in listed for name in each.exercises}
    found = []
    for cell in release.cells:
        name = exercise_checked(cell)
        home, extra = worth.get(name or "", (stem, 0))
        if name and home != stem and grade_id(cell) == CHECK + name and name in checked_in(cell.source):
            points = cell.metadata.nbgrader.get("points", 0)
            found.append(Lent(name, home, points, 0 if points else extra))
    return tuple(found)


def begun_with(release: NotebookNode) -> str:
    """What a released notebook runs before any answer: its cells of parameters, and its setup cell."""
    return "\n".join(cell.source for cell in release.cells if ran_before(cell))


def begun(stem: str, prelude: str) -> Chapter:
    """An assignment that is no chapter as one without exercises; answers find there what `prelude` gives."""
    return Chapter(stem, f"source/{stem}", (Cell(Kind.SETUP, {"setup": True}, 1, prelude),))


def joined(own: Chapter, course: Path, lent: Sequence[Lent]) -> Chapter:
    """A chapter with the exercises that are lent to it, behind its own."""
    more = (cell for each in lent for cell in _cells(read_chapter(course / "chapters" / f"{each.home}.py"), each))
    return replace(own, cells=(*own.cells, *more)) if lent else own


def _cells(home: Chapter, lent: Lent) -> tuple[Cell, Cell]:
    """The cell of a lent exercise, and its check with what it is worth here."""
    exercise = home.exercise(lent.name)
    worth = {"extra": lent.extra} if lent.extra else {"points": lent.points}
    return exercise, Cell(Kind.CHECK, {"check": lent.name, **worth}, exercise.line, "")
