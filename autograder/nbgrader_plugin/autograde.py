"""nbgrader's plug-ins: they read, run and judge submissions in the place of nbgrader's own execution.

`course/nbgrader_config.py` names them. nbgrader keeps everything else: its gradebook, manual
scores and comments, late penalties, feedback and export.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import ExitStack, closing
from glob import glob
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor, OverwriteCells
from sqlalchemy.exc import OperationalError

from autograder.course.course import course_in
from autograder.course.course_location import readable_by_answers
from autograder.errors import CourseError
from autograder.grading import class_grading, verdict_store
from autograder.grading.assignment import Assignment, assignment, released_starters, several_released
from autograder.grading.executors import Workers
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.grading.verdict_store import Kept
from autograder.nbgrader_plugin import deadlines, late_penalties, preflight_checks, teacher_cells
from autograder.nbgrader_plugin.common_cells import AllOwn, Together, leaves_common
from autograder.nbgrader_plugin.course_lock import alone
from autograder.nbgrader_plugin.extra_credit import give_extra_credit
from autograder.nbgrader_plugin.gradebook_recorder import Recorder, ReleasedAssignment
from autograder.nbgrader_plugin.hide_tests import Preprocessed
from autograder.nbgrader_plugin.save_grades import CHANGED
from autograder.sandbox.unconfined import check_confinement, is_unconfined_here
from autograder.submission import student_folder
from autograder.submission.quarantine import quarantine_harmful_files
from autograder.submission.released_cells import exercise_checked
from autograder.submission.submission import Submission


class SubmissionExporter(NotebookExporter):
    """Reads what students hand in, whatever it is, and gives nbgrader a sound notebook.

    nbgrader makes one per run, before the first submission: the moment to see whether the run can end well, and to
    grade all submissions of the run at once.
    """

    # nbconvert's own arguments go on to it as they come, here and below.
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[no-untyped-call]
        if self.parent is None:
            return
        self.reasons: dict[str, str] = {}
        if isinstance(self.parent, Recorder):
            self.released = self.parent.released
            return
        coursedir: Any = self.parent.coursedir
        lock = self._lock_course(Path(coursedir.root), coursedir.assignment_id)
        try:
            self._set_aside(self.parent.assignments)
            wanted = assignment(Path(coursedir.root), coursedir.assignment_id, unconfined=is_unconfined_here())
            self._find_others(wanted, self.parent.assignments)
            wanted, self.reasons = _graded(self.parent, wanted)
        except CourseError as error:
            lock.close()
            self.log.error("%s", error)
            raise NbGraderException(str(error)) from None
        except BaseException:
            lock.close()
            raise
        self.released = ReleasedAssignment.of(wanted)

    def _lock_course(self, course: Path, stem: str) -> ExitStack:
        """Hold the course's lock until nbgrader has converted all submissions, or the returned stack is closed.

        formgrader's process goes on after a run, and keeps what ran: so the lock does not wait for the converter's end.
        """
        lock, converter = ExitStack(), self.parent
        try:
            lock.enter_context(alone(course, f"nbgrader autograde {stem}"))
        except CourseError as error:
            self.log.error("%s", error)
            raise NbGraderException(str(error)) from None
        convert = converter.convert_notebooks  # type: ignore[union-attr]

        def convert_and_unlock() -> None:
            with lock:
                convert()

        converter.convert_notebooks = convert_and_unlock  # type: ignore[union-attr]
        return lock

    def _set_aside(self, folders: dict[str, list[str]]) -> None:
        """Take what nbgrader must not copy out of its way; a submission where that fails is named and left out."""
        for folder in list(folders):
            try:
                quarantine_harmful_files(Path(self.parent.coursedir.root) / folder)  # type: ignore[union-attr]
            except CourseError as error:
                self.log.error("%s", error)
                del folders[folder]
                if not folders:
                    raise

    def _find_others(self, wanted: Assignment, folders: dict[str, list[str]]) -> None:
        """Take up the submissions in which nbgrader saw no notebook: in a zip archive, a folder, a text file."""
        coursedir: Any = self.parent.coursedir  # type: ignore[union-attr]
        pattern = coursedir.format_path(coursedir.submitted_directory, coursedir.student_id, wanted.stem)
        for folder in sorted(set(glob(pattern)) - set(folders)):
            try:
                class_grading.opened(wanted, Path(coursedir.root) / folder)
                folders[folder] = [str(Path(folder) / f"{name}.ipynb") for name in wanted.notebooks]
            except CourseError as error:
                self.log.error("%s: %s", Path(folder).parent.name, error)

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> Any:
        """Repair a notebook of `submitted/`; leave one of `autograded/`, which we wrote, as it is."""
        about = resources["nbgrader"]
        coursedir: Any = self.parent.coursedir  # type: ignore[union-attr]
        handed_in = coursedir.format_path(coursedir.submitted_directory, about["student"], about["assignment"])
        if os.path.normpath(os.path.dirname(filename)) != os.path.normpath(handed_in):
            return self._second_pass(filename, resources, **kw)
        found, about["key"] = self._read(Path(handed_in), about["notebook"])
        for line in filter(None, (found.trouble, *found.eye, *found.repairs)):
            self.log.warning("%s: %s", about["student"], line)
        resources["metadata"] = {"name": Path(filename).stem, "path": os.path.dirname(filename)}
        return self._through(self._together(found, about["notebook"]), resources)

    def _read(self, folder: Path, name: str) -> tuple[SubmissionVerdict | Submission, str]:
        """What lays out a repaired notebook, and the key of the verdict on the submission."""
        wanted, release = self.released.assignment, self.released.notebooks[name]
        verdict = self.parent.verdict if isinstance(self.parent, Recorder) else None
        if verdict is not None and not wanted.parts:
            return verdict, verdict.key
        parcel = class_grading.opened(wanted, folder)
        return wanted.notebooks[name].read(parcel.parts.get(name, parcel), release), wanted.key(parcel)

    def _together(self, found: SubmissionVerdict | Submission, name: str) -> Together:
        """A repaired notebook; where a step may look at any cell, or every cell was run, all of it is its own."""
        wanted = self.released.assignment
        is_judged = wanted.own is None and not wanted.parts
        shares = is_judged and all(leaves_common(each, (CourseCells, GradeSubmission)) for each in self._preprocessors)
        common = self.released.common[name] if shares else {}
        return Together(found.cells, self.released.notebooks[name], common)

    def _second_pass(self, filename: str, resources: Any, **kw: Any) -> Any:
        """nbgrader converts what it has just written once more; by then everything is done, unless a teacher added to
        `autograde_preprocessors`."""
        if self._preprocessors:
            return super().from_filename(filename, resources=resources, **kw)
        return Path(filename).read_text(encoding="utf-8"), self._init_resources(resources)  # type: ignore[no-untyped-call]

    def from_notebook_node(self, nb: NotebookNode, resources: Any = None, **kw: Any) -> Any:
        """Take a notebook through nbgrader's steps; it is validated when it is written.

        nbconvert would copy it twice first, and validate it after each step: half of nbgrader's time.
        """
        return self._through(AllOwn(nb), resources)

    def _through(self, notebook: Together | AllOwn, resources: Any) -> tuple[str, Any]:
        """The text of a notebook that went through nbgrader's steps, and its resources."""
        resources, own = self._init_resources(resources), notebook.own  # type: ignore[no-untyped-call]
        for step in self._preprocessors:
            own, resources = step(own, resources)
        return self.released.writer.written(notebook.whole(own)) + "\n", resources


