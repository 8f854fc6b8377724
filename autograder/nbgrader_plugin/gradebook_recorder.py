"""Record the verdicts on a whole class in nbgrader's gradebook, with nbgrader's own Autograde and one shared session.

nbgrader opens its database a dozen times for each submission and queries it for one cell at a time. Here all of
nbgrader's classes share one session, and each query runs once; nbgrader's own code still writes the same rows.
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

from autograder.exercises.replace_attributes_temporarily import replace_attribute
from autograder.grading.assignment import Assignment
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.nbgrader_plugin.caching_notebook_writer import CachingNotebookWriter
from autograder.nbgrader_plugin.prepare_common_cells_once import Common, shareable_cells

# The modules of nbgrader that open the gradebook while they record a submission.
_OPENING = (
    "nbgrader.converters.autograde",
    "nbgrader.preprocessors.latesubmissions",
    "nbgrader.preprocessors.overwritecells",
    "nbgrader.preprocessors.saveautogrades",
)
_KNOWN = ("autograder", "nbgrader", "nbconvert")  # packages whose preprocessors keep no state between notebooks
GradePlace = tuple[str, str, str]  # notebook, assignment, student


@dataclass(frozen=True)
class ReleasedAssignment:
    """An assignment with its released notebooks and their shared cells by name, and the writer of its notebooks."""

    assignment: Assignment
    notebooks: Mapping[str, NotebookNode]
    common: Mapping[str, Common]
    writer: CachingNotebookWriter

    @classmethod
    def of(cls, assignment: Assignment) -> ReleasedAssignment:
        """Read the released notebooks of an assignment and prepare their shared cells."""
        notebooks = {name: each.released() for name, each in assignment.notebooks.items()}
        common = {name: shareable_cells(each) for name, each in notebooks.items()}
        writer = CachingNotebookWriter(cell for cells in common.values() for cell in cells.values())
        return cls(assignment, notebooks, common, writer)


class Recorder(Autograde):  # type: ignore[misc,unused-ignore]
    """nbgrader's Autograde for submissions that have been graded already; one object records the whole class.

    Each call of `start` records one student. `RepairingExporter` takes `released` from it, and the repaired notebook
    from `verdict`; if that is None, it reads the submission again. All rows of a submission are committed together,
    before the submission is noted as recorded.
    """

    def __init__(self, gradebook: ClassGradebook, released: ReleasedAssignment, api: NbGraderAPI) -> None:
        super().__init__(coursedir=api.coursedir, parent=api)
        self.released, self.gradebook = released, gradebook
        self.verdict: SubmissionVerdict | None = None
        self.force = True
        self._is_ready = False
        self._steps: dict[bool, list[Preprocessor]] = {}

    def start(self) -> None:
        """Record the student whom `coursedir` names; the exporter and writer of the first call are used again."""
        if not self._is_ready:
            super().start()
            return
        self.init_notebooks()
        with chdir(self.coursedir.root):
            self.convert_notebooks()

    def convert_notebooks(self) -> None:
        """Convert the notebooks; from here on, the writer and the exporter exist."""
        self._is_ready = True
        super().convert_notebooks()

    def _init_preprocessors(self) -> None:
        """Use the preprocessors of the previous student again, unless one is the teacher's own and may keep state."""
        if self._sanitizing in self._steps:
            self.exporter._preprocessors = list(self._steps[self._sanitizing])
            return
        super()._init_preprocessors()
        steps = list(self.exporter._preprocessors)
        if all(type(step).__module__.split(".")[0] in _KNOWN for step in steps):
            self._steps[self._sanitizing] = steps

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Convert a notebook once; nbgrader converts it twice, which only a teacher's own preprocessors need."""
        if self.autograde_preprocessors:
            super().convert_single_notebook(notebook_filename)
            return
        self._init_preprocessors()
        BaseConverter.convert_single_notebook(self, notebook_filename)

    def run_post_convert_hook(self) -> None:
        """Commit to the gradebook, then run nbgrader's hook."""
        self.gradebook.write()
        super().run_post_convert_hook()


