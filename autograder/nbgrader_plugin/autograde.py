"""nbgrader plug-ins for `nbgrader autograde` that grade submissions in place of nbgrader's own execution.

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
from autograder.course.course_location import paths_readable_by_answers
from autograder.errors import CourseError
from autograder.grading import class_grading, verdict_store
from autograder.grading.assignment import Assignment, read_assignment, released_notebook_names, released_starters
from autograder.grading.grading_executors import WorkerOptions
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.grading.verdict_store import StoredVerdict
from autograder.nbgrader_plugin import apply_deadlines, cells_besides_exercises, preflight_checks, teacher_settings
from autograder.nbgrader_plugin import prepare_common_cells_once as shared
from autograder.nbgrader_plugin.course_lock import lock_course
from autograder.nbgrader_plugin.extra_credit import record_extra_credit
from autograder.nbgrader_plugin.gradebook_recorder import Recorder, ReleasedAssignment
from autograder.nbgrader_plugin.hide_tests_in_feedback import Preprocessed
from autograder.nbgrader_plugin.save_grades import CHANGED, WAITING
from autograder.sandbox.require_confinement import check_confinement, is_unconfined_allowed
from autograder.submission import read_student_folder
from autograder.submission.quarantine_unsafe_files import quarantine_harmful_files
from autograder.submission.read_released_cells import exercise_checked
from autograder.submission.submission import Submission


class RepairingExporter(NotebookExporter):
    """An nbconvert exporter that reads submissions of any form and gives nbgrader a valid, repaired notebook.

    nbgrader creates one for each run, before the first submission. The constructor therefore checks that the run can
    succeed, and grades all submissions of the run together.
    """

    # Arguments of nbconvert's own are passed on unchanged, here and below.
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
            wanted = read_assignment(Path(coursedir.root), coursedir.assignment_id, unconfined=is_unconfined_allowed())
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

        formgrader's process lives on after a run and keeps the converter, so the lock cannot wait for either to end.
        """
        lock, converter = ExitStack(), self.parent
        try:
            lock.enter_context(lock_course(course, f"nbgrader autograde {stem}"))
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
        """Quarantine files that nbgrader must not copy; log and leave out a submission where that fails."""
        for folder in list(folders):
            try:
                quarantine_harmful_files(Path(self.parent.coursedir.root) / folder)  # type: ignore[union-attr]
            except CourseError as error:
                self.log.error("%s", error)
                del folders[folder]
                if not folders:
                    raise

    def _find_others(self, wanted: Assignment, folders: dict[str, list[str]]) -> None:
        """Add the submissions in which nbgrader found no notebook: zip archives, folders, text files."""
        coursedir: Any = self.parent.coursedir  # type: ignore[union-attr]
        pattern = coursedir.format_path(coursedir.submitted_directory, coursedir.student_id, wanted.stem)
        for folder in sorted(set(glob(pattern)) - set(folders)):
            try:
                class_grading.read_student_files(wanted, Path(coursedir.root) / folder)
                folders[folder] = [str(Path(folder) / f"{name}.ipynb") for name in wanted.notebooks]
            except CourseError as error:
                self.log.error("%s: %s", Path(folder).parent.name, error)

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> Any:
        """Repair a notebook of `submitted/`; leave one of `autograded/`, which this exporter wrote, unchanged."""
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
        """Return the object that can build the repaired notebook, and the key of the verdict on the submission."""
        wanted, release = self.released.assignment, self.released.notebooks[name]
        verdict = self.parent.verdict if isinstance(self.parent, Recorder) else None
        if verdict is not None and not wanted.parts:
            return verdict, verdict.key
        parcel = class_grading.read_student_files(wanted, folder)
        return wanted.notebooks[name].read(parcel.parts.get(name, parcel), release), wanted.key(parcel)

    def _together(self, found: SubmissionVerdict | Submission, name: str) -> shared.NotebookWithSharedCells:
        """Return the repaired notebook, with shared cells if no step needs them and no cell was run."""
        wanted = self.released.assignment
        is_judged = wanted.own is None and not wanted.parts
        ours = (RestoreHiddenTests, WriteVerdict)
        shares = is_judged and all(shared.works_without_shared_cells(each, ours) for each in self._preprocessors)
        common = self.released.common[name] if shares else {}
        return shared.NotebookWithSharedCells(found.cells, self.released.notebooks[name], common)

    def _second_pass(self, filename: str, resources: Any, **kw: Any) -> Any:
        """Export a notebook that this exporter wrote; nbgrader converts each one twice.

        Nothing is left to do then, unless a teacher added steps to `autograde_preprocessors`.
        """
        if self._preprocessors:
            return super().from_filename(filename, resources=resources, **kw)
        return Path(filename).read_text(encoding="utf-8"), self._init_resources(resources)  # type: ignore[no-untyped-call]

    def from_notebook_node(self, nb: NotebookNode, resources: Any = None, **kw: Any) -> Any:
        """Run nbgrader's preprocessors on a notebook; it is validated when it is written.

        nbconvert would first copy it twice, and validate it after each step, which takes half of nbgrader's time.
        """
        return self._through(shared.UnsharedNotebook(nb), resources)

    def _through(
        self, notebook: shared.NotebookWithSharedCells | shared.UnsharedNotebook, resources: Any
    ) -> tuple[str, Any]:
        """Run nbgrader's preprocessors on a notebook; return its text and resources."""
        resources, own = self._init_resources(resources), notebook.own  # type: ignore[no-untyped-call]
        for step in self._preprocessors:
            own, resources = step(own, resources)
        return self.released.writer.written(notebook.whole(own)) + "\n", resources