def _graded(converter: Any, wanted: Assignment) -> tuple[Assignment, dict[str, str]]:
    """Grade what nbgrader is about to record: what was graded, and the reason for each who could not be."""
    coursedir = converter.coursedir
    preflight_checks.check(Path(coursedir.root), coursedir.db_url)
    check_confinement(wanted.unconfined, readable_by_answers(Path(coursedir.root).resolve()))
    with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
        preflight_checks.gradable(gradebook, wanted)
        wanted = teacher_cells.with_own(wanted, gradebook, converter)
        late_penalties.set_dates(gradebook, Path(coursedir.root), wanted.stem)
    folders = {Path(folder).parent.name: Path(folder) for folder in sorted(converter.assignments)}
    scored = teacher_cells.Scoring(wanted, converter)
    workers = Workers(stays=isinstance(converter.parent, NbGraderAPI))  # formgrader's, whose buttons are pressed again
    with closing(class_grading.grade_class(wanted, folders, workers, converter.force, scored)) as done:
        reasons = {student: outcome for student, outcome in done if isinstance(outcome, str) and outcome}
    for student in folders:
        _clear_unfinished(coursedir, wanted.stem, student)
    return wanted, reasons


def _clear_unfinished(coursedir: Any, stem: str, student: str) -> None:
    """Remove results that are older than the verdict, or half written: nbgrader would take them for finished."""
    found = verdict_store.kept(Path(coursedir.root), stem, student)
    if found and not found.recorded:
        shutil.rmtree(coursedir.format_path(coursedir.autograded_directory, student, stem), ignore_errors=True)


