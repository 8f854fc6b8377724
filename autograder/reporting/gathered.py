"""The answers of classes as forms, read again from what was handed in, and what of the course counts for nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.authoring.bank import bank_path
from autograder.authoring.chapter import read_chapter
from autograder.errors import CourseError
from autograder.gradebook import csv_cells
from autograder.reporting.equal import Answered, Form, Pair, form
from autograder.reporting.examples import Examples
from autograder.reporting.results import Results


def answered(course: Sequence[Results]) -> list[Answered]:
    """The answers to each exercise of these classes; an assignment that is no chapter, or cannot be read, has none."""
    return [each for results in course if results.verdicts for each in _chapter(results)]


def _chapter(results: Results) -> Iterator[Answered]:
    try:
        chapter = read_chapter(results.course / "chapters" / f"{results.stem}.py")
    except CourseError:  # an assignment of the teacher's own, or a chapter that is being changed
        return
    examples, reports = Examples(results), next(iter(results.verdicts.values())).reports
    sources = {student: examples.answers(student) for student in results.verdicts}
    for exercise in (report.exercise for report in reports if report.exercise in chapter.exercises):
        own = [chapter.starter(exercise), chapter.solution(exercise)]
        known = [*own, *right_answers(bank_path(results.course, results.stem, exercise))]
        common = frozenset(made.text for text in known if (made := form(text)))
        forms = _forms({student: answers.get(exercise, "") for student, answers in sources.items()})
        yield Answered(results.stem, exercise, len(results.verdicts), forms, common)


def _forms(sources: dict[str, str]) -> dict[str, Form]:
    return {student: made for student, source in sources.items() if (made := form(source))}


def right_answers(bank: Path) -> list[str]:
    """The right answers of an answer bank as text, nothing of which is run; none where there is no bank."""
    try:
        nodes = ast.parse(bank.read_text(encoding="utf-8")).body
    except (OSError, SyntaxError, ValueError):
        return []
    kinds = (ast.FunctionDef, ast.ClassDef)
    right = [node for node in nodes if isinstance(node, kinds) and any(map(_says_right, node.decorator_list))]
    for node in right:
        node.decorator_list = []
    return [ast.unparse(node) for node in right]


def _says_right(decorator: ast.expr) -> bool:
    return (
        isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute) and decorator.func.attr == "right"
    )


def equal_table(found: Sequence[Pair]) -> bytes:
    """The pairs as CSV, a line for each exercise that they share; empty where there is none."""
    rows: list[tuple[object, ...]] = [
        ("student", "other student", "weight of the pair", "chapter", "exercise", "students with this form", "nodes")
    ]
    for pair in found:
        for each in pair.alike:
            told = (each.stem, each.exercise, each.holders, each.size)
            rows.append((pair.first, pair.second, round(pair.weight, 2), *told))
    return csv_cells.encoded(rows) if found else b""
