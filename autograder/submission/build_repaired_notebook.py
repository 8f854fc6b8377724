"""The repaired notebook as a list of references to released cells, and the function that builds it from them.

The list is small enough to send between processes; the notebook is built only if somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode

from autograder.submission.build_clean_cells import build_added_cell, fill_released_cell
from autograder.submission.extract_submitted_cells import SubmittedCell
from autograder.submission.read_released_cells import ReleasedCell


@dataclass(frozen=True)
class PlacedCell:
    """A cell of a repaired notebook: the released one with index `place`, with the text of `handed` if that is given.

    Without a place it is a cell that the student added.
    """

    place: int | None
    handed: SubmittedCell | None = None


def place_released_cell(place: int, handed: SubmittedCell | None, cell: ReleasedCell) -> PlacedCell:
    """Return the cell at a released place; it takes the student's text if that differs and the cell is not locked."""
    untouched = handed is None or handed.source == cell.source or cell.is_always_released_text
    return PlacedCell(place, None if untouched else handed)


def place_untouched_cells(release: NotebookNode) -> tuple[PlacedCell, ...]:
    """Return the cells of the untouched released notebook."""
    return tuple(PlacedCell(place) for place in range(len(release.cells)))


def build_notebook(cells: Iterable[PlacedCell], release: NotebookNode) -> NotebookNode:
    """Build the released notebook with these cells; the result shares no mutable object with the release."""
    fields = {name: copy_json(value) for name, value in release.items() if name != "cells"}
    return NotebookNode(fields | {"cells": [_cell(each, release) for each in cells]})


def _cell(each: PlacedCell, release: NotebookNode) -> NotebookNode:
    if each.place is None:
        assert each.handed is not None  # a cell without a place is always a student's
        return build_added_cell(each.handed)
    cell: NotebookNode = copy_json(release.cells[each.place])
    if each.handed is not None:
        fill_released_cell(cell, each.handed)
    return cell


def copy_json(value: Any) -> Any:
    """Return a deep copy of JSON data; `copy.deepcopy` takes four times as long for a notebook."""
    if isinstance(value, dict):
        made = NotebookNode()
        dict.update(made, {name: copy_json(each) for name, each in value.items()})
        return made
    return [copy_json(each) for each in value] if isinstance(value, list) else value