class GradeSubmission(NbGraderPreprocessor):
    """Takes the place of nbgrader's Execute: writes the verdict on a submission into its grade cells."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> Preprocessed:
        """Give one submission its extra credit and its grade cells' outputs."""
        about = resources["nbgrader"]
        exporter, coursedir = self.parent, self.parent.parent.coursedir
        course, stem, student = Path(coursedir.root), about["assignment"], about["student"]
        try:
            found = _current(exporter.reasons, course, stem, student, about["key"])
            wanted = exporter.released.assignment
            shown = found.of_notebook(about["notebook"]) if wanted.parts else found
            about[CHANGED] = shown.changed
            with _gradebook(exporter.parent) as gradebook:
                give_extra_credit(gradebook, course, student, found)
                submission = gradebook.find_submission(stem, student)
                late_penalties.set_extension(submission, deadlines.read(course), stem, student)
                gradebook.db.commit()
            _fill(nb, shown.verdict, _hints(course, wanted))
        except OperationalError as error:
            # Not nbgrader's own advice for this error: to upgrade the database.
            raise NbGraderException(str(preflight_checks.locked(course, error))) from None
        except CourseError as error:
            raise NbGraderException(str(error)) from None
        return nb, resources


def _gradebook(converter: Any) -> Gradebook:
    """The gradebook of a course; where a class is recorded, the one that is open already."""
    if isinstance(converter, Recorder):
        return converter.gradebook
    return Gradebook(converter.coursedir.db_url, converter.coursedir.course_id)


def _current(reasons: Mapping[str, str], course: Path, stem: str, student: str, key: str) -> Kept:
    """The verdict file of a student; raises NbGraderException where it is not about what was read just now."""
    if student in reasons:
        raise NbGraderException(reasons[student])
    found = verdict_store.kept(course, stem, student)
    if found is None or found.verdict.key != key:
        raise NbGraderException("the submission or the chapter changed while it was graded. Grade this student again.")
    return found


def _hints(course: Path, wanted: Assignment) -> dict[str, tuple[str, ...]]:
    """The hints to the exercises of an assignment."""
    stems = (wanted.stem, *wanted.homes.values())
    return {name: hints for stem in stems for name, hints in course_in(course).hints(stem).items()}


def _fill(nb: NotebookNode, verdict: SubmissionVerdict, hints: Mapping[str, tuple[str, ...]]) -> None:
    for place, cell in enumerate(nb.cells):
        if cell.cell_type != "code":
            continue
        exercise = exercise_checked(cell)
        cell.execution_count = None
        if exercise is not None and exercise in verdict.points:
            from autograder.nbgrader_plugin.grade_cell_outputs import grade_cell_outputs  # with torch

            cell.outputs = grade_cell_outputs(verdict, exercise, hints.get(exercise, ()))
        else:
            cell.outputs = teacher_cells.outputs_of(place, cell, verdict)


def note_recorded(assignment: str, student: str, notebooks: list[str]) -> None:
    """Note that a submission is recorded; nbgrader calls it after each one, in the course folder.

    `student` may be a pattern (`nbgrader autograde --student 'a*'`); the path of the notebook names who it was.
    """
    verdict_store.mark_recorded(Path.cwd(), assignment, Path(notebooks[0]).parents[1].name)


class CourseCells(OverwriteCells):
    """Puts the hidden tests back into the grade cells.

    Without nbgrader's warning for each cell that it changed a student's checksum: these cells come from the release.
    """

    def report_change(self, name: str, attr: str, old: Any, new: Any) -> None:
        """Say nothing."""


def name_as_released(assignment: str, student: str, notebooks: list[str]) -> None:
    """Copy a notebook that came as `NAME (1).ipynb` to the released name, so that nbgrader sees it.

    nbgrader calls it in the course folder before each submission, and goes on without a word where it raises.
    `notebooks` is nbgrader's own list, changed in place: a file's name must not decide whether it is graded.
    """
    if several_released(Path.cwd(), assignment):
        return
    starters = released_starters(Path.cwd(), assignment)
    placed = student_folder.place_notebook(Path(notebooks[0]).parent, assignment, starters) if notebooks else None
    if placed is not None:
        notebooks[:] = [str(placed.path)]
