"""The repaired notebook, as a plan that is small enough to travel, and made from it where somebody looks at it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode

from autograder.submission.released_cells import GivenCell
from autograder.submission.student_text_cells import fill, own_cell
from autograder.submission.submitted_cells import Handed


@dataclass(frozen=True)
class PlacedCell:
    """A cell of a repaired notebook: the released one at `place`, with the text of `handed` where there is one.

    Without a place it is a cell of the student's own.
    """

    place: int | None
    handed: Handed | None = None


def placed(place: int, handed: Handed | None, cell: GivenCell) -> PlacedCell:
    """A released cell, with a student's text where that is another one and may stand there."""
    untouched = handed is None or handed.source == cell.source or cell.is_kept
    return PlacedCell(place, None if untouched else handed)


def as_released(release: NotebookNode) -> tuple[PlacedCell, ...]:
    """The released notebook, untouched."""
    return tuple(PlacedCell(place) for place in range(len(release.cells)))


def assembled(cells: Iterable[PlacedCell], release: NotebookNode) -> NotebookNode:
    """The released notebook with these cells; it shares nothing with the release that could be changed."""
    about = {name: copied(value) for name, value in release.items() if name != "cells"}
    return NotebookNode(about | {"cells": [_cell(each, release) for each in cells]})


def _cell(each: PlacedCell, release: NotebookNode) -> NotebookNode:
    if each.place is None:
        assert each.handed is not None  # a cell of nobody's
        return own_cell(each.handed)
    cell: NotebookNode = copied(release.cells[each.place])
    if each.handed is not None:
        fill(cell, each.handed)
    return cell


def copied(value: Any) -> Any:
    """A copy of what JSON can say; `copy.deepcopy` of a notebook takes four times as long."""
    if isinstance(value, dict):
        made = NotebookNode()
        dict.update(made, {name: copied(each) for name, each in value.items()})
        return made
    return [copied(each) for each in value] if isinstance(value, list) else value
