"""Write the points of stretch exercises as extra credit into nbgrader's gradebook, keeping a teacher's own values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from nbgrader.api import Grade, Gradebook

from autograder.grading import verdict_store
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.grading.verdict_store import StoredVerdict
from autograder.ipython_syntax import CHECK


def record_extra_credit(gradebook: Gradebook, course: Path, student: str, found: StoredVerdict) -> None:
    """Write the extra credit that a student's stretch exercises earned.

    A value that earlier gradings did not write is the teacher's and stays. The values are noted in the verdict store
    before they are written, so that after a killed run the next one recognizes them.
    """
    verdict = found.verdict
    extra = [exercise for exercise, most in verdict.extra.items() if most]
    grades = {exercise: _grade(gradebook, verdict, exercise, student) for exercise in extra}
    ours = {
        exercise: grade
        for exercise, grade in grades.items()
        if grade.extra_credit in (None, *found.given.get(exercise, ()))
    }
    given = {
        exercise: _without_double(grade.extra_credit, verdict.earned_extra(exercise))
        for exercise, grade in ours.items()
    }
    others = {exercise: values for exercise, values in found.given.items() if exercise not in extra}
    _note(course, student, found, {**others, **given})
    for exercise, grade in ours.items():
        grade.extra_credit = verdict.earned_extra(exercise)
    gradebook.db.commit()


def _grade(gradebook: Gradebook, verdict: SubmissionVerdict, exercise: str, student: str) -> Grade:
    """Return the gradebook's grade of an exercise."""
    notebook = verdict.notebooks.get(exercise, verdict.assignment)
    return gradebook.find_grade(f"{CHECK}{exercise}", notebook, verdict.assignment, student)


def _without_double(before: float | None, now: float) -> tuple[float, ...]:
    return (now,) if before in (None, now) else (before, now)


def _note(course: Path, student: str, found: StoredVerdict, given: Mapping[str, tuple[float, ...]]) -> None:
    if given != found.given:
        verdict_store.write_verdict_file(course, student, replace(found, given=given))
