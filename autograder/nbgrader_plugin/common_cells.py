"""The cells that all students of a class have alike: copied and prepared once, and shown to no step that is ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbgrader.preprocessors import AssignLatePenalties

from autograder.nbgrader_plugin.save_grades import SaveGrades
from autograder.submission.repaired_notebook import PlacedCell, build_notebook, copy_json

Common = Mapping[int, NotebookNode]  # by their places in the release


def common_cells(release: NotebookNode) -> Common:
    """The released cells without a mark, as they are recorded of whoever has not changed them."""
    return {place: _prepared(cell) for place, cell in enumerate(release.cells) if "nbgrader" not in cell.metadata}


def _prepared(cell: NotebookNode) -> NotebookNode:
    made: NotebookNode = copy_json(cell)
    if made.cell_type == "code":
        made.execution_count, made.outputs = None, []
    return made


class Together:
    """A student's notebook, of which some cells are everybody's: nobody may change these."""

    def __init__(self, cells: Iterable[PlacedCell], release: NotebookNode, common: Common) -> None:
        placed = list(cells)
        untouched = [None if each.handed else each.place for each in placed]
        self._common = [None if place is None else common.get(place) for place in untouched]
        own = [each for each, shared in zip(placed, self._common, strict=True) if shared is None]
        self.own: NotebookNode = build_notebook(own, release)

    def whole(self, own: NotebookNode) -> NotebookNode:
        """The notebook; `own` is what became of the cells that are this student's."""
        left = iter(own.cells)
        cells = [next(left) if shared is None else shared for shared in self._common]
        return NotebookNode(own | {"cells": cells})


class AllOwn:
    """A notebook that shares nothing."""

    def __init__(self, own: NotebookNode) -> None:
        self.own = own

    def whole(self, own: NotebookNode) -> NotebookNode:
        """The notebook; `own` is what became of it."""
        return own


def leaves_common(step: Preprocessor, ours: Sequence[type[Any]]) -> bool:
    """Whether a step looks at each cell by itself, and at those alone that have a mark or are a student's own."""
    known = type(step) in (*ours, SaveGrades, AssignLatePenalties)
    return known and not getattr(step, "add_missing_cells", False)
