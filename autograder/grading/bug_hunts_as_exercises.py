"""Graded hunts of an assignment: exercises without a chapter, whose answers are mends of faulty programs.

A hunt of the exercise NAME is an exercise of the name `their_NAME`, which a notebook borrows by the ids of its two
cells, `their_NAME` and `check_their_NAME`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.course.borrowed_exercises import (
    ExerciseOfOtherChapter,
    append_exercises_of_other_chapters,
    select_by_exact_type,
)
from autograder.course.chapter_model import Cell, CellKind, Chapter
from autograder.course.chapter_reader import read_chapter
from autograder.course.course_location import chapter_path
from autograder.grading.own_code_questions_as_exercises import OwnCodeQuestionsExercise, own_code_question_cells
from autograder.questions.bug_hunt_file import hunts_path


@dataclass(frozen=True)
class BugHuntExercise(ExerciseOfOtherChapter):
    """A graded hunt: the exercise `hunted`, of the chapter `home`, is the one that its programs answer."""

    hunted: str = ""


def bug_hunt_file_paths(course: Path, lent: Iterable[ExerciseOfOtherChapter]) -> list[Path]:
    """Return the paths of the programs of the hunts, a file for each chapter."""
    return [
        hunts_path(course, stem) for stem in sorted({each.home for each in select_by_exact_type(lent, BugHuntExercise)})
    ]


def with_exercises_of_other_chapters(own: Chapter, course: Path, lent: Sequence[ExerciseOfOtherChapter]) -> Chapter:
    """Return a chapter with the borrowed exercises, hunts and questions appended to its own cells."""
    chapter = append_exercises_of_other_chapters(own, course, select_by_exact_type(lent, ExerciseOfOtherChapter))
    more = (cell for each in select_by_exact_type(lent, BugHuntExercise) for cell in _cells(course, each))
    return replace(
        chapter,
        cells=(*chapter.cells, *more, *own_code_question_cells(select_by_exact_type(lent, OwnCodeQuestionsExercise))),
    )


def _cells(course: Path, hunt: BugHuntExercise) -> Iterator[Cell]:
    """Yield the cell of the hunted exercise under the hunt's name, and a check cell with the hunt's points."""
    cell = read_chapter(chapter_path(course, hunt.home)).exercise(hunt.hunted)
    yield replace(cell, keys={"exercise": hunt.name})
    yield Cell(CellKind.CHECK, {"check": hunt.name, "points": hunt.points}, cell.line, "")
