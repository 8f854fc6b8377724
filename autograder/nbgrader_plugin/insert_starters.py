"""An nbgrader preprocessor that replaces solution cells by their STARTER region in the released notebook."""

from __future__ import annotations

from typing import Any

from nbgrader import utils
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions, NbGraderPreprocessor

from autograder.course import marked_regions
from autograder.nbgrader_plugin.add_own_code_questions import AddOwnCodeQuestions


class InsertStarters(NbGraderPreprocessor):
    """Replaces a whole solution cell by its starter, if it has one.

    It must come right after ClearSolutions: before it, the solution is
    still there; after ComputeChecksums, an untouched cell would no longer count as untouched.
    """

    def preprocess_cell(self, cell: Any, resources: Any, _cell_index: int) -> tuple[Any, Any]:
        """Replace the text of one cell."""
        if utils.is_solution(cell) and ("BEGIN", marked_regions.STARTER) in marked_regions.region_markers(cell.source):
            cell.source = marked_regions.starter_cell(cell.source)
        return cell, resources


def release_preprocessors() -> list[type]:
    """Return nbgrader's steps from source to release, with AddOwnCodeQuestions and InsertStarters among them."""
    steps = [AddOwnCodeQuestions, *GenerateAssignment.class_traits()["preprocessors"].default()]
    steps.insert(steps.index(ClearSolutions) + 1, InsertStarters)
    return steps
