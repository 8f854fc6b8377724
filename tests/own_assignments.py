"""Assignments as teachers write them for nbgrader, as data: their cells, and the students' submissions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def marked(cell: NotebookNode, grade_id: str, **marks: Any) -> NotebookNode:
    """Return the cell with nbgrader's metadata."""
    usual = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    cell.metadata["nbgrader"] = {**usual, "grade_id": grade_id, **marks}
    return cell


def code(text: str) -> NotebookNode:
    """Return a code cell without nbgrader's metadata."""
    return new_code_cell(text)


def answer(name: str, starter: str = "### BEGIN SOLUTION\npass\n### END SOLUTION") -> NotebookNode:
    """Return a cell for the student's code, which test cells use."""
    return marked(new_code_cell(starter), name, solution=True)


def given(name: str, text: str) -> NotebookNode:
    """Return a read-only cell."""
    return marked(new_code_cell(text), name, locked=True)


def graded(name: str, text: str, points: float = 1) -> NotebookNode:
    """Return a test cell."""
    return marked(new_code_cell(text), name, grade=True, locked=True, points=points)


def by_hand(name: str, text: str = "Your answer", points: float = 4, of: Any = new_markdown_cell) -> NotebookNode:
    """Return a cell that a person scores; `of` makes a text or a code cell."""
    return marked(of(text), name, grade=True, solution=True, points=points)


def task(name: str, text: str = "Build one.", points: float = 5) -> NotebookNode:
    """Return a task cell."""
    return marked(new_markdown_cell(text), name, task=True, locked=True, points=points)


Scores = dict[str, dict[str, tuple[float | None, bool]]]  # by student and cell: score, and whether a person must look
Change = Callable[[list[NotebookNode]], object]


@dataclass(frozen=True)
class Own:
    """An assignment: its cells, and each student's texts by cell name, or changes of all cells.

    `beside` maps paths to the files that students put beside their notebooks. `more` are other notebooks, by name; a
    student's text for a cell goes into every notebook that has it.
    """

    cells: Sequence[NotebookNode]
    students: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: {"ada": {}})
    changes: Mapping[str, Change] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    beside: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    more: Mapping[str, Sequence[NotebookNode]] = field(default_factory=dict)


def write_source(course: Path, name: str, own: Own) -> None:
    """Write the source of an assignment into a course folder."""
    folder = course / "source" / name
    folder.mkdir(parents=True)
    for notebook, cells in {name: own.cells, **own.more}.items():
        nbformat.write(new_notebook(cells=list(cells), metadata=KERNEL), folder / f"{notebook}.ipynb")
    for file, text in own.files.items():
        (folder / file).write_text(text)


def hand_in(course: Path, name: str, own: Own) -> None:
    """Write each student's submission, made from the release."""
    for student in {**own.students, **own.changes}:
        folder = course / "submitted" / student / name
        folder.mkdir(parents=True)
        for path in (course / "release" / name).glob("*.ipynb"):
            notebook = nbformat.read(path, as_version=4)
            written = own.students.get(student, {})
            for cell in notebook.cells:
                cell.source = written.get(cell.metadata.get("nbgrader", {}).get("grade_id", ""), cell.source)
            own.changes.get(student, len)(notebook.cells)
            nbformat.write(notebook, folder / path.name)
        for file, text in own.beside.get(student, {}).items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_text(text)


def scores(course: Path, name: str) -> Scores:
    """Return what the gradebook holds for each student's cells: the automatic score, and whether it needs a person."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_basics") as gradebook:
        return {
            submission.student.id: {
                _cell(notebook.name, grade.name, name): (grade.auto_score, grade.needs_manual_grade)
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in gradebook.assignment_submissions(name)
        }


def _cell(notebook: str, cell: str, assignment: str) -> str:
    return cell if notebook == assignment else f"{notebook}/{cell}"
