"""The answers of classes as forms, read again from what was handed in, and what of the course counts for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.authoring.bank import bank_path, load_bank
from autograder.errors import CourseError
from autograder.grading.assignment import assignment, given_path
from autograder.reporting.equal import Answered, Form, form
from autograder.reporting.examples import Examples
from autograder.reporting.results import Results


def answered(course: Sequence[Results]) -> list[Answered]:
    """The answers to each exercise of these classes; an assignment that is no chapter, or cannot be read, has none."""
    return [each for results in course if results.verdicts for each in _chapter(results)]


def _chapter(results: Results) -> Iterator[Answered]:
    place = results.course, results.stem
    try:
        wanted = assignment(*place, unconfined=False, given=given_path(*place))
        chapter = wanted.chapter()
    except CourseError:  # a chapter that is being changed
        return
    examples, reports = Examples(results), next(iter(results.verdicts.values())).reports
    sources = {student: examples.answers(student) for student in results.verdicts}
    for exercise in (report.exercise for report in reports if report.exercise in chapter.exercises):
        own = [chapter.starter(exercise), chapter.solution(exercise)]
        known = [*own, *right_answers(bank_path(results.course, wanted.homes.get(exercise, results.stem), exercise))]
        common = frozenset(made.text for text in known if (made := form(text)))
        forms = _forms({student: answers.get(exercise, "") for student, answers in sources.items()})
        yield Answered(results.stem, exercise, len(results.verdicts), forms, common)


def _forms(sources: dict[str, str]) -> dict[str, Form]:
    return {student: made for student, source in sources.items() if (made := form(source))}


def right_answers(bank: Path) -> list[str]:
    """The right answers of an answer bank as text; none where there is no bank that can be read."""
    try:
        return [answer.source for answer in load_bank(bank) if answer.is_right]
    except CourseError:  # a report does without it
        return []