def _graded(converter: Any, wanted: Assignment) -> tuple[Assignment, dict[str, str]]:
    """Grade all submissions that nbgrader is about to record.

    Returns the assignment with the teacher's own cells, and the reason for each student who could not be graded.
    """
    coursedir = converter.coursedir
    preflight_checks.check_that_grading_can_run(Path(coursedir.root), coursedir.db_url)
    check_confinement(wanted.unconfined, paths_readable_by_answers(Path(coursedir.root).resolve()))
    with Gradebook(coursedir.db_url, coursedir.course_id) as gradebook:
        preflight_checks.check_assignment_is_gradable(gradebook, wanted)
        wanted = cells_besides_exercises.with_teacher_cells(wanted, gradebook, converter)
        apply_deadlines.sync_due_dates(gradebook, Path(coursedir.root), wanted.stem)
    folders = {Path(folder).parent.name: Path(folder) for folder in sorted(converter.assignments)}
    scored = cells_besides_exercises.TeacherCellScorer(wanted, converter)
    workers = WorkerOptions(stays=isinstance(converter.parent, NbGraderAPI))  # formgrader's process runs many times
    with closing(class_grading.grade_class(wanted, folders, workers, converter.force, scored)) as done:
        reasons = {student: outcome for student, outcome in done if isinstance(outcome, str) and outcome}
    for student in folders:
        _clear_unfinished(coursedir, wanted.stem, student)
    return wanted, reasons


def _clear_unfinished(coursedir: Any, stem: str, student: str) -> None:
    """Remove results that are older than the verdict or half written, which nbgrader would take for finished."""
    found = verdict_store.read_verdict_file(Path(coursedir.root), stem, student)
    if found and not found.recorded:
        shutil.rmtree(coursedir.format_path(coursedir.autograded_directory, student, stem), ignore_errors=True)


