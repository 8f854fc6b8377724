"""Exercises of other chapters that a released notebook asks for: `check("NAME", NAME)` in the cell `check_NAME`."""

from __future__ import annotations

from collections.abc import Iterable

from nbformat import NotebookNode

from autograder.course.borrowed_exercises import BorrowedExercise
from autograder.course.exercise_index import IndexedChapter
from autograder.ipython_syntax import CHECK
from autograder.submission.find_answers import checked_exercises
from autograder.submission.released_cells import exercise_checked, grade_id, runs_before_answers


def lent_in(release: NotebookNode, stem: str, listed: Iterable[IndexedChapter]) -> tuple[BorrowedExercise, ...]:
    """What a released notebook checks of the exercises of other chapters, in its order.

    A cell without points is worth what a stretch exercise earns in its own chapter.
    """
    worth = {name: (each.stem, each.exercises[name].extra) for each in listed for name in each.exercises}
    found = []
    for cell in release.cells:
        name = exercise_checked(cell)
        home, extra = worth.get(name or "", (stem, 0))
        if name and home != stem and grade_id(cell) == CHECK + name and name in checked_exercises(cell.source):
            points = cell.metadata.nbgrader.get("points", 0)
            found.append(BorrowedExercise(name, home, points, 0 if points else extra))
    return tuple(found)


def begun_with(release: NotebookNode) -> str:
    """What a released notebook runs before any answer: its cells of parameters, and its setup cell."""
    return "\n".join(cell.source for cell in release.cells if runs_before_answers(cell))
