"""A chapter as data: its cells, what each is for, and what can be asked of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from autograder.course import solution_regions
from autograder.errors import ChapterError
from autograder.ipython_syntax import CHECK, SETUP


class Kind(Enum):
    """What a cell is for."""

    MARKDOWN = "markdown"
    LESSON = "lesson"
    SETUP = "setup"
    PARAMETERS = "parameters"
    PREDICT = "predict"
    FIGURE = "figure"
    MINE = "mine"
    CLAIM = "claim"
    EXERCISE = "exercise"
    CHECK = "check"


@dataclass(frozen=True)
class Cell:
    """One cell: its kind, the keys of its marker line, that line's number, and its text."""

    kind: Kind
    keys: dict[str, Any]
    line: int
    source: str

    @property
    def fixed_id(self) -> str | None:
        """The cell's id, where its keys give it one: its name, or its grade id."""
        return self.keys.get("name") or self.grade_id

    @property
    def grade_id(self) -> str | None:
        """nbgrader's name for the cell; None where nbgrader has no business with it."""
        if self.kind is Kind.EXERCISE:
            return str(self.keys["exercise"])
        if self.kind is Kind.CHECK:
            return f"{CHECK}{self.keys['check']}"
        return SETUP if self.kind is Kind.SETUP else None


@dataclass(frozen=True)
class Chapter:
    """One chapter, its cells in the author's order. `where` is the path that messages name."""

    stem: str
    where: str
    cells: tuple[Cell, ...]

    @property
    def handed_out(self) -> tuple[Cell, ...]:
        """The cells that a notebook for readers has: all but the claims, which the tests run out of their sight."""
        return tuple(cell for cell in self.cells if cell.kind is not Kind.CLAIM)

    def of_kind(self, kind: Kind) -> Iterator[Cell]:
        """Yield the cells of one kind."""
        return (cell for cell in self.cells if cell.kind is kind)

    @property
    def exercises(self) -> tuple[str, ...]:
        """The names of the exercises, in order."""
        return tuple(cell.keys["exercise"] for cell in self.of_kind(Kind.EXERCISE))

    @property
    def prelude(self) -> str:
        """The text that stands before every solution: the parameters, then the setup cell."""
        first = [cell.source for cell in self.of_kind(Kind.PARAMETERS)]
        return "\n".join([*first, next(self.of_kind(Kind.SETUP)).source])

    def exercise(self, name: str) -> Cell:
        """The exercise's cell, as the author wrote it."""
        return self._named(Kind.EXERCISE, "exercise", name)

    def solution(self, name: str) -> str:
        """The exercise's worked solution: the whole cell without markers."""
        return solution_regions.solved(self.exercise(name).source)

    def starter(self, name: str) -> str:
        """The exercise's cell as a student gets it."""
        return solution_regions.starter(self.exercise(name).source)

    def points(self, name: str) -> float:
        """The exercise's points towards full marks; 0 for a stretch exercise. Whole, unless it is lent."""
        points: float = self._named(Kind.CHECK, "check", name).keys.get("points", 0)
        return points

    def extra(self, name: str) -> int:
        """The exercise's extra credit; 0 for all but stretch exercises."""
        return int(self._named(Kind.CHECK, "check", name).keys.get("extra", 0))

    def _named(self, kind: Kind, key: str, name: str) -> Cell:
        for cell in self.of_kind(kind):
            if cell.keys[key] == name:
                return cell
        known = ", ".join(self.exercises)
        raise ChapterError(f"{self.where}:1: there is no exercise {name!r} here; the exercises are: {known}.")


def guess_of(source: str) -> ast.Assign | None:
    """Return the assignment of a predict cell, `guess... = <answer>`; None where the text is not that."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return None
    if len(body) != 1 or not isinstance(body[0], ast.Assign) or len(body[0].targets) != 1:
        return None
    target = body[0].targets[0]
    return body[0] if isinstance(target, ast.Name) and target.id.startswith("guess") else None


def without_answer(source: str) -> str:
    """Return a predict cell as a student gets it: `...` in the place of the answer, the comment kept."""
    assignment = guess_of(source)
    if assignment is None:
        return source
    value = assignment.value
    lines = source.encode().split(b"\n")  # ast counts columns in bytes
    last = value.end_lineno or value.lineno
    head = lines[value.lineno - 1][: value.col_offset]
    tail = lines[last - 1][value.end_col_offset :]
    return b"\n".join([*lines[: value.lineno - 1], head + b"..." + tail, *lines[last:]]).decode()
