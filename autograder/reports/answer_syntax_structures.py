"""Read a class's answers again from the submissions, and reduce each to a syntax structure for comparison."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.course.course_location import bank_file
from autograder.errors import CourseError
from autograder.grading.assignment import read_assignment, released_notebook_names, released_or_committed_path
from autograder.grading.bug_hunts_as_exercises import BugHuntExercise
from autograder.grading.own_code_questions_as_exercises import OwnCodeQuestionsExercise
from autograder.reports.class_results import ClassResults
from autograder.reports.example_answers import ExamplePicker
from autograder.reports.similar_answers import AnswerStructure, ExerciseStructures, answer_structure

Defined = ast.FunctionDef | ast.ClassDef


def read_answer_structures(course: Sequence[ClassResults]) -> list[ExerciseStructures]:
    """Return the forms of the answers to each exercise, for every class in `course`.

    An assignment that is not a chapter, or whose files cannot be read, is left out.
    """
    return [each for results in course if results.verdicts for each in _chapter(results)]


def _chapter(results: ClassResults) -> Iterator[ExerciseStructures]:
    place = results.course, results.stem
    try:
        given = None if released_notebook_names(*place) else released_or_committed_path(*place)
        wanted = read_assignment(*place, unconfined=False, given=given)
        chapter = wanted.chapter()
    except CourseError:  # a chapter that is being changed
        return
    examples, reports = ExamplePicker(results), next(iter(results.verdicts.values())).reports
    sources = {student: examples.answers(student) for student in results.verdicts}
    # Two mends of one program are meant to be equal, and answers to questions are no code.
    others = {each.name for each in wanted.lent if isinstance(each, BugHuntExercise | OwnCodeQuestionsExercise)}
    compared = {*chapter.exercises} - others
    for exercise in (report.exercise for report in reports if report.exercise in compared):
        own = [chapter.starter(exercise), chapter.solution(exercise)]
        known = [
            *own,
            *right_answers_in_bank(bank_file(results.course, wanted.homes.get(exercise, results.stem), exercise)),
        ]
        common = frozenset(made.text for text in known if (made := answer_structure(text)))
        forms = _forms({student: answers.get(exercise, "") for student, answers in sources.items()})
        yield ExerciseStructures(results.stem, exercise, len(results.verdicts), forms, common)


def _forms(sources: dict[str, str]) -> dict[str, AnswerStructure]:
    return {student: made for student, source in sources.items() if (made := answer_structure(source))}


def right_answers_in_bank(bank: Path) -> list[str]:
    """Return the source of the right answers in an answer bank; an empty list if the bank is missing or invalid.

    The bank is parsed and not imported: its answers import torch, which takes longer than the rest of a report.
    """
    try:
        text = bank.read_text(encoding="utf-8")
        lines, body = text.splitlines(), ast.parse(text).body
    except (OSError, ValueError, SyntaxError):  # the report leaves the bank out
        return []
    return [
        _text(node, lines) for node in body if isinstance(node, Defined) and any(map(_is_right, node.decorator_list))
    ]


def _is_right(decorator: ast.expr) -> bool:
    """Whether a decorator marks a right answer: `@bank.right("tag")`."""
    return isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "bank.right"


def _text(node: Defined, lines: list[str]) -> str:
    return "\n".join(lines[node.lineno - 1 : node.end_lineno]) + "\n"
