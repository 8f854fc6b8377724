"""Count a class's known mistakes, and group the wrong answers that no known mistake explains."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.questions.bug_hunt_file import MENDED_REQUIREMENT
from autograder.questions.own_code_question_part import is_about_own_code
from autograder.reports.class_results import ClassResults
from autograder.reports.item_analysis import is_attempted


@dataclass(frozen=True)
class Misunderstanding:
    """A known mistake: its sentence, the students who made it, and the points that each of them lost by it."""

    exercise: str
    tag: str
    sentence: str
    students: tuple[str, ...]
    points: tuple[float, ...]


@dataclass(frozen=True)
class MistakesWithOneSentence:
    """A sentence, and all known mistakes about which students read it, each with the class of its chapter."""

    sentence: str
    found: tuple[tuple[ClassResults, Misunderstanding], ...]

    @property
    def lost(self) -> float:
        """The points that all students lost by these mistakes, in all exercises."""
        return round(math.fsum(lost for _, each in self.found for lost in each.points), 4)

    @property
    def reads(self) -> int:
        """How often students read the sentence; a student counts once in each exercise."""
        return sum(len(each.students) for _, each in self.found)


@dataclass(frozen=True)
class UnexplainedAnswers:
    """A group of wrong answers with equal verdicts that no known mistake explains.

    `first` is the verdict on the first requirement that they fail; `failed` names all requirements that they fail.
    """

    exercise: str
    first: Verdict
    failed: tuple[str, ...]
    students: tuple[str, ...]


def find_misunderstandings(results: ClassResults) -> list[Misunderstanding]:
    """Return the known mistakes of a class, the most common first; a student counts once for each.

    The points that a student lost in an exercise are divided evenly among the known mistakes in its report.
    """
    sentences: dict[tuple[str, str], str] = {}
    students: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for student, verdict in results.verdicts.items():
        for report in verdict.reports:
            for tag in report.mistakes:
                lost = verdict.points[report.exercise] - verdict.earned(report.exercise)
                students[report.exercise, tag][student] = lost / len(report.mistakes)
                sentences.setdefault((report.exercise, tag), _sentence(report, tag))
    found = [Misunderstanding(*key, sentences[key], tuple(who), tuple(who.values())) for key, who in students.items()]
    return sorted(found, key=lambda each: (-len(each.students), each.exercise, each.tag))


def group_by_sentence(course: Sequence[ClassResults]) -> list[MistakesWithOneSentence]:
    """Return the known mistakes of these classes grouped by sentence, those that cost the most points first."""
    groups: dict[str, list[tuple[ClassResults, Misunderstanding]]] = defaultdict(list)
    for results in course:
        for each in find_misunderstandings(results):
            groups[each.sentence].append((results, each))
    found = [MistakesWithOneSentence(sentence, tuple(pairs)) for sentence, pairs in groups.items()]
    return sorted(found, key=lambda each: (-each.lost, -each.reads, each.sentence))


def _sentence(report: Report, tag: str) -> str:
    return next(verdict.sentence for verdict in report.verdicts if verdict.mistake == tag)


def unexplained_answers(results: ClassResults) -> list[UnexplainedAnswers]:
    """Return the wrong answers without a known mistake, grouped by equal verdicts, the largest groups first.

    Verdicts compare equal only within one round of grading, since another round draws other cases.
    """
    groups: dict[tuple[object, ...], list[str]] = defaultdict(list)
    reports: dict[tuple[object, ...], Report] = {}
    for student, verdict in results.verdicts.items():
        for report in verdict.reports:
            if _is_unexplained(report):
                key = (report.exercise, *map(_shown, report.verdicts))
                groups[key].append(student)
                reports[key] = report
    found = [_group(reports[key], tuple(who)) for key, who in groups.items()]
    return sorted(found, key=lambda each: (-len(each.students), each.exercise, each.failed))


def _is_unexplained(report: Report) -> bool:
    """Whether an answer ran and was wrong, and matched no known mistake; hunts and questions have no answer bank."""
    has_no_bank = report.verdicts[0].requirement == MENDED_REQUIREMENT or is_about_own_code(report)
    if report.passed or report.mistakes or not is_attempted(report) or has_no_bank:
        return False
    return any(each.status is Status.FAIL or (each.status is Status.ERROR and each.call) for each in report.verdicts)


def _shown(verdict: Verdict) -> tuple[object, ...]:
    return verdict.requirement, verdict.status, verdict.call, verdict.expected, verdict.got


def _group(report: Report, students: tuple[str, ...]) -> UnexplainedAnswers:
    first = report.first
    assert first is not None
    failed = tuple(verdict.requirement for verdict in report.failed_checks)
    return UnexplainedAnswers(report.exercise, first, failed, students)
