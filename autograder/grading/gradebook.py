"""nbgrader's plug-ins: they read, run and judge submissions in the place of nbgrader's own execution.

`course/nbgrader_config.py` names them. nbgrader keeps everything else: its gradebook, manual
scores and comments, late penalties, feedback and export.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import ClearHiddenTests, NbGraderPreprocessor
from nbgrader.utils import is_grade
from sqlalchemy.exc import OperationalError
from traitlets import List, Unicode

from autograder.errors import CourseError
from autograder.exercises import load
from autograder.grading import classroom, inbox, preflight
from autograder.grading.cell_outputs import grade_cell_outputs
from autograder.grading.grade import SubmissionVerdict
from autograder.grading.submission import read, unreadable

Step = tuple[NotebookNode, Any]


class SubmissionExporter(NotebookExporter):
    """Reads what students hand in, whatever it is, and gives nbgrader a sound notebook.

    nbgrader makes one per run, before the first submission: the moment to see whether the run can end well.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[no-untyped-call]
        if self.parent is None:
            return
        coursedir: Any = self.parent.coursedir
        try:
            preflight.check(Path(coursedir.root), coursedir.db_url)
            # Now, and not at the first submission: nbgrader removes old results before it comes to one.
            classroom.grader(Path(coursedir.root), coursedir.assignment_id)
            with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
                preflight.known(coursedir.assignment_id, [each.name for each in gradebook.assignments])
        except CourseError as error:
            self.log.error("%s", error)
            raise NbGraderException(str(error)) from None

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> Any:
        """Repair a notebook of `submitted/`; read one of `autograded/`, which we wrote, as it is."""
        about = resources["nbgrader"]
        coursedir: Any = self.parent.coursedir  # type: ignore[union-attr]
        handed_in = coursedir.format_path(coursedir.submitted_directory, about["student"], about["assignment"])
        if os.path.normpath(os.path.dirname(filename)) != os.path.normpath(handed_in):
            return super().from_filename(filename, resources=resources, **kw)
        release = classroom.released(Path(coursedir.root), about["assignment"])
        data, reason = inbox.handed_in(Path(filename))
        submission = unreadable(reason, release) if reason else read(data, release)
        for line in (submission.trouble, *submission.repairs):
            if line:
                self.log.warning("%s: %s", about["student"], line)
        resources["metadata"] = {"name": Path(filename).stem, "path": os.path.dirname(filename)}
        return self.from_notebook_node(  # type: ignore[no-untyped-call]
            submission.notebook, resources=resources, **kw
        )


class GradeSubmission(NbGraderPreprocessor):
    """Takes the place of nbgrader's Execute: grades, and writes the outcome into the grade cells."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> Step:
        """Grade one submission, give extra credit, keep the verdict, and fill in the grade cells' outputs."""
        about = resources["nbgrader"]
        coursedir = self.parent.parent.coursedir
        course, stem, student = Path(coursedir.root), about["assignment"], about["student"]
        folder = Path(coursedir.format_path(coursedir.submitted_directory, student, stem))
        try:
            verdict = classroom.grader(course, stem).grade(folder)
            with Gradebook(about["db_url"], coursedir.course_id) as gradebook:
                give_extra_credit(gradebook, verdict, classroom.stored(course, stem, student), student)
            classroom.store(course, student, verdict)
        except OperationalError as error:
            # Not nbgrader's own advice for this error: to upgrade the database.
            raise NbGraderException(str(preflight.locked(course, error))) from None
        except CourseError as error:
            raise NbGraderException(str(error)) from None
        _fill(nb, verdict)
        return nb, resources


def _fill(nb: NotebookNode, verdict: SubmissionVerdict) -> None:
    for cell in nb.cells:
        exercise = cell.metadata.get("nbgrader", {}).get("grade_id", "").removeprefix("check_")
        if cell.cell_type != "code":
            continue
        cell.execution_count = None
        cell.outputs = grade_cell_outputs(verdict, exercise) if is_grade(cell) and exercise in verdict.points else []


def give_extra_credit(
    gradebook: Gradebook, verdict: SubmissionVerdict, before: SubmissionVerdict | None, student: str
) -> None:
    """Write what stretch exercises earned; a value that we did not write last time is the teacher's."""
    for exercise, most in verdict.extra.items():
        if not most:
            continue
        grade = gradebook.find_grade(f"check_{exercise}", verdict.assignment, verdict.assignment, student)
        earned = verdict.earned_extra(exercise)
        ours = before.earned_extra(exercise) if before and exercise in before.extra else None
        if grade.extra_credit is None or grade.extra_credit == ours:
            grade.extra_credit = earned
    gradebook.db.commit()


class HideTests(ClearHiddenTests):
    """Takes the hidden tests out of grade cells, and leaves alone what students write elsewhere."""

    # The HTML exporter sets this for every preprocessor; nbgrader's class complains where it cannot be set.
    display_data_priority = List(Unicode()).tag(config=True)

    def preprocess_cell(self, cell: NotebookNode, resources: Any, cell_index: int) -> Step:
        """Clear one cell."""
        if not is_grade(cell):
            return cell, resources
        cleared: Step = super().preprocess_cell(cell, resources, cell_index)
        return cleared


def name_as_released(assignment: str, student: str, notebooks: list[str]) -> None:
    """Copy a notebook that came as `ch01 (1).ipynb` to the released name, so that nbgrader sees it.

    nbgrader calls it before each submission, and goes on without a word where it raises. `notebooks` is
    nbgrader's own list, changed in place: a file's name must not decide whether it is graded.
    """
    names = [exercise.name for exercise in load(assignment)]
    found = inbox.place_notebook(Path(notebooks[0]).parent, assignment, names) if notebooks else None
    if found is not None:
        notebooks[:] = [str(found)]
