"""Build clean cells from a student's source and pictures, without outputs, metadata or unsafe markdown."""

from __future__ import annotations

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.submission.attached_pictures import rename_pictures
from autograder.submission.extract_submitted_cells import SubmittedCell
from autograder.submission.read_released_cells import normalized_text
from autograder.submission.sanitize_markdown import code_block, safe_markdown


def build_added_cell(cell: SubmittedCell) -> NotebookNode:
    """Return a cell with the text of a cell that the student added.

    A raw cell becomes markdown that shows it as typed, since pages would insert its text as HTML.
    """
    made: NotebookNode
    if cell.kind == "code":
        made = new_code_cell(cell.source)
    elif cell.kind == "markdown":
        made = new_markdown_cell()
        _write(made, cell)
    else:
        made = new_markdown_cell(code_block(cell.source))
    made["id"] = f"own-{cell.index}"
    return made


def fill_released_cell(cell: NotebookNode, handed: SubmittedCell) -> None:
    """Put a student's text into a released cell; markdown that is not the course's own is made safe to render."""
    if cell.cell_type == "code" or normalized_text(handed.source) == normalized_text(cell.source):
        cell.source = handed.source
    else:
        _write(cell, handed)


def _write(cell: NotebookNode, handed: SubmittedCell) -> None:
    """Put a student's markdown and pictures into a text cell; under markdown that is unsafe, the pictures follow it."""
    known = cell.get("attachments", {})
    text, without, pictures = rename_pictures(handed.source, handed.pictures, known)
    if safe_markdown(without) != without:
        text = "\n\n".join([code_block(handed.source), *(f"![{name}](attachment:{name})" for name in pictures)])
    cell.source = text
    if pictures:
        cell["attachments"] = {**known, **{name: {each.kind: each.data} for name, each in pictures.items()}}
