"""Cells that hold what a student wrote, and nothing else of the student's file."""

from __future__ import annotations

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.submission.attached_pictures import placed
from autograder.submission.escaped_text import as_typed, shown
from autograder.submission.released_cells import bare
from autograder.submission.submitted_cells import Handed


def own_cell(cell: Handed) -> NotebookNode:
    """A cell with this text and nothing else; a raw one, which pages take for HTML, becomes text."""
    made: NotebookNode
    if cell.kind == "code":
        made = new_code_cell(cell.source)
    elif cell.kind == "markdown":
        made = new_markdown_cell()
        _write(made, cell)
    else:
        made = new_markdown_cell(as_typed(cell.source))
    made["id"] = f"own-{cell.index}"
    return made


def fill(cell: NotebookNode, handed: Handed) -> None:
    """Put a student's text into a released cell; where it is not the course's own, it is not rendered as if it were."""
    if cell.cell_type == "code" or bare(handed.source) == bare(cell.source):
        cell.source = handed.source
    else:
        _write(cell, handed)


def _write(cell: NotebookNode, handed: Handed) -> None:
    """Put a text with its pictures into a cell of text; where it is shown as typed, the pictures stand below it."""
    known = cell.get("attachments", {})
    text, without, drawn = placed(handed.source, handed.pictures, known)
    if shown(without) != without:
        text = "\n\n".join([as_typed(handed.source), *(f"![{name}](attachment:{name})" for name in drawn)])
    cell.source = text
    if drawn:
        cell["attachments"] = {**known, **{name: {each.kind: each.data} for name, each in drawn.items()}}
