"""Apply the teacher's deadlines to nbgrader's gradebook: due dates, extensions and late penalties."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from nbformat.v4 import new_notebook
from nbgrader.api import Gradebook, SubmittedAssignment, SubmittedNotebook
from nbgrader.apps import NbGraderAPI
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import parse_utc

from autograder.errors import WorkFailed
from autograder.files import write_all
from autograder.nbgrader_plugin import teacher_settings
from autograder.nbgrader_plugin.teacher_settings import TeacherSettings
from autograder.submission.read_submitted_file_safely import read_submitted_file

TIMESTAMP_FILE = "timestamp.txt"  # nbgrader's file in a student's folder with the time of submission
_LONGEST_TIME = 100  # bytes
_WRITTEN = ".deadlines.json"  # beside the verdicts; no student's name begins with a dot


class LatePenalty(LateSubmissionPlugin):  # type: ignore[misc,unused-ignore]
    """An nbgrader plug-in that computes late penalties by the teacher's settings, or else by nbgrader's.

    `course/nbgrader_config.py` names it; a teacher can name another plug-in there.
    """

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """Return the points to subtract."""
        rule = teacher_settings.read_teacher_settings(_course_of(self)).late
        if rule is None:
            nbgraders: float | None = super().late_submission_penalty(student_id, score, total_seconds_late)
            return nbgraders
        return rule.penalty(total_seconds_late)


def check_late_penalty_plugin(api: NbGraderAPI) -> None:
    """Raise WorkFailed if the configured plug-in for late penalties cannot be loaded; called once for each run."""
    try:
        AssignLatePenalties(parent=api)
    except Exception as error:  # whatever a teacher's file raises
        text = " ".join(str(error).split())
        raise WorkFailed(
            f"the plug-in for late penalties cannot be loaded ({type(error).__name__}: {text}). Nothing was changed. "
            "Correct AssignLatePenalties.plugin_class, or the file that it names."
        ) from None


def _course_of(plugin: Any) -> Path:
    """Return the course folder from the first of the plug-in's parents that knows it."""
    while not hasattr(plugin, "coursedir"):
        plugin = plugin.parent
    return Path(plugin.coursedir.root)


@dataclass(frozen=True)
class LateSubmission:
    """A late submission: by how many seconds, and its penalty in points."""

    student: str
    seconds: float
    penalty: float

    def __str__(self) -> str:
        return f"{self.student} ({duration_text(self.seconds)}, {'-' if self.penalty else ''}{self.penalty:g} points)"


def duration_text(seconds: float) -> str:
    """Format a duration in days and hours, or in hours and minutes."""
    hours = int(seconds // 3600)
    return f"{hours // 24} d {hours % 24} h" if hours >= 24 else f"{hours} h {int(seconds // 60) % 60} min"


@dataclass(frozen=True)
class WrittenDates:
    """The dates that the settings file has put into the gradebook for a chapter.

    They are stored beside the verdicts, so that only these are removed when the file no longer has them; a date that
    the teacher set in formgrader stays.
    """

    due: datetime | None = None
    extended: Mapping[str, timedelta] = field(default_factory=dict)

    @classmethod
    def of(cls, found: TeacherSettings, stem: str) -> WrittenDates:
        """Return the dates of a chapter that the settings ask for."""
        extended = {student: found.extension(stem, student) for student in found.extended.get(stem, {})}
        due = teacher_settings.to_naive_utc(found.due[stem]) if stem in found.due else None
        return cls(due, {student: later for student, later in extended.items() if later is not None})

    @classmethod
    def read(cls, path: Path) -> WrittenDates:
        """Read stored dates; return empty ones if the file is missing or invalid."""
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            data = json.loads(path.read_text())
            extended = {student: timedelta(seconds=float(later)) for student, later in data["extended"].items()}
            return cls(data["due"] and datetime.fromisoformat(data["due"]), extended)
        return cls()

    def keep(self, path: Path) -> None:
        """Store the dates for the next grading, if they have changed."""
        if self == WrittenDates.read(path):
            return
        extended = {student: later.total_seconds() for student, later in self.extended.items()}
        write_all({path: json.dumps({"due": self.due and self.due.isoformat(), "extended": extended}).encode()})


def sync_due_dates(gradebook: Gradebook, course: Path, stem: str) -> TeacherSettings:
    """Write a chapter's due date and extensions into the gradebook, and remove those that the file no longer has."""
    found, path = teacher_settings.read_teacher_settings(course), course / "verdicts" / stem / _WRITTEN
    before, now = WrittenDates.read(path), WrittenDates.of(found, stem)
    now.keep(path)
    assignment = gradebook.find_assignment(stem)
    if now.due or (before.due and before.due == assignment.duedate):
        assignment.duedate = now.due
    for submission in gradebook.assignment_submissions(stem):
        if before.extended.get(submission.student_id) == submission.extension:
            submission.extension = None
        set_extension(submission, found, stem, submission.student_id)
    gradebook.db.commit()
    return found


def set_extension(submission: SubmittedAssignment, found: TeacherSettings, stem: str, student: str) -> None:
    """Set a student's extension; change nothing if the file has no extensions for the chapter."""
    if stem in found.extended:
        submission.extension = found.extension(stem, student)


def set_submission_time(submission: SubmittedAssignment, course: Path, stem: str) -> None:
    """Set the time of submission from the file in the student's folder, even if it was written after grading.

    nbgrader reads the file only when it grades. An empty file removes the time; an invalid one changes nothing.
    """
    path = course / "submitted" / submission.student_id / stem / TIMESTAMP_FILE
    with suppress(WorkFailed, ValueError, OverflowError, TypeError):
        text, nothing = read_submitted_file(path, most=_LONGEST_TIME)
        if not nothing and len(text) <= _LONGEST_TIME:
            submission.timestamp = parse_utc(text.decode().strip() or None)


def apply_deadlines(api: NbGraderAPI, gradebook: Gradebook, course: Path, stem: str) -> list[LateSubmission]:
    """Apply the teacher's deadlines to all recorded submissions of a chapter; return the late ones with penalties."""
    sync_due_dates(gradebook, course, stem)
    late = []
    submissions = gradebook.assignment_submissions(stem)
    for submission in submissions:
        set_submission_time(submission, course, stem)
    gradebook.db.flush()
    penalized = _penalized(gradebook)
    for submission in submissions:
        student, seconds = submission.student_id, submission.total_seconds_late
        if seconds or submission.id in penalized:
            for notebook in submission.notebooks:
                _penalize(api, notebook.name, stem, student)
        if seconds:
            penalty = sum(notebook.late_submission_penalty or 0 for notebook in submission.notebooks)
            late.append(LateSubmission(student, seconds, penalty))
    gradebook.db.commit()
    return late


def _penalized(gradebook: Gradebook) -> set[str]:
    """Return the ids of submissions with a late penalty, in one query."""
    fined = gradebook.db.query(SubmittedNotebook).filter(SubmittedNotebook.late_submission_penalty.is_not(None))
    return {notebook.assignment_id for notebook in fined}


def _penalize(api: NbGraderAPI, notebook: str, stem: str, student: str) -> None:
    about = {"notebook": notebook, "assignment": stem, "student": student, "db_url": api.coursedir.db_url}
    AssignLatePenalties(parent=api).preprocess(new_notebook(), {"nbgrader": about})
