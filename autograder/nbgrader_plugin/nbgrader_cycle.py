"""Run nbgrader's cycle in this process: generate, release, submit, collect, autograde, feedback, export.

nbgrader's own classes do the work, with the course's nbgrader_config.py; this module calls them and reduces their
errors to one line.
"""

from __future__ import annotations

import contextlib
import logging
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from nbgrader.utils import capture_log, temp_attrs

from autograder.course.course_location import paths_readable_by_answers
from autograder.errors import WorkFailed
from autograder.grading import class_grading, verdict_store
from autograder.grading.assignment import Assignment, read_assignment
from autograder.grading.grading_executors import WorkerOptions, usable_cores
from autograder.grading.merge_regraded_verdicts import PointsChange, RegradeOptions, require_known_names
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.grading.verdict_store import GradingRoundOptions
from autograder.nbgrader_plugin import (
    apply_deadlines,
    cells_besides_exercises,
    gradebook_scores,
    parallel_map,
    preflight_checks,
    teacher_settings,
)
from autograder.nbgrader_plugin.apply_deadlines import LateSubmission
from autograder.nbgrader_plugin.course_lock import lock_course
from autograder.nbgrader_plugin.export_plugins import PlainGrades
from autograder.nbgrader_plugin.gradebook_recorder import ClassGradebook, Recorder, ReleasedAssignment, one_gradebook
from autograder.nbgrader_plugin.open_nbgrader import open_nbgrader_api
from autograder.sandbox.require_confinement import check_confinement

T = TypeVar("T")
ShowProgress = Callable[[Iterable[Any], int], Iterable[Any]]


def no_progress(items: Iterable[T], _total: int) -> Iterable[T]:
    """Return the items unchanged: a ShowProgress that shows nothing."""
    return items


@dataclass(frozen=True)
class GradingOptions:
    """The options of a grading: the processes that grade (`workers`), and what to do with earlier verdicts (`again`).

    `force` grades unchanged submissions again; `unconfined` runs students' code outside the sandbox, with all rights
    of the user.
    """

    workers: WorkerOptions = field(default_factory=WorkerOptions)
    force: bool = False
    unconfined: bool = False
    again: RegradeOptions = field(default_factory=RegradeOptions)


@dataclass(frozen=True)
class GradingPreview:
    """The changes that a grading would make, the reasons for failures, and the cells scored by hand, by student."""

    changes: tuple[PointsChange, ...]
    failures: Mapping[str, str]
    by_hand: Mapping[str, tuple[str, ...]]


