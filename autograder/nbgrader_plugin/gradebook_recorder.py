"""nbgrader's Autograde for a whole class that has been graded already: recording, and nothing else.

nbgrader opens its database a dozen times for each submission and asks it for one cell at a time. Here one session is
shared, and each question asked once; what is written, and by whose code, stays the same.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbgrader import api
from nbgrader.api import Comment, Grade, Gradebook, GradeCell, MissingEntry, SourceCell
from nbgrader.apps import NbGraderAPI
from nbgrader.converters import Autograde, BaseConverter
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import chdir

from autograder.exercises.patched_names import replaced
from autograder.grading.assignment import Assignment
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.nbgrader_plugin.common_cells import Common, common_cells
from autograder.nbgrader_plugin.notebook_writer import NotebookWriter

# nbgrader's modules that open the gradebook while a submission is recorded.
_OPENING = (
    "nbgrader.converters.autograde",
    "nbgrader.preprocessors.latesubmissions",
    "nbgrader.preprocessors.overwritecells",
    "nbgrader.preprocessors.saveautogrades",
)
_KNOWN = ("autograder", "nbgrader", "nbconvert")  # whose steps remember nothing of a notebook
GradePlace = tuple[str, str, str]  # notebook, assignment, student


@dataclass(frozen=True)
class ReleasedAssignment:
    """An assignment; its released notebooks by name, and of each the cells that all have alike; what writes them."""

    assignment: Assignment
    notebooks: Mapping[str, NotebookNode]
    common: Mapping[str, Common]
    writer: NotebookWriter

    @classmethod
    def of(cls, assignment: Assignment) -> ReleasedAssignment:
        """Read the released notebooks of an assignment."""
        notebooks = {name: each.released() for name, each in assignment.notebooks.items()}
        common = {name: common_cells(each) for name, each in notebooks.items()}
        writer = NotebookWriter(cell for cells in common.values() for cell in cells.values())
        return cls(assignment, notebooks, common, writer)


class Recorder(Autograde):  # type: ignore[misc,unused-ignore]
    """nbgrader's Autograde where everything has been graded: the exporter takes the released assignment from it.

    It records one student of a class after the other, each with a `start`. With the `verdict` of just now, nothing is
    read again of what was handed in: it has the repaired notebook. What one submission adds to the gradebook is written
    at once, and before it is noted as recorded.
    """

    def __init__(self, gradebook: ClassGradebook, released: ReleasedAssignment, api: NbGraderAPI) -> None:
        super().__init__(coursedir=api.coursedir, parent=api)
        self.released, self.gradebook = released, gradebook
        self.verdict: SubmissionVerdict | None = None
        self.force = True
        self._is_ready = False
        self._steps: dict[bool, list[Preprocessor]] = {}

    def start(self) -> None:
        """Record whoever the course folder's settings name; what nbgrader makes for one student serves for all."""
        if not self._is_ready:
            super().start()
            return
        self.init_notebooks()
        with chdir(self.coursedir.root):
            self.convert_notebooks()

    def convert_notebooks(self) -> None:
        """Note that writer and exporter are there, then go on."""
        self._is_ready = True
        super().convert_notebooks()

    def _init_preprocessors(self) -> None:
        """Take the steps that the student before went through; a teacher's own may remember whom they saw."""
        if self._sanitizing in self._steps:
            self.exporter._preprocessors = list(self._steps[self._sanitizing])
            return
        super()._init_preprocessors()
        steps = list(self.exporter._preprocessors)
        if all(type(step).__module__.split(".")[0] in _KNOWN for step in steps):
            self._steps[self._sanitizing] = steps

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Write a notebook, and not a second time where nothing is to be done with it in between."""
        if self.autograde_preprocessors:
            super().convert_single_notebook(notebook_filename)
            return
        self._init_preprocessors()
        BaseConverter.convert_single_notebook(self, notebook_filename)

    def run_post_convert_hook(self) -> None:
        """Write to the gradebook, then go on."""
        self.gradebook.write()
        super().run_post_convert_hook()


class ClassGradebook(Gradebook):  # type: ignore[misc,unused-ignore]
    """nbgrader's gradebook, kept open: it fetches all cells of a notebook, and all marks of a student, at once.

    nbgrader commits after each cell; here nothing is on the disk before `write`.
    """

    def __init__(self, db_url: str, course_id: str) -> None:
        super().__init__(db_url, course_id)
        self.db().expire_on_commit = False  # one writer: what was read is still so
        self._commit, self.db.commit = self.db.commit, lambda: None
        self._assignments: dict[str, api.Assignment] = {}
        self._notebooks: dict[tuple[str, str], api.Notebook] = {}
        self._student: tuple[str, api.Student | None] = "", None
        self._submission: tuple[tuple[str, str], api.SubmittedAssignment | None] = ("", ""), None
        self._submitted: tuple[GradePlace, api.SubmittedNotebook | None] = ("", "", ""), None
        self._sources: dict[tuple[str, str], dict[str, SourceCell]] = {}
        self._graded: dict[tuple[str, str], dict[str, GradeCell]] = {}
        self._grades: tuple[GradePlace, dict[str, Grade]] = (("", "", ""), {})
        self._comments: tuple[GradePlace, dict[str, Comment]] = (("", "", ""), {})

    def __exit__(self, *_: object) -> None:
        """Stay open for the next one who opens it."""

    def find_assignment(self, name: str) -> api.Assignment:
        """An assignment that was released; raises MissingEntry."""
        if name not in self._assignments:
            self._assignments[name] = super().find_assignment(name)
        return self._assignments[name]

    def find_notebook(self, name: str, assignment: str) -> api.Notebook:
        """A released notebook; raises MissingEntry."""
        if (name, assignment) not in self._notebooks:
            self._notebooks[name, assignment] = super().find_notebook(name, assignment)
        return self._notebooks[name, assignment]

    def add_student(self, student_id: str, **about: Any) -> api.Student:
        """Add a student, who need not be asked for then."""
        self._student = student_id, super().add_student(student_id, **about)
        return self._student[1]

    def find_student(self, student_id: str) -> api.Student:
        """A student; raises MissingEntry."""
        if self._student[0] != student_id:
            self._student = student_id, super().find_student(student_id)
        return self._student[1]

    def add_submission(self, assignment: str, student: str, **about: Any) -> api.SubmittedAssignment:
        """Add a submission with all that it is made of, which need not be asked for then.

        Its rows are written with the marks, and not once more when these are known.
        """
        made = super().add_submission(assignment, student, **about)
        self._submission = (assignment, student), made
        return made

    def find_submission(self, assignment: str, student: str) -> api.SubmittedAssignment:
        """What a student handed in; raises MissingEntry."""
        if self._submission[0] != (assignment, student):
            self._submission = (assignment, student), super().find_submission(assignment, student)
        return self._submission[1]

    def find_submission_notebook(self, notebook: str, assignment: str, student: str) -> api.SubmittedNotebook:
        """A notebook that a student handed in; raises MissingEntry."""
        place = (notebook, assignment, student)
        if self._submitted[0] != place:
            self._submitted = place, self._added(*place) or super().find_submission_notebook(*place)
        return self._submitted[1]

    def _added(self, notebook: str, assignment: str, student: str) -> api.SubmittedNotebook | None:
        """A notebook of the submission that was added just now, where it is this one's."""
        about, submission = self._submission
        if submission is None or about != (assignment, student) or submission not in self.db.new:
            return None
        return next((each for each in submission.notebooks if each.notebook.name == notebook), None)

    def find_source_cell(self, name: str, notebook: str, assignment: str) -> SourceCell:
        """A cell of the released notebook; raises MissingEntry."""
        if (notebook, assignment) not in self._sources:
            found = self.find_notebook(notebook, assignment).source_cells
            self._sources[notebook, assignment] = {cell.name: cell for cell in found}
        return _entry(self._sources[notebook, assignment], name)

    def find_graded_cell(self, name: str, notebook: str, assignment: str) -> GradeCell:
        """A grade cell of the released notebook; raises MissingEntry."""
        if (notebook, assignment) not in self._graded:
            found = self.find_notebook(notebook, assignment).grade_cells
            self._graded[notebook, assignment] = {cell.name: cell for cell in found}
        return _entry(self._graded[notebook, assignment], name)

    def find_grade(self, grade_cell: str, notebook: str, assignment: str, student: str) -> Grade:
        """The marks for a grade cell of a student; raises MissingEntry."""
        place = (notebook, assignment, student)
        if self._grades[0] != place:
            self._grades = place, self._by_name(self.find_submission_notebook(*place).grades, notebook, assignment)
        return _entry(self._grades[1], grade_cell)

    def find_comment(self, solution_cell: str, notebook: str, assignment: str, student: str) -> Comment:
        """The comment on a solution cell of a student; raises MissingEntry."""
        place = (notebook, assignment, student)
        if self._comments[0] != place:
            self._comments = place, self._by_name(self.find_submission_notebook(*place).comments, notebook, assignment)
        return _entry(self._comments[1], solution_cell)

    def _by_name(self, found: Iterable[Any], notebook: str, assignment: str) -> dict[str, Any]:
        """Marks or comments by the names of their cells, which what is not written yet does not know."""
        released = self.find_notebook(notebook, assignment)
        cells = (*released.grade_cells, *released.solution_cells, *released.task_cells)
        names = {cell.id: cell.name for cell in cells}
        return {names[each.cell_id]: each for each in found}

    def write(self) -> None:
        """Commit what has been added."""
        self._commit()

    def forget(self) -> None:
        """Undo what is not written yet, and read anew: after a failure, or before the next student."""
        self.db.rollback()
        self._student, self._submission, self._submitted = ("", None), (("", ""), None), (("", "", ""), None)
        self._grades = self._comments = (("", "", ""), {})


def _entry(found: dict[str, Any], name: str) -> Any:
    if name not in found:
        raise MissingEntry(f"No such cell: {name}")
    return found[name]


@contextlib.contextmanager
def one_gradebook(coursedir: CourseDirectory) -> Iterator[ClassGradebook]:
    """Let nbgrader's classes share one session with the course's gradebook."""
    shared = ClassGradebook(coursedir.db_url, coursedir.course_id)
    with contextlib.ExitStack() as stack:
        stack.callback(shared.close)
        for name in _OPENING:
            stack.enter_context(replaced(importlib.import_module(name), "Gradebook", lambda *_: shared))
        yield shared
