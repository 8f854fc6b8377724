"""Read the results of a class in one assignment from the verdict files and nbgrader's gradebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.course.course import course_in
from autograder.course.course_location import chapter_path
from autograder.errors import CourseNotFound
from autograder.grading import class_text_table
from autograder.grading.class_text_table import StudentRow
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.nbgrader_plugin import gradebook_scores as marks
from autograder.nbgrader_plugin.gradebook_scores import AssignmentScore, GradebookStudent, MarkedAssignment
from autograder.nbgrader_plugin.open_nbgrader import open_gradebook


@dataclass(frozen=True)
class ClassResults:
    """The results of a class in one chapter or assignment.

    `rows` has an entry for everybody who submitted; `task`, the marks in the gradebook, is None if it has none;
    `people` maps the id of each student in the gradebook to their names and numbers.
    """

    course: Path
    stem: str
    title: str
    rows: tuple[StudentRow, ...]
    task: MarkedAssignment | None = None
    people: Mapping[str, GradebookStudent] = field(default_factory=dict)

    @cached_property
    def verdicts(self) -> dict[str, SubmissionVerdict]:
        """The verdicts on submissions that could be read, by student."""
        return {row.student: row.verdict for row in self.rows if row.verdict and not row.verdict.trouble}

    @cached_property
    def handed_in(self) -> list[str]:
        """The students who submitted; one whose folder holds no notebook does not count."""
        return [row.student for row in self.rows if not row.is_empty]

    @cached_property
    def unreadable(self) -> list[StudentRow]:
        """The rows of students whose submission could not be read."""
        return [row for row in self.rows if row.verdict and row.verdict.trouble]

    @cached_property
    def without_notebook(self) -> list[StudentRow]:
        """The rows of students whose folder holds no notebook."""
        return [row for row in self.rows if row.is_empty]

    @cached_property
    def max_score(self) -> float:
        """Full marks, without extra credit."""
        if self.task is not None:
            return self.task.max_score
        return max((verdict.max_score for verdict in self.verdicts.values()), default=0)

    @cached_property
    def scores(self) -> dict[str, float]:
        """Each student's points: from the gradebook, with manual scores and penalties, else from the verdict."""
        return {row.student: self._score(row) for row in self.rows if row.verdict}

    @cached_property
    def unscored(self) -> dict[str, int]:
        """How many parts of whose submissions wait for a first score by hand; `scores` are without them."""
        found = {row.student: self.mark(row.student).unscored for row in self.rows}
        return {student: parts for student, parts in found.items() if parts}

    def mark(self, student: str) -> AssignmentScore:
        """Return a student's mark from the gradebook; an empty mark if it has none."""
        return self.task.of(student) if self.task else AssignmentScore()

    def _score(self, row: StudentRow) -> float:
        mark = self.mark(row.student)
        assert row.verdict is not None
        return mark.score if mark.is_there else row.verdict.score + row.verdict.extra_credit


def assignments_with_results(course: Path) -> list[str]:
    """Return the assignments that have submissions or verdicts: first the chapters, then the others, each sorted."""
    found = {folder.name for folder in (course / "verdicts").glob("*") if any(folder.glob("[!.]*.json"))}
    found |= {folder.name for folder in (course / "submitted").glob("*/*") if folder.is_dir()}
    chapters = sorted(stem for stem in found if chapter_path(course, stem).is_file())
    return chapters + sorted(stem for stem in found.difference(chapters) if (course / "source" / stem).is_dir())


def read_results(course: Path, stem: str) -> ClassResults:
    """Return the results of a chapter; raise CourseNotFound if it has no submission."""
    return read_all(course, [stem])[0]


def read_all(course: Path, stems: list[str]) -> list[ClassResults]:
    """Return the results of several chapters, reading the gradebook once; raise as `read_results` does."""
    rows = {stem: tuple(class_text_table.class_rows(course, stem)) for stem in stems}
    for stem in stems:
        if not rows[stem]:
            raise CourseNotFound(
                f"expected submissions in {course / 'submitted'}/*/{stem}, found none, and no verdict. "
                f"Run `autograder grade {stem}` first."
            )
    with open_gradebook(course) as gradebook:
        people, tasks = _people_and_marks(gradebook, stems)
    return [
        ClassResults(course, stem, assignment_title(course, stem), rows[stem], tasks.get(stem), people)
        for stem in stems
    ]


def _people_and_marks(
    gradebook: Gradebook, stems: list[str]
) -> tuple[dict[str, GradebookStudent], dict[str, MarkedAssignment]]:
    people = {person.id: person for person in marks.read_students(gradebook)}
    return people, {task.name: task for task in marks.read_marked_assignments(gradebook, stems)}


def assignment_title(course: Path, stem: str) -> str:
    """Return the title of a chapter; `stem` itself if the course does not list it."""
    return next((chapter.title for chapter in course_in(course).listed if chapter.stem == stem), stem)