class NbgraderCycle:
    """nbgrader's steps for one assignment of a course folder. Not thread-safe: nbgrader changes the working folder."""

    def __init__(self, course: Path, stem: str, exchange: Path | None = None) -> None:
        self.course, self.stem = course.resolve(), stem
        # Results of the last grading: late submissions, and by student the cells whose score by hand is older than it,
        # and how many cells nobody has scored.
        self.late: list[LateSubmission] = []
        self.scored_before: dict[str, tuple[str, ...]] = {}
        self.unscored: dict[str, int] = {}
        self.api = open_nbgrader_api(course, exchange)
        # After Ctrl-C during a query, SQLAlchemy would log the state of its connections.
        logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)
        self.preflight()

    def preflight(self) -> None:
        """Raise a CourseError if a grading run cannot succeed."""
        preflight_checks.check_that_grading_can_run(self.course, self.api.coursedir.db_url)
        teacher_settings.read_teacher_settings(self.course)
        apply_deadlines.check_late_penalty_plugin(self.api)

    def generate(self) -> None:
        """Write the assignment into the gradebook, and its release from the source; raises a CourseError."""
        preflight_checks.require_source_folder(self.course, self.stem)
        with _quiet(), lock_course(self.course, f"generate {self.stem}"):
            self._must("generate the assignment", self.api.generate_assignment(self.stem))

    def is_generated(self) -> bool:
        """Whether the gradebook knows the assignment, and its release is whole.

        nbgrader first removes an older release and writes the new one last, so a killed process may leave none.
        """
        source, release = (self.course / step / self.stem for step in ("source", "release"))
        with self.api.gradebook as gradebook:
            is_known = any(assignment.name == self.stem for assignment in gradebook.assignments)
        return is_known and all((release / path.name).is_file() for path in source.glob("*.ipynb"))

    def release(self) -> None:
        """Put the released assignment into the exchange."""
        self._must("release the assignment", self.api.release_assignment(self.stem))

    def submit(self, student: str, folder: Path) -> None:
        """Submit a student's folder through the exchange."""
        app = self.api.exchange.Submit(
            coursedir=self.api.coursedir, authenticator=self.api.authenticator, parent=self.api
        )
        app.assignment_dir = str(folder)
        with _quiet(), temp_attrs(self.api.coursedir, assignment_id=self.stem, student_id=student):
            self._must(f"submit for {student}", capture_log(app))

    def collect(self) -> None:
        """Collect the submissions from the exchange."""
        with _quiet():
            self._must("collect", self.api.collect(self.stem))

    def students(self) -> list[str]:
        """Return the students who submitted."""
        return self._with("submitted")

    def graded(self) -> list[str]:
        """Return the students with a graded notebook."""
        return self._with("autograded")

    def _with(self, step: str) -> list[str]:
        return sorted(path.parent.name for path in (self.course / step).glob(f"*/{self.stem}"))

    def autograde(
        self,
        students: Sequence[str],
        progress: ShowProgress = no_progress,
        how: GradingOptions = GradingOptions(),
    ) -> dict[str, str]:
        """Grade and record new and changed submissions; return the reason for each student who could not be graded.

        A run that was stopped at any moment can be started again; it does only what is missing.
        """
        failures: dict[str, str] = {}
        with self._ready(how, preflight_checks.check_assignment_is_gradable) as (gradebook, wanted):
            recorder = cache(lambda: Recorder(gradebook, ReleasedAssignment.of(wanted), self.api))
            scored = cells_besides_exercises.TeacherCellScorer(wanted, self.api)
            known = {submission.student_id for submission in gradebook.assignment_submissions(self.stem)}
            folders = self._folders(students)
            run = class_grading.grade_class(wanted, folders, how.workers, how.force, scored, how.again)
            with contextlib.closing(run) as done:
                for student, outcome in progress(done, len(students)):
                    reason = self._recorded(recorder, student, outcome, student in known)
                    if reason:
                        failures[student] = reason
            self.late = apply_deadlines.apply_deadlines(self.api, gradebook, self.course, self.stem)
            gradebook.write()
            self.scored_before = gradebook_scores.cells_with_outdated_manual_score(gradebook, self.stem)
            self.unscored = gradebook_scores.unscored_parts(gradebook, self.stem)
        return failures

    def preview(
        self,
        students: Sequence[str],
        progress: ShowProgress = no_progress,
        how: GradingOptions = GradingOptions(),
    ) -> GradingPreview:
        """Return what `autograde` would change, with the same cases; nothing is recorded, and no verdict is stored."""
        changes, failures = [], {}
        with self._ready(how, preflight_checks.check_assignment_is_generated) as (gradebook, wanted):
            scored = cells_besides_exercises.TeacherCellScorer(wanted, self.api)
            asked = GradingRoundOptions(how.force, preview=True)
            run = class_grading.grade_changed_submissions(
                wanted, self._folders(students), how.workers, asked, scored, how.again
            )
            with contextlib.closing(run) as done:
                for student, outcome in progress(done, len(students)):
                    before = verdict_store.read_verdict(self.course, self.stem, student)
                    now = outcome if isinstance(outcome, SubmissionVerdict) else before
                    if now is None or (isinstance(outcome, str) and outcome):
                        failures[student] = str(outcome)
                    else:
                        changes.append(PointsChange.between(student, before, now))
            by_hand = gradebook_scores.cells_scored_by_hand(gradebook, self.stem)
        return GradingPreview(tuple(changes), failures, by_hand)

    @contextlib.contextmanager
    def _ready(
        self, how: GradingOptions, check: Callable[[ClassGradebook, Assignment], None]
    ) -> Iterator[tuple[ClassGradebook, Assignment]]:
        """Lock the course and yield the open gradebook and the assignment, after `check` accepted them."""
        with lock_course(self.course, f"grade {self.stem}"):
            wanted = read_assignment(self.course, self.stem, unconfined=how.unconfined)
            if how.workers.scheduler is None:
                check_confinement(how.unconfined, paths_readable_by_answers(self.course))
            with _quiet(), one_gradebook(self.api.coursedir) as gradebook:
                check(gradebook, wanted)
                wanted = cells_besides_exercises.with_teacher_cells(wanted, gradebook, self.api)
                if how.again.only:
                    require_known_names(how.again.only, [*wanted.chapter().exercises, *wanted.points], self.stem)
                yield gradebook, wanted

    def _folders(self, students: Sequence[str]) -> dict[str, Path]:
        return {student: self._folder("submitted", student) for student in students}

    def _recorded(
        self, made: Callable[[], Recorder], student: str, outcome: SubmissionVerdict | str, known: bool
    ) -> str:
        """Record a verdict in the gradebook unless it is there already; return the reason for a failure, or ""."""
        verdict = outcome if isinstance(outcome, SubmissionVerdict) else None
        if verdict is None and (outcome or (known and self._is_recorded(student))):
            return str(outcome)
        recorder = made()  # created for the first student who needs it
        recorder.verdict = verdict
        with temp_attrs(self.api.coursedir, assignment_id=self.stem, student_id=student):
            reason = _reason(capture_log(recorder))
        recorder.gradebook.forget()
        return reason

    def _is_recorded(self, student: str) -> bool:
        found = verdict_store.read_verdict_file(self.course, self.stem, student)
        return bool(found and found.recorded and any(self._folder("autograded", student).glob("*.ipynb")))

    def feedback(
        self, students: Sequence[str], progress: ShowProgress = no_progress, count: int | None = None
    ) -> dict[str, str]:
        """Write feedback, replacing earlier pages; return the reason for each student where that failed.

        Up to `count` processes (None: one for each core) take part where that is faster.
        """
        elsewhere = partial(_page_elsewhere, self.course, self.stem)
        run = parallel_map.map_in_processes(students, self.page, elsewhere, usable_cores() if count is None else count)
        with lock_course(self.course, f"feedback {self.stem}"), _quiet(), contextlib.closing(run) as done:
            return {student: reason for student, reason in progress(done, len(students)) if reason}

    def page(self, student: str) -> str:
        """Write the feedback of one student; return the reason for a failure, or ""."""
        return _reason(self.api.generate_feedback(self.stem, student))

    def release_feedback(self, student: str) -> str:
        """Put a student's feedback into the exchange; return the reason for a failure, or ""."""
        return _reason(self.api.release_feedback(self.stem, student))

    def _folder(self, step: str, student: str) -> Path:
        return self.course / step / student / self.stem

    def export(self, path: Path) -> None:
        """Write the gradebook as CSV."""
        plugin = PlainGrades(parent=self.api, assignment=[self.stem])
        plugin.to = str(path)
        with self.api.gradebook as gradebook:
            plugin.export(gradebook)

    def _must(self, what: str, result: dict[str, Any]) -> None:
        reason = _reason(result)
        if reason:
            raise WorkFailed(f"nbgrader could not {what}: {reason} Nothing of what was there is lost.")


_cycle = cache(NbgraderCycle)


def _page_elsewhere(course: Path, stem: str, student: str) -> str:
    """Write the feedback of one student in a worker process."""
    with _quiet():
        return _cycle(course, stem).page(student)


def _reason(result: dict[str, Any]) -> str:
    """Return the most informative line of nbgrader's log; "" after a success."""
    if result["success"]:
        return ""
    if "KeyboardInterrupt" in result.get("error", ""):  # nbgrader swallows it
        raise KeyboardInterrupt
    errors = [line.strip() for line in result.get("error", "").splitlines() if line.strip()]
    logged = [line.strip() for line in result.get("log", "").splitlines() if line.strip()]
    raised = [line for line in logged if ": " in line and line.split(":")[0].replace(".", "").isidentifier()]
    reported = [line.removeprefix("[ERROR] ") for line in logged if line.startswith("[ERROR]")]
    return str((raised[-1:] or reported[:1] or errors[-1:] or ["nbgrader did not say why."])[0])


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence warnings, so that the terminal shows only the progress bar, and restore the environment afterwards."""
    before = dict(os.environ)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nbgrader's database layer warns about itself
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)
