"""Make notebooks from a chapter: nbgrader's source, the solved one, and one with hidden asserts, which the tests run.

The same chapter gives the same bytes on every machine: ids come from names or content, and metadata holds only the keys
that this module writes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.course import marked_regions
from autograder.course.chapter_model import Cell, CellKind, Chapter, blank_guess
from autograder.course.faulty_program_names import faulty_program_name
from autograder.course.markdown_headings_and_word_counts import headings

Notebook = nbformat.NotebookNode

_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# The metadata key with which JupyterLab marks a heading whose cells are folded away.
FOLDED_METADATA_KEY = "jp-MarkdownHeadingCollapsed"
SIDE_PATH_SIGN = "↳ "  # begins the heading of a side path: in a contents panel, words would hide the question
_COLAB = "https://colab.research.google.com"

INSTALL_ID = "install"
_INSTALL = """\
try:
    import autograder.package_name_collisions, importlib.metadata
    importlib.metadata.version("pytorch-basics")
except ImportError:
    {otherwise}
else:
    autograder.package_name_collisions.refuse_other_packages()
from importlib.metadata import version

import torch

place = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
print("course", version("pytorch-basics"), "| torch", torch.__version__, "| device", place)"""
_MINE = re.compile(r"^(\w+) = mine\(", re.MULTILINE)
# In a proof, a prediction that does not hold stops the run.
_HELD = """\
from autograder.notebook import reveal_and_shows_error

class Held(reveal_and_shows_error.PredictionOutcome):
    def __init__(self, guess, actual):
        super().__init__(guess, actual)
        assert self.held, f"The right answer that stands in the chapter is none. {self}"

reveal_and_shows_error.PredictionOutcome = Held
del reveal_and_shows_error, Held"""
_MISSING = 'raise ImportError("The course is missing: run `pip install .` in its folder, then restart.") from None'


def nbgrader_source_notebook(chapter: Chapter, address: str) -> Notebook:
    """Return the notebook that nbgrader releases from, with solutions and hidden tests."""
    return _notebook(_with_hunts(chapter), address, _source_text)


def solution_notebook(chapter: Chapter, address: str) -> Notebook:
    """Return the solved notebook, without hidden tests and without outputs."""
    return _notebook(chapter, address, _solved_text)


def notebook_with_claims(chapter: Chapter, address: str) -> Notebook:
    """Return the solved notebook with its claim cells, for the tests; a prediction that does not hold stops its run."""
    return _notebook(chapter, address, _solved_text, claims=True)


def to_bytes(notebook: Notebook) -> bytes:
    """Return the content of the notebook's file; raise nbformat's ValidationError if the notebook is not valid."""
    nbformat.validate(notebook)
    return (str(nbformat.writes(notebook)) + "\n").encode()


def _notebook(chapter: Chapter, address: str, text: Callable[[Cell], str], claims: bool = False) -> Notebook:
    cells = list(_cells(chapter, address, text, claims))
    folded = [cell.id for cell in cells if FOLDED_METADATA_KEY in cell.metadata]
    colab = {"colab": {"collapsed_sections": folded}} if folded else {}
    notebook: Notebook = new_notebook(cells=cells, metadata=_METADATA | colab)
    return notebook


def _cells(chapter: Chapter, address: str, text: Callable[[Cell], str], claims: bool) -> Iterator[Notebook]:
    for index, (cell, cell_id) in enumerate(zip(chapter.cells, cell_ids(chapter), strict=True)):
        if cell.kind is CellKind.HUNT or (cell.kind is CellKind.CLAIM and not claims):
            continue  # each student hunts in another program, so a solved notebook has none
        if index == 1:
            yield new_code_cell(_install_text(address), id=INSTALL_ID, metadata=_folded())
        source = text(cell)
        if cell.keys.get("side"):
            yield from _side_cells(source, cell_id)
        elif cell.kind is CellKind.MARKDOWN:
            opening = _with_badge(source, address, chapter.stem) if index == 0 else source
            yield new_markdown_cell(opening, id=cell_id, metadata={})
        else:
            yield new_code_cell(source, id=cell_id, metadata=_metadata(cell))
        if claims and cell.kind is CellKind.SETUP:
            yield new_code_cell(_HELD, id="held")


def _with_hunts(chapter: Chapter) -> Chapter:
    """Return the chapter with three cells in place of each graded hunt."""
    cells = (_hunt_cells(cell) if cell.kind is CellKind.HUNT else (cell,) for cell in chapter.cells)
    return replace(chapter, cells=tuple(each for some in cells for each in some))


def _hunt_cells(cell: Cell) -> tuple[Cell, Cell, Cell]:
    """Return the cell that prints a student's program, that of the answer, and the check."""
    hunted = cell.keys["hunt"]
    name, line = faulty_program_name(hunted), cell.line
    program = f'from autograder import mend\n\nmend("{hunted}")'
    region = f"### BEGIN {marked_regions.SOLUTION}\n### END {marked_regions.SOLUTION}"
    above = cell.source.strip() or "# Your program, mended:"
    return (
        Cell(CellKind.LESSON, {"name": f"program-of-{name}"}, line, program),
        Cell(CellKind.EXERCISE, {"exercise": name}, line, f"{above}\n{region}"),
        Cell(CellKind.CHECK, {"check": name, **cell.keys}, line, f'check("{name}", {name})'),
    )


