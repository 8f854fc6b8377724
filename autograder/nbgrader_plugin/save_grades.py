"""nbgrader's step that writes the automatic scores, and which scores by hand it asks a person to look at again."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import SaveAutoGrades

CHANGED = "changed"  # what `resources["nbgrader"]` holds: the cells with other points than before; None for all cells


class SaveGrades(SaveAutoGrades):  # type: ignore[misc,unused-ignore]
    """Saves scores as nbgrader does, but where a file is graded again asks about changed cells only.

    nbgrader marks every score by hand for another look, also where nothing has changed since the last one.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Save them, and have the database know them: what comes next may ask it for sums."""
        nb, resources = super().preprocess(nb, resources)
        self.gradebook.db.flush()
        return nb, resources

    def _add_score(self, cell: NotebookNode, resources: Any) -> None:
        name, changed = cell.metadata.nbgrader["grade_id"], resources["nbgrader"].get(CHANGED)
        grade = self.gradebook.find_grade(name, self.notebook_id, self.assignment_id, self.student_id)
        is_settled = grade.manual_score is not None and not grade.needs_manual_grade
        super()._add_score(cell, resources)
        if is_settled and changed is not None and name not in changed:
            grade.needs_manual_grade = False
            self.gradebook.db.commit()
