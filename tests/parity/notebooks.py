"""Made notebooks: some exercises of a chapter, answered rightly or wrongly, changed as students change notebooks."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

OWN, SETUP, ANSWER, CHECK, LESSON = "own", "setup", "answer", "check", "lesson"


@dataclass(frozen=True)
class Made:
    """One cell of a made notebook: what it is, the exercise it belongs to, its text, and nbgrader's mark."""

    role: str
    source: str
    exercise: str = ""
    mark: str = ""
    kind: str = "code"


Cells = list[Made]


@dataclass
class Draft:
    """A notebook while it is changed: its cells, and the chance that the changes draw from."""

    stem: str
    cells: Cells
    chance: random.Random
    lesson: dict[str, tuple[str, ...]]  # a name that the lesson gives, and the cells of the lesson that give it
    texts: dict[str, str] = field(default_factory=dict)  # the lesson's cells by their ids
    count: int = 0

    def at(self, role: str, exercise: str) -> int:
        """The place of an exercise's cell."""
        return next(i for i, cell in enumerate(self.cells) if (cell.role, cell.exercise) == (role, exercise))

    @property
    def setup(self) -> int:
        """The place of the last cell of the setup."""
        return max(i for i, cell in enumerate(self.cells) if cell.role == SETUP)

    def change(self, place: int, source: str) -> None:
        """Give a cell another text."""
        self.cells[place] = replace(self.cells[place], source=source)

    def insert(self, place: int, source: str) -> None:
        """Put a cell of the student's own somewhere."""
        self.cells.insert(place, Made(OWN, source))

    def new_name(self, stem: str) -> str:
        """A name that nothing has yet."""
        self.count += 1
        return f"{stem}_{self.count}"


Edit = Callable[[Draft, str], None]


def fresh(stem: str, release: NotebookNode, answers: dict[str, str], lesson: dict[str, tuple[str, ...]]) -> Draft:
    """A notebook with these answers and nothing changed yet: setup, then answer and check of each exercise."""
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
    """The notebook as a file would hold it."""
    return new_notebook(cells=[_cell(number, cell) for number, cell in enumerate(cells)])


def _cell(number: int, cell: Made) -> NotebookNode:
    meta = {"nbgrader": {"grade_id": cell.mark}} if cell.mark else {}
    new = new_code_cell if cell.kind == "code" else new_markdown_cell
    made: NotebookNode = new(cell.source, metadata=meta, id=f"made-{number}")
    return made
