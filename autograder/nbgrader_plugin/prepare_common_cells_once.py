"""Share the cells that are equal in all notebooks of a class, so that they are copied and prepared only once.

Only a student's own cells go through nbgrader's steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbgrader.preprocessors import AssignLatePenalties

from autograder.nbgrader_plugin.save_grades import SaveGrades
from autograder.submission.build_repaired_notebook import PlacedCell, build_notebook, copy_json

Common = Mapping[int, NotebookNode]  # shared cells by their index in the released notebook


def shareable_cells(release: NotebookNode) -> Common:
    """Return, by index, copies of the released cells that carry no nbgrader metadata, with outputs removed."""
    return {place: _prepared(cell) for place, cell in enumerate(release.cells) if "nbgrader" not in cell.metadata}


def _prepared(cell: NotebookNode) -> NotebookNode:
    made: NotebookNode = copy_json(cell)
    if made.cell_type == "code":
        made.execution_count, made.outputs = None, []
    return made


class NotebookWithSharedCells:
    """A student's notebook that shares unchanged cells with the whole class; no step may modify these.

    `own` is the notebook without the shared cells.
    """

    def __init__(self, cells: Iterable[PlacedCell], release: NotebookNode, common: Common) -> None:
        placed = list(cells)
        untouched = [None if each.handed else each.place for each in placed]
        self._common = [None if place is None else common.get(place) for place in untouched]
        own = [each for each, shared in zip(placed, self._common, strict=True) if shared is None]
        self.own: NotebookNode = build_notebook(own, release)

    def whole(self, own: NotebookNode) -> NotebookNode:
        """Return the whole notebook; `own` is `self.own` after nbgrader's steps."""
        left = iter(own.cells)
        cells = [next(left) if shared is None else shared for shared in self._common]
        return NotebookNode(own | {"cells": cells})


class UnsharedNotebook:
    """A student's notebook that shares no cells; it has the same interface as one that does."""

    def __init__(self, own: NotebookNode) -> None:
        self.own = own

    def whole(self, own: NotebookNode) -> NotebookNode:
        """Return `own`, the notebook after nbgrader's steps."""
        return own


def works_without_shared_cells(step: Preprocessor, ours: Sequence[type[Any]]) -> bool:
    """Return whether nbgrader's preprocessor can run on a notebook from which the shared cells are left out.

    The types in `ours`, SaveGrades and AssignLatePenalties can, unless `add_missing_cells` is set: then every cell
    must be there.
    """
    known = type(step) in (*ours, SaveGrades, AssignLatePenalties)
    return known and not getattr(step, "add_missing_cells", False)
