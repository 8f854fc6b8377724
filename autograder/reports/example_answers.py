"""Example answers, read again from what was handed in."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from nbformat import NotebookNode

from autograder.errors import CourseError
from autograder.grading import class_grading
from autograder.grading.assignment import Assignment, assignment
from autograder.reports.class_results import Results
from autograder.submission.anonymize import without_author

_LOOKED_AT = 5  # answers, of which the shortest is shown
_LINES, _WIDTH = 40, 160


class Examples:
    """The answers of a class to a chapter's exercises. Nothing of them is run."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._read: dict[str, dict[str, str]] = {}

    def of(self, exercise: str, students: Sequence[str]) -> str:
        """The shortest of a few of these students' answers, without its author; "" where none can be read."""
        found = (self._anonymous(student, exercise) for student in students[:_LOOKED_AT])
        return _shortened(min(filter(None, found), key=len, default=""))

    def _anonymous(self, student: str, exercise: str) -> str:
        source = self.answers(student).get(exercise, "")
        return without_author(source, self._names(student)) if source else ""

    def _names(self, student: str) -> list[str]:
        person = self._results.people.get(student)
        told = (person.first_name, person.last_name, person.email.partition("@")[0]) if person else ()
        return [student, *told]

    def answers(self, student: str) -> dict[str, str]:
        """A student's answers by exercise, as they were written; none where they cannot be read."""
        if student not in self._read:
            self._read[student] = self._opened(student)
        return self._read[student]

    def _opened(self, student: str) -> dict[str, str]:
        folder = self._results.course / "submitted" / student / self._results.stem
        try:
            if not folder.is_dir():
                return {}
            parcel = class_grading.opened(self._assignment, folder)
            read = (part.read(parcel.parts.get(part.stem, parcel), release) for part, release in self._released)
            return {name: answer for each in read for name, answer in each.answers.items()}
        except CourseError:  # a report does without one answer
            return {}

    @cached_property
    def _assignment(self) -> Assignment:
        return assignment(self._results.course, self._results.stem, unconfined=False)

    @cached_property
    def _released(self) -> list[tuple[Assignment, NotebookNode]]:
        """Its notebooks that ask for exercises, as assignments and as they were given out."""
        return [(each, each.released()) for each in self._assignment.notebooks.values() if each.has_exercises]


def learn_command(course: Path, stem: str, student: str, exercise: str) -> str:
    """The command that drafts an entry of the answer bank from a student's answer."""
    return shlex.join(["python", "-m", "autograder", "learn", str(course / "submitted" / student / stem), exercise])


def _shortened(text: str) -> str:
    lines = [line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…" for line in text.splitlines()]
    return "\n".join(lines if len(lines) <= _LINES else [*lines[: _LINES - 1], "…"])