class ClassGradebook(Gradebook):  # type: ignore[misc,unused-ignore]
    """nbgrader's gradebook with one open session and caches: it fetches all cells, or all marks of a student, together.

    nbgrader commits after each cell; here nothing is committed before `write`. Of the students, only the last one's
    rows are cached.
    """

    def __init__(self, db_url: str, course_id: str) -> None:
        super().__init__(db_url, course_id)
        self.db().expire_on_commit = False  # the course lock admits no other writer, so rows stay valid after a commit
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
        """Stay open, since nbgrader's next class uses the same session."""

    def find_assignment(self, name: str) -> api.Assignment:
        """Return a released assignment; raise MissingEntry if there is none."""
        if name not in self._assignments:
            self._assignments[name] = super().find_assignment(name)
        return self._assignments[name]

    def find_notebook(self, name: str, assignment: str) -> api.Notebook:
        """Return a released notebook; raise MissingEntry if there is none."""
        if (name, assignment) not in self._notebooks:
            self._notebooks[name, assignment] = super().find_notebook(name, assignment)
        return self._notebooks[name, assignment]

    def add_student(self, student_id: str, **about: Any) -> api.Student:
        """Add a student and cache the row."""
        self._student = student_id, super().add_student(student_id, **about)
        return self._student[1]

    def find_student(self, student_id: str) -> api.Student:
        """Return a student; raise MissingEntry if there is none."""
        if self._student[0] != student_id:
            self._student = student_id, super().find_student(student_id)
        return self._student[1]

    def add_submission(self, assignment: str, student: str, **about: Any) -> api.SubmittedAssignment:
        """Add a submission with its notebooks and grades, and cache it.

        Nothing is committed, so its rows are inserted with their marks and need no later update.
        """
        made = super().add_submission(assignment, student, **about)
        self._submission = (assignment, student), made
        return made

    def find_submission(self, assignment: str, student: str) -> api.SubmittedAssignment:
        """Return a student's submission; raise MissingEntry if there is none."""
        if self._submission[0] != (assignment, student):
            self._submission = (assignment, student), super().find_submission(assignment, student)
        return self._submission[1]

    def find_submission_notebook(self, notebook: str, assignment: str, student: str) -> api.SubmittedNotebook:
        """Return a student's submitted notebook; raise MissingEntry if there is none."""
        place = (notebook, assignment, student)
        if self._submitted[0] != place:
            self._submitted = place, self._added(*place) or super().find_submission_notebook(*place)
        return self._submitted[1]

    def _added(self, notebook: str, assignment: str, student: str) -> api.SubmittedNotebook | None:
        """Return a notebook of the cached submission if that is this student's and not written yet, else None."""
        about, submission = self._submission
        if submission is None or about != (assignment, student) or submission not in self.db.new:
            return None
        return next((each for each in submission.notebooks if each.notebook.name == notebook), None)

    def find_source_cell(self, name: str, notebook: str, assignment: str) -> SourceCell:
        """Return a cell of the released notebook; raise MissingEntry if there is none."""
        if (notebook, assignment) not in self._sources:
            found = self.find_notebook(notebook, assignment).source_cells
            self._sources[notebook, assignment] = {cell.name: cell for cell in found}
        return _entry(self._sources[notebook, assignment], name)

    def find_graded_cell(self, name: str, notebook: str, assignment: str) -> GradeCell:
        """Return a grade cell of the released notebook; raise MissingEntry if there is none."""
        if (notebook, assignment) not in self._graded:
            found = self.find_notebook(notebook, assignment).grade_cells
            self._graded[notebook, assignment] = {cell.name: cell for cell in found}
        return _entry(self._graded[notebook, assignment], name)

    def find_grade(self, grade_cell: str, notebook: str, assignment: str, student: str) -> Grade:
        """Return a student's grade for a grade cell; raise MissingEntry if there is none."""
        place = (notebook, assignment, student)
        if self._grades[0] != place:
            self._grades = place, self._by_name(self.find_submission_notebook(*place).grades, notebook, assignment)
        return _entry(self._grades[1], grade_cell)

    def find_comment(self, solution_cell: str, notebook: str, assignment: str, student: str) -> Comment:
        """Return the comment on a student's solution cell; raise MissingEntry if there is none."""
        place = (notebook, assignment, student)
        if self._comments[0] != place:
            self._comments = place, self._by_name(self.find_submission_notebook(*place).comments, notebook, assignment)
        return _entry(self._comments[1], solution_cell)

    def _by_name(self, found: Iterable[Any], notebook: str, assignment: str) -> dict[str, Any]:
        """Map cell names to grades or comments; rows that are not written yet know only the id of their cell."""
        released = self.find_notebook(notebook, assignment)
        cells = (*released.grade_cells, *released.solution_cells, *released.task_cells)
        names = {cell.id: cell.name for cell in cells}
        return {names[each.cell_id]: each for each in found}

    def write(self) -> None:
        """Commit all changes."""
        self._commit()

    def forget(self) -> None:
        """Roll back uncommitted changes and clear the student's caches, before the next student."""
        self.db.rollback()
        self._student, self._submission, self._submitted = ("", None), (("", ""), None), (("", "", ""), None)
        self._grades = self._comments = (("", "", ""), {})


def _entry(found: dict[str, Any], name: str) -> Any:
    if name not in found:
        raise MissingEntry(f"No such cell: {name}")
    return found[name]


@contextlib.contextmanager
def one_gradebook(coursedir: CourseDirectory) -> Iterator[ClassGradebook]:
    """Make nbgrader's classes share one open gradebook, and yield it. Not thread-safe: it patches modules."""
    shared = ClassGradebook(coursedir.db_url, coursedir.course_id)
    with contextlib.ExitStack() as stack:
        stack.callback(shared.close)
        for name in _OPENING:
            stack.enter_context(replace_attribute(importlib.import_module(name), "Gradebook", lambda *_: shared))
        yield shared