def _side_cells(source: str, cell_id: str) -> Iterator[Notebook]:
    """Yield the heading of a side path as one cell and its text as the next: JupyterLab folds whole cells away."""
    heading, _, text = source[headings(source)[0].text_start :].partition("\n")
    # Colab knows a cell by the id in its metadata.
    yield new_markdown_cell(
        f"#### {SIDE_PATH_SIGN}{heading}", id=cell_id, metadata={FOLDED_METADATA_KEY: True, "id": cell_id}
    )
    if text.strip():
        yield new_markdown_cell(text.strip("\n"), id=f"{cell_id}_in", metadata={})


def cell_ids(chapter: Chapter) -> list[str]:
    """Return the id of each cell: its name or grade id, else a digest of its content."""
    taken = {cell.fixed_id for cell in chapter.cells}
    ids: list[str] = []
    for cell in chapter.cells:
        cell_id = cell.fixed_id or _free(_digest(cell), taken)
        taken.add(cell_id)
        ids.append(cell_id)
    return ids


def _digest(cell: Cell) -> str:
    return "c-" + hashlib.sha256(f"{cell.kind.value}\n{cell.source}".encode()).hexdigest()[:10]


def _free(stem: str, taken: set[str | None]) -> str:
    number = 1
    cell_id = stem
    while cell_id in taken:
        number += 1
        cell_id = f"{stem}-{number}"
    return cell_id


def _source_text(cell: Cell) -> str:
    if cell.kind is CellKind.MINE:
        return _mine_text(cell)
    if cell.kind is CellKind.PREDICT:
        return blank_guess(cell.source)
    if cell.kind is not CellKind.CHECK or "hunt" in cell.keys:
        return cell.source
    name = cell.keys["check"]
    hidden = f'check("{name}", {name}, fresh=True)'
    return f"{cell.source}\n### BEGIN {marked_regions.HIDDEN_TESTS}\n{hidden}\n### END {marked_regions.HIDDEN_TESTS}"


def _solved_text(cell: Cell) -> str:
    if cell.kind is CellKind.MINE:
        return _mine_text(cell)
    return marked_regions.solution_cell(cell.source) if cell.kind is CellKind.EXERCISE else cell.source


def _mine_text(cell: Cell) -> str:
    """Return a `mine` cell below a comment that says what it does: JupyterLab shows the first line of a folded cell."""
    names = ", ".join(_MINE.findall(cell.source))
    return f"# yours, or the lesson's until the check passes: {names}\n{cell.source}"


def _metadata(cell: Cell) -> dict[str, Any]:
    """Return the cell's metadata; its only keys are nbgrader, tags, jupyter and cellView."""
    if cell.kind is CellKind.PARAMETERS:
        return {**_folded(), "tags": ["parameters"]}
    if cell.kind is CellKind.FIGURE:
        return _folded()
    if cell.kind in (CellKind.MINE, CellKind.KNOWN):
        return {**_folded(), "tags": [cell.kind.value]}
    folded = _folded() if cell.kind is CellKind.SETUP else {}
    return {**folded, "nbgrader": _nbgrader(cell)} if cell.grade_id else {}


def _folded() -> dict[str, Any]:
    """Return the metadata that folds a cell's source away in JupyterLab and in Colab."""
    return {"jupyter": {"source_hidden": True}, "cellView": "form"}


def _nbgrader(cell: Cell) -> dict[str, Any]:
    grade = cell.kind is CellKind.CHECK
    points = {"points": cell.keys.get("points", 0)} if grade else {}
    return {
        "grade": grade,
        "grade_id": cell.grade_id,
        "locked": cell.kind is not CellKind.EXERCISE,
        **points,
        "schema_version": 3,
        "solution": cell.kind is CellKind.EXERCISE,
        "task": False,
    }


def _install_text(address: str) -> str:
    return _INSTALL.format(otherwise=f"%pip install --quiet git+{address}" if address else _MISSING)


def _with_badge(source: str, address: str, stem: str) -> str:
    """Put the Colab badge below the title; Colab opens notebooks from GitHub only."""
    parts = urlsplit(address)
    if parts.hostname != "github.com":
        return source
    link = f"{_COLAB}/github{parts.path}/blob/main/notebooks/{stem}.ipynb"
    badge = f"[![Open in Colab]({_COLAB}/assets/colab-badge.svg)]({link})"
    title, _, rest = source.partition("\n")
    return f"{title}\n\n{badge}\n{rest}" if rest else f"{title}\n\n{badge}"