class WriteVerdict(NbGraderPreprocessor):
    """Writes the verdict on a submission into its grade cells; replaces nbgrader's Execute."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> Preprocessed:
        """Record one submission's extra credit and extension, and fill in the outputs of its cells."""
        about = resources["nbgrader"]
        exporter, coursedir = self.parent, self.parent.parent.coursedir
        course, stem, student = Path(coursedir.root), about["assignment"], about["student"]
        try:
            found = _current(exporter.reasons, course, stem, student, about["key"])
            wanted = exporter.released.assignment
            shown = found.of_notebook(about["notebook"]) if wanted.parts else found
            about[CHANGED], about[WAITING] = shown.changed, shown.verdict.waiting
            with _gradebook(exporter.parent) as gradebook:
                record_extra_credit(gradebook, course, student, found)
                submission = gradebook.find_submission(stem, student)
                apply_deadlines.set_extension(submission, teacher_settings.read_teacher_settings(course), stem, student)
                gradebook.db.commit()
            _fill(nb, shown.verdict, _hints(course, wanted))
        except OperationalError as error:
            # For this error nbgrader itself would advise to upgrade the database, which does not help.
            raise NbGraderException(str(preflight_checks.gradebook_write_error(course, error))) from None
        except CourseError as error:
            raise NbGraderException(str(error)) from None
        return nb, resources


def _gradebook(converter: Any) -> Gradebook:
    """Return the course's gradebook; a Recorder's is open already."""
    if isinstance(converter, Recorder):
        return converter.gradebook
    return Gradebook(converter.coursedir.db_url, converter.coursedir.course_id)


def _current(reasons: Mapping[str, str], course: Path, stem: str, student: str, key: str) -> StoredVerdict:
    """Return a student's stored verdict; raise NbGraderException if it is not the one for `key`, or grading failed."""
    if student in reasons:
        raise NbGraderException(reasons[student])
    found = verdict_store.read_verdict_file(course, stem, student)
    if found is None or found.verdict.key != key:
        raise NbGraderException("the submission or the chapter changed while it was graded. Grade this student again.")
    return found


def _hints(course: Path, wanted: Assignment) -> dict[str, tuple[str, ...]]:
    """Return the hints of an assignment's exercises by exercise."""
    stems = (wanted.stem, *wanted.homes.values())
    return {name: hints for stem in stems for name, hints in course_in(course).hints(stem).items()}


def _fill(nb: NotebookNode, verdict: SubmissionVerdict, hints: Mapping[str, tuple[str, ...]]) -> None:
    for place, cell in enumerate(nb.cells):
        if cell.cell_type != "code":
            continue
        exercise = exercise_checked(cell)
        cell.execution_count = None
        if exercise is not None and exercise in verdict.points:
            from autograder.nbgrader_plugin.grade_cell_outputs import make_grade_cell_outputs  # imports torch

            cell.outputs = make_grade_cell_outputs(verdict, exercise, hints.get(exercise, ()))
        else:
            cell.outputs = cells_besides_exercises.outputs_in_verdict(place, cell, verdict)


def note_recorded(assignment: str, student: str, notebooks: list[str]) -> None:
    """Note that a submission is recorded; nbgrader calls this hook after each one, in the course folder.

    `student` may be a pattern (`nbgrader autograde --student 'a*'`), so the student is taken from the notebook's path.
    """
    verdict_store.mark_as_recorded_in_gradebook(Path.cwd(), assignment, Path(notebooks[0]).parents[1].name)


class RestoreHiddenTests(OverwriteCells):
    """Restores the hidden tests in grade cells, like nbgrader's OverwriteCells, but without a warning for each change.

    The repaired notebook takes these cells from the release, so the student did not change them.
    """

    def report_change(self, name: str, attr: str, old: Any, new: Any) -> None:
        """Log nothing."""


def copy_to_released_name(assignment: str, student: str, notebooks: list[str]) -> None:
    """Copy a notebook submitted under another name, such as `NAME (1).ipynb`, to the released name for nbgrader.

    nbgrader calls this hook in the course folder before each submission, and silently ignores its errors.
    `notebooks` is nbgrader's own list and changed in place.
    """
    if not notebooks or released_notebook_names(Path.cwd(), assignment):
        return
    starters = released_starters(Path.cwd(), assignment)
    placed = read_student_folder.choose_and_place_notebook(Path(notebooks[0]).parent, assignment, starters)
    if placed is not None:
        notebooks[:] = [str(placed.path)]
