"""A chapter as data: its cells with their kinds, and its exercises with their solutions, starters and points."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from autograder.course import marked_regions
from autograder.course.faulty_program_names import faulty_program_name
from autograder.errors import ChapterFormatError
from autograder.ipython_syntax import CHECK, SETUP


class CellKind(Enum):
    """The kind of a cell: what it is for."""

    MARKDOWN = "markdown"
    LESSON = "lesson"
    SETUP = "setup"
    PARAMETERS = "parameters"
    PREDICT = "predict"
    FIGURE = "figure"
    MINE = "mine"
    KNOWN = "known"
    CLAIM = "claim"
    EXERCISE = "exercise"
    CHECK = "check"
    HUNT = "hunt"


@dataclass(frozen=True)
class Cell:
    """One cell: its kind, the keys of its marker line, the number of that line, and the cell's text."""

    kind: CellKind
    keys: dict[str, Any]
    line: int
    source: str

    @property
    def fixed_id(self) -> str | None:
        """Return the cell's id, if its keys fix one: its name, or its grade id."""
        return self.keys.get("name") or self.grade_id

    @property
    def grade_id(self) -> str | None:
        """Return the `grade_id` that nbgrader has for the cell; None if nbgrader does not use the cell."""
        if self.kind is CellKind.EXERCISE:
            return str(self.keys["exercise"])
        if self.kind is CellKind.CHECK:
            return f"{CHECK}{self.keys['check']}"
        if self.kind is CellKind.HUNT:
            return f"{CHECK}{faulty_program_name(self.keys['hunt'])}"
        return SETUP if self.kind is CellKind.SETUP else None


@dataclass(frozen=True)
class Chapter:
    """One chapter, with its cells in the author's order. `where` is the path to name in messages."""

    stem: str
    where: str
    cells: tuple[Cell, ...]

    @property
    def reader_cells(self) -> tuple[Cell, ...]:
        """Return the cells of a reader's notebook: all but the claims, which only the tests run."""
        return tuple(cell for cell in self.cells if cell.kind is not CellKind.CLAIM)

    def of_kind(self, kind: CellKind) -> Iterator[Cell]:
        """Yield the cells of one kind."""
        return (cell for cell in self.cells if cell.kind is kind)

    @property
    def exercises(self) -> tuple[str, ...]:
        """Return the names of the exercises, in order."""
        return tuple(cell.keys["exercise"] for cell in self.of_kind(CellKind.EXERCISE))

    @property
    def prelude(self) -> str:
        """Return the code that runs before every solution: the parameters cell, then the setup cell."""
        first = [cell.source for cell in self.of_kind(CellKind.PARAMETERS)]
        return "\n".join([*first, next(self.of_kind(CellKind.SETUP)).source])

    def exercise(self, name: str) -> Cell:
        """Return the exercise's cell, as the author wrote it."""
        return self._named(CellKind.EXERCISE, "exercise", name)

    def solution(self, name: str) -> str:
        """Return the exercise's worked solution: the whole cell without markers."""
        return marked_regions.solution_cell(self.exercise(name).source)

    def starter(self, name: str) -> str:
        """Return the text of the exercise's cell as a student gets it."""
        return marked_regions.starter_cell(self.exercise(name).source)

    def points(self, name: str) -> float:
        """Return the exercise's points towards full marks; 0 for a stretch exercise.

        Only a borrowed exercise may have points that are no whole number.
        """
        points: float = self._named(CellKind.CHECK, "check", name).keys.get("points", 0)
        return points

    def extra(self, name: str) -> int:
        """Return the exercise's extra credit; 0 for all but stretch exercises."""
        return int(self._named(CellKind.CHECK, "check", name).keys.get("extra", 0))

    def _named(self, kind: CellKind, key: str, name: str) -> Cell:
        for cell in self.of_kind(kind):
            if cell.keys[key] == name:
                return cell
        known = ", ".join(self.exercises)
        raise ChapterFormatError(f"{self.where}:1: there is no exercise {name!r} here; the exercises are: {known}.")


def guess_statement(source: str) -> ast.Assign | None:
    """Return the statement `guess... = <value>` of a predict cell; None if the cell's text is not just that."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return None
    if len(body) != 1 or not isinstance(body[0], ast.Assign) or len(body[0].targets) != 1:
        return None
    target = body[0].targets[0]
    return body[0] if isinstance(target, ast.Name) and target.id.startswith("guess") else None


def blank_guess(source: str) -> str:
    """Return a predict cell as a student gets it: with `...` in place of the answer, and the comment kept."""
    assignment = guess_statement(source)
    if assignment is None:
        return source
    value = assignment.value
    lines = source.encode().split(b"\n")  # ast counts columns in bytes
    last = value.end_lineno or value.lineno
    head = lines[value.lineno - 1][: value.col_offset]
    tail = lines[last - 1][value.end_col_offset :]
    return b"\n".join([*lines[: value.lineno - 1], head + b"..." + tail, *lines[last:]]).decode()
