"""Advice on a NameError: which cell of the saved notebook, not run since the restart, binds the name."""

from __future__ import annotations

from typing import Any

from autograder.notebook.cell_bindings import cell_binds
from autograder.notebook.read_saved_and_run_cells import (
    SavedCell,
    executed_cell_texts,
    first_line,
    path_of_notebook,
    read_saved_notebook,
    running_cell,
)

_MENU = "Choose Run, then Run All Above Selected Cell; then run this cell again."


def advice_to_run_defining_cell(shell: Any, name: str | None) -> str:
    """Return a sentence on the cell of the saved notebook that binds a missing name and has not run; "" without one."""
    if not name:
        return ""
    try:
        return _advice(shell, name)
    except Exception:  # an unforeseen file or shell: then there is no advice
        return ""


def _advice(shell: Any, name: str) -> str:
    path = path_of_notebook(shell)
    notebook = read_saved_notebook(path) if path else None
    cells = notebook.cells if notebook else ()
    running, ran = running_cell(shell), {text.strip() for text in executed_cell_texts(shell)}
    for place, cell in enumerate(cells):
        if not _is(cell, running) and cell_binds(cell.text, name) and cell.text.strip() not in ran:
            return _sentence(name, cell, any(_is(below, running) for below in cells[place:]))
    return ""


def _is(cell: SavedCell, running: SavedCell) -> bool:
    return cell.id == running.id if running.id else cell.text.strip() == running.text.strip()


def _sentence(name: str, cell: SavedCell, is_above: bool) -> str:
    begins = first_line(cell.text)
    if is_above:
        return f"`{name}` is made in a cell above that has not run since the kernel started: `{begins}`. {_MENU}"
    return f"`{name}` is made in a cell further down, which has not run yet: `{begins}`. Move that one above this one."
