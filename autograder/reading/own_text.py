"""Cells that hold what a student wrote, and nothing else of the student's file."""

from __future__ import annotations

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.reading.handed import Handed
from autograder.reading.harmless import as_typed, shown
from autograder.reading.marks import bare


def own_cell(cell: Handed) -> NotebookNode:
    """A cell with this text and nothing else; a raw one, which pages take for HTML, becomes text."""
    made: NotebookNode
    if cell.kind == "code":
        made = new_code_cell(cell.source)
    else:
        made = new_markdown_cell(shown(cell.source) if cell.kind == "markdown" else as_typed(cell.source))
    made["id"] = f"own-{cell.index}"
    return made


def text_for(cell: NotebookNode, source: str) -> str:
    """A student's text for a released cell; where it is not the course's own, it is not rendered as if it were."""
    return source if cell.cell_type == "code" or bare(source) == bare(cell.source) else shown(source)
