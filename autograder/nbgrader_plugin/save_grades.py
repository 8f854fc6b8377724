"""An nbgrader preprocessor that saves automatic scores, and asks for review where they changed or there are none."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import SaveAutoGrades

CHANGED = "changed"  # key in `resources["nbgrader"]`: the names of cells whose points changed; None means all cells
WAITING = "waiting"  # key there: the names of cells that a person has to score


class SaveGrades(SaveAutoGrades):  # type: ignore[misc,unused-ignore]
    """Saves scores as nbgrader does, but after another grading marks only changed cells for review.

    nbgrader itself marks every score by hand for review, even if nothing has changed.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Save the scores and flush the session, since later steps query the database for sums."""
        nb, resources = super().preprocess(nb, resources)
        self.gradebook.db.flush()
        return nb, resources

    def _add_score(self, cell: NotebookNode, resources: Any) -> None:
        name, changed = cell.metadata.nbgrader["grade_id"], resources["nbgrader"].get(CHANGED)
        grade = self.gradebook.find_grade(name, self.notebook_id, self.assignment_id, self.student_id)
        is_settled = grade.manual_score is not None and not grade.needs_manual_grade
        super()._add_score(cell, resources)
        if name in resources["nbgrader"].get(WAITING, ()):
            grade.auto_score, grade.needs_manual_grade = None, True
            self.gradebook.db.commit()
        if is_settled and changed is not None and name not in changed:
            grade.needs_manual_grade = False
            self.gradebook.db.commit()
