"""The results of a class in one assignment, mostly a chapter: the verdict files, and what nbgrader's gradebook says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.course.course import course_in
from autograder.course.course_location import chapter_path
from autograder.errors import CourseNotFound
from autograder.grading import class_table
from autograder.grading.class_table import StudentRow
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.nbgrader_plugin import gradebook_scores as marks
from autograder.nbgrader_plugin.gradebook_scores import Mark, MarkedAssignment, Person
from autograder.nbgrader_plugin.nbgrader_api import open_gradebook


@dataclass(frozen=True)
class Results:
    """One chapter's class. `rows` holds everybody who handed something in; `task` is None without a gradebook."""

    course: Path
    stem: str
    title: str
    rows: tuple[StudentRow, ...]
    task: MarkedAssignment | None = None
    people: Mapping[str, Person] = field(default_factory=dict)

    @cached_property
    def verdicts(self) -> dict[str, SubmissionVerdict]:
        """The verdicts on submissions that could be read, by student."""
        return {row.student: row.verdict for row in self.rows if row.verdict and not row.verdict.trouble}

    @cached_property
    def handed_in(self) -> list[str]:
        """Who handed in a notebook: a folder with something else in it does not count."""
        return [row.student for row in self.rows if not row.is_empty]

    @cached_property
    def unreadable(self) -> list[StudentRow]:
        """Who handed in a file that could not be read."""
        return [row for row in self.rows if row.verdict and row.verdict.trouble]

    @cached_property
    def without_notebook(self) -> list[StudentRow]:
        """Whose folder holds no notebook."""
        return [row for row in self.rows if row.is_empty]

    @cached_property
    def max_score(self) -> float:
        """Full marks, without extra credit."""
        if self.task is not None:
            return self.task.max_score
        return max((verdict.max_score for verdict in self.verdicts.values()), default=0)

    @cached_property
    def scores(self) -> dict[str, float]:
        """What each student has: by the gradebook, with manual scores and penalties; else by the checks."""
        return {row.student: self._score(row) for row in self.rows if row.verdict}

    def mark(self, student: str) -> Mark:
        """What the gradebook says of a student; an empty mark where it says nothing."""
        return self.task.of(student) if self.task else Mark()

    def _score(self, row: StudentRow) -> float:
        mark = self.mark(row.student)
        assert row.verdict is not None
        return mark.score if mark.is_there else row.verdict.score + row.verdict.extra_credit


def graded(course: Path) -> list[str]:
    """The assignments of which something has been handed in or graded, in order: first the chapters."""
    found = {folder.name for folder in (course / "verdicts").glob("*") if any(folder.glob("[!.]*.json"))}
    found |= {folder.name for folder in (course / "submitted").glob("*/*") if folder.is_dir()}
    chapters = sorted(stem for stem in found if chapter_path(course, stem).is_file())
    return chapters + sorted(stem for stem in found.difference(chapters) if (course / "source" / stem).is_dir())


def read(course: Path, stem: str) -> Results:
    """The results of a chapter; raises CourseNotFound where nobody has handed anything in."""
    return read_all(course, [stem])[0]


def read_all(course: Path, stems: list[str]) -> list[Results]:
    """The results of several chapters, from one look into the gradebook."""
    rows = {stem: tuple(class_table.rows(course, stem)) for stem in stems}
    for stem in stems:
        if not rows[stem]:
            raise CourseNotFound(
                f"expected submissions in {course / 'submitted'}/*/{stem}, found none, and no verdict. "
                f"Run `python -m autograder grade {stem}` first."
            )
    with open_gradebook(course) as gradebook:
        people, tasks = _told(gradebook, stems)
    return [Results(course, stem, title(course, stem), rows[stem], tasks.get(stem), people) for stem in stems]


def _told(gradebook: Gradebook, stems: list[str]) -> tuple[dict[str, Person], dict[str, MarkedAssignment]]:
    people = {person.id: person for person in marks.people(gradebook)}
    return people, {task.name: task for task in marks.marked_assignments(gradebook, stems)}


def title(course: Path, stem: str) -> str:
    """The heading of a chapter; its file's name where the course does not list it."""
    return next((chapter.title for chapter in course_in(course).listed if chapter.stem == stem), stem)
