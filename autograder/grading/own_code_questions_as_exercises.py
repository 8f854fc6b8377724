"""Graded questions of an assignment: parts that ask about a student's answer to an exercise of the same notebook.

A notebook has one by the ids of its two cells, `about_NAME` and `check_about_NAME`. Nothing of a part is probed: it
is an exercise for points and reports alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.course.borrowed_exercises import ExerciseOfOtherChapter, select_by_exact_type
from autograder.course.chapter_model import Cell, CellKind
from autograder.course.course_location import SHIPPED


@dataclass(frozen=True)
class OwnCodeQuestionsExercise(ExerciseOfOtherChapter):
    """A part that asks about answers to the exercise `asked`, of the chapter `home`."""

    asked: str = ""


def expected_observation_paths(course: Path, lent: Iterable[ExerciseOfOtherChapter]) -> list[Path]:
    """Return the paths of the shipped observations, which an answer has to match before it is asked about."""
    homes = sorted({each.home for each in select_by_exact_type(lent, OwnCodeQuestionsExercise)})
    return [course / SHIPPED / f"{stem}{suffix}" for stem in homes for suffix in (".json", ".safetensors")]


def own_code_question_cells(parts: Iterable[OwnCodeQuestionsExercise]) -> Iterator[Cell]:
    """Yield for each part an exercise cell, and a check cell with its points."""
    for each in parts:
        yield Cell(CellKind.EXERCISE, {"exercise": each.name}, 1, f"{each.name} = {{}}")
        yield Cell(CellKind.CHECK, {"check": each.name, "points": each.points}, 1, "")
