"""Make notebooks: some exercises of a chapter, with right or wrong answers, edited as students edit notebooks."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

OWN, SETUP, ANSWER, CHECK, LESSON = "own", "setup", "answer", "check", "lesson"


@dataclass(frozen=True)
class Made:
    """One cell of a made notebook: its role, the exercise that it belongs to, its text, and nbgrader's mark."""

    role: str
    source: str
    exercise: str = ""
    mark: str = ""
    kind: str = "code"


Cells = list[Made]


@dataclass
class Draft:
    """A notebook during the edits: its cells, and the random numbers that the edits draw from."""

    stem: str
    cells: Cells
    chance: random.Random
    lesson: dict[str, tuple[str, ...]]  # a name, and the cells of the lesson that define it
    texts: dict[str, str] = field(default_factory=dict)  # the lesson's cells by their ids
    count: int = 0

    def at(self, role: str, exercise: str) -> int:
        """Return the index of an exercise's cell."""
        return next(i for i, cell in enumerate(self.cells) if (cell.role, cell.exercise) == (role, exercise))

    @property
    def setup(self) -> int:
        """The index of the last cell of the setup."""
        return max(i for i, cell in enumerate(self.cells) if cell.role == SETUP)

    def change(self, place: int, source: str) -> None:
        """Replace the text of a cell."""
        self.cells[place] = replace(self.cells[place], source=source)

    def insert(self, place: int, source: str) -> None:
        """Insert a cell of the student's own."""
        self.cells.insert(place, Made(OWN, source))

    def new_name(self, stem: str) -> str:
        """Return a name that the notebook does not define yet."""
        self.count += 1
        return f"{stem}_{self.count}"


Edit = Callable[[Draft, str], None]


def fresh(stem: str, release: NotebookNode, answers: dict[str, str], lesson: dict[str, tuple[str, ...]]) -> Draft:
    """Return the cells of an unedited notebook: the setup, then the answer and the check of each exercise."""
    cells = []
    for cell in release.cells:
        mark = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        exercise = mark.removeprefix("check_")
        if "parameters" in cell.metadata.get("tags", ()):
            cells.append(Made(SETUP, cell.source))
        elif mark == "setup":
            cells.append(Made(SETUP, cell.source, mark=mark))
        elif exercise in answers:
            is_check = mark != exercise
            source = cell.source if is_check else answers[exercise]
            cells.append(Made(CHECK if is_check else ANSWER, source, exercise, mark))
    texts = {str(cell.id): cell.source for cell in release.cells}
    return Draft(stem, cells, random.Random(0), lesson, texts)


def as_notebook(cells: Sequence[Made]) -> NotebookNode:
    """Return the cells as a notebook of nbformat."""
    return new_notebook(cells=[_cell(number, cell) for number, cell in enumerate(cells)])


def _cell(number: int, cell: Made) -> NotebookNode:
    meta = {"nbgrader": {"grade_id": cell.mark}} if cell.mark else {}
    new = new_code_cell if cell.kind == "code" else new_markdown_cell
    made: NotebookNode = new(cell.source, metadata=meta, id=f"made-{number}")
    return made
