"""Read students and marks from nbgrader's gradebook. nbgrader itself computes scores, extra credit and penalties."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nbgrader.api import Assignment, Grade, Gradebook, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import func

from autograder.grading.submission_verdict import qualified_name
from autograder.terminal_text import replace_unprintable

_NAMED = 20  # students in a sentence; of the rest, only the number


@dataclass(frozen=True)
class GradebookStudent:
    """A student of the gradebook; `lms_user_id` is the number in the school's learning management system."""

    id: str
    first_name: str
    last_name: str
    email: str
    lms_user_id: str

    @property
    def full_name(self) -> str:
        """`Last, First`, or the one of them that is known, or the id."""
        return ", ".join(part for part in (self.last_name, self.first_name) if part) or self.id


@dataclass(frozen=True)
class AssignmentScore:
    """A student's marks for an assignment, in points.

    `is_there` says whether the gradebook has a submission. `raw` includes manual scores and extra credit. `handed_in`
    is None without a submission, and also if nbgrader knows no time for it. `unscored` is the number of cells that wait
    for a first score by hand: until then, `raw` is not the whole.
    """

    is_there: bool = False
    handed_in: datetime | None = None
    raw: float = 0.0
    penalty: float = 0.0
    unscored: int = 0
    seconds_late: float = 0.0
    has_older_score: bool = False  # a score by hand from before the last grading counts

    @property
    def score(self) -> float:
        """The final score: `raw` less the penalty, at least zero."""
        return round(max(0.0, self.raw - self.penalty), 4)


@dataclass(frozen=True)
class MarkedAssignment:
    """An assignment of the gradebook with the mark of each student who submitted."""

    name: str
    due: datetime | None
    max_score: float
    marks: dict[str, AssignmentScore]

    def of(self, student: str) -> AssignmentScore:
        """Return the mark of one student; an empty one without a submission."""
        return self.marks.get(student, AssignmentScore())


def read_students(gradebook: Gradebook, only: Collection[str] = ()) -> list[GradebookStudent]:
    """Return the students of the gradebook, sorted by name; `only` selects students by id."""
    found = [
        GradebookStudent(student.id, *(getattr(student, field) or "" for field in _FIELDS))
        for student in gradebook.students
        if not only or student.id in only
    ]
    return sorted(found, key=lambda person: (person.last_name.casefold(), person.first_name.casefold(), person.id))


_FIELDS = ("first_name", "last_name", "email", "lms_user_id")


def read_marked_assignments(gradebook: Gradebook, only: Collection[str] = ()) -> Iterator[MarkedAssignment]:
    """Yield the assignments of the gradebook in its order; `only` selects them by name."""
    for assignment in gradebook.assignments:
        if not only or assignment.name in only:
            yield _marked(gradebook, assignment)


def _marked(gradebook: Gradebook, assignment: Assignment) -> MarkedAssignment:
    older, waiting = _with_older_score(gradebook, assignment), unscored_parts(gradebook, assignment.name)
    marks = {each.student_id: _mark(each, older, waiting) for each in gradebook.assignment_submissions(assignment.name)}
    return MarkedAssignment(assignment.name, assignment.duedate, assignment.max_score, marks)


def _with_older_score(gradebook: Gradebook, assignment: Assignment) -> set[str]:
    """Return the ids of students with a score by hand from before the last grading."""
    return _scored(gradebook, assignment.name, Grade.needs_manual_grade)


def _scored(gradebook: Gradebook, assignment: str, *which: Any) -> set[str]:
    """Return the ids of students with a score by hand that meets the conditions `which`, in one query."""
    return set(_counted(gradebook, assignment, Grade.manual_score.isnot(None), *which))


def _counted(gradebook: Gradebook, assignment: str, *which: Any) -> dict[str, int]:
    """Map students to how many of their cells meet the conditions `which`, in one query."""
    asked = gradebook.db.query(SubmittedAssignment.student_id, func.count()).select_from(SubmittedAssignment)
    asked = asked.join(SubmittedAssignment.notebooks).join(SubmittedNotebook.grades)
    asked = asked.join(SubmittedAssignment.assignment).filter(Assignment.name == assignment, *which)
    return dict(map(tuple, asked.group_by(SubmittedAssignment.student_id)))


def unscored_parts(gradebook: Gradebook, assignment: str) -> dict[str, int]:
    """Map students to how many of their cells wait for a first score by hand; students with none are left out."""
    return _counted(gradebook, assignment, Grade.needs_manual_grade, Grade.manual_score.is_(None))


def unscored_message(waiting: Mapping[str, int]) -> str:
    """Return a sentence that says how many cells wait for a first score by hand, and whose; "" if none does."""
    if not waiting:
        return ""
    parts, people = sum(waiting.values()), sorted(waiting)
    named = ", ".join(f"{student} ({waiting[student]})" for student in people[:_NAMED])
    rest = f" and {len(people) - _NAMED} more" if len(people) > _NAMED else ""
    count = f"{parts} part{'s' if parts > 1 else ''} of {len(people)} student{'s' if len(people) > 1 else ''}"
    return replace_unprintable(f"Not scored yet: {count}, in formgrader: {named}{rest}.", kept="")


def _mark(submission: SubmittedAssignment, older: Collection[str], waiting: Mapping[str, int]) -> AssignmentScore:
    penalty, late = submission.late_submission_penalty or 0.0, submission.total_seconds_late
    unscored, student = waiting.get(submission.student_id, 0), submission.student_id
    return AssignmentScore(True, submission.timestamp, submission.score, penalty, unscored, late, student in older)


def cells_with_outdated_manual_score(gradebook: Gradebook, assignment: str) -> dict[str, tuple[str, ...]]:
    """Map students to the cells whose score by hand is older than the last grading and not reviewed since."""
    return _by_hand(gradebook, assignment, waiting=True)


def cells_scored_by_hand(gradebook: Gradebook, assignment: str) -> dict[str, tuple[str, ...]]:
    """Map students to the cells that have a score by hand."""
    return _by_hand(gradebook, assignment, waiting=False)


def _by_hand(gradebook: Gradebook, assignment: str, waiting: bool) -> dict[str, tuple[str, ...]]:
    which = (Grade.needs_manual_grade,) if waiting else ()
    scored = _scored(gradebook, assignment, *which)
    found = gradebook.assignment_submissions(assignment) if scored else ()
    return {
        submission.student_id: tuple(
            grade.name if len(submission.notebooks) == 1 else qualified_name(notebook.name, grade.name)
            for notebook in submission.notebooks
            for grade in notebook.grades
            if grade.manual_score is not None and (grade.needs_manual_grade or not waiting)
        )
        for submission in found
        if submission.student_id in scored
    }
