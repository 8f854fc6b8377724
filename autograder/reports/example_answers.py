"""Read students' answers again from their submissions, and choose short anonymous examples."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from nbformat import NotebookNode

from autograder.errors import CourseError
from autograder.grading import class_grading
from autograder.grading.assignment import Assignment, read_assignment
from autograder.reports.class_results import ClassResults
from autograder.submission.anonymize_answer import names_in_release, remove_author_from_answer

_CANDIDATES = 5  # answers, of which the shortest is shown
_LINES, _WIDTH = 40, 160


class ExamplePicker:
    """The answers of a class to a chapter's exercises. They are read and never executed."""

    def __init__(self, results: ClassResults) -> None:
        self._results = results
        self._read: dict[str, dict[str, str]] = {}

    def of(self, exercise: str, students: Sequence[str]) -> str:
        """Return the shortest of up to five of these students' answers, anonymized; "" if none can be read."""
        found = (self._anonymous(student, exercise) for student in students[:_CANDIDATES])
        return _shortened(min(filter(None, found), key=len, default=""))

    def _anonymous(self, student: str, exercise: str) -> str:
        source = self.answers(student).get(exercise, "")
        return remove_author_from_answer(source, self._names(student), self._given) if source else ""

    def _names(self, student: str) -> list[str]:
        person = self._results.people.get(student)
        names = (person.first_name, person.last_name, person.email.partition("@")[0]) if person else ()
        return [student, *names]

    def answers(self, student: str) -> dict[str, str]:
        """Return the source of a student's answers by exercise; an empty dict if the submission cannot be read."""
        if student not in self._read:
            self._read[student] = self._opened(student)
        return self._read[student]

    def _opened(self, student: str) -> dict[str, str]:
        folder = self._results.course / "submitted" / student / self._results.stem
        try:
            if not folder.is_dir():
                return {}
            parcel = class_grading.read_student_files(self._assignment, folder)
            read = (part.read(parcel.parts.get(part.stem, parcel), release) for part, release in self._released)
            return {name: answer for each in read for name, answer in each.answers.items()}
        except CourseError:  # the report leaves this student's answers out
            return {}

    @cached_property
    def _assignment(self) -> Assignment:
        return read_assignment(self._results.course, self._results.stem, unconfined=False)

    @cached_property
    def _released(self) -> list[tuple[Assignment, NotebookNode]]:
        """The assignment's notebooks that contain exercises, each with the notebook as released."""
        return [(each, each.released()) for each in self._assignment.notebooks.values() if each.has_exercises]

    @cached_property
    def _given(self) -> frozenset[str]:
        """The names that the assignment's notebooks give to everybody."""
        return frozenset(name for _, release in self._released for name in names_in_release(release))


def draft_entry_command(course: Path, stem: str, student: str, exercise: str) -> str:
    """Return the shell command that drafts an entry of the answer bank from a student's answer."""
    return shlex.join(["autograder", "learn", str(course / "submitted" / student / stem), exercise])


def _shortened(text: str) -> str:
    lines = [line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…" for line in text.splitlines()]
    return "\n".join(lines if len(lines) <= _LINES else [*lines[: _LINES - 1], "…"])
