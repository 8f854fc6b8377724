"""Count the entries of each answer bank, and which messages its wrong answers get if the bank does not know them.

The counts are the table in docs/answers.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from autograder.course.answer_bank import KnownAnswer
from autograder.course.chapter_judge import Judge
from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.diagnosis.judge_answer import judge
from autograder.diagnosis.verdict import Report


@dataclass(frozen=True)
class ExerciseCounts:
    """The counts of one exercise: a row of the table.

    The last three count what each wrong answer would be told if the bank did not hold it: it is judged without its
    own entry.
    """

    exercise: str
    right: int
    wrong: int
    own: int  # wrong answers with a sentence of their own
    facet: int  # wrong answers that get the requirement's message for a facet
    slips: int  # wrong answers that cost one requirement only
    another: int  # without their entry, they get the sentence of another wrong answer
    requirement: int  # without their entry, they get a message of a requirement or of a source rule
    difference: int  # without their entry, they get what was expected and what was found


TABLE_COLUMNS = (
    "exercise",
    "right",
    "wrong",
    "own sentence",
    "by the requirement",
    "slips",
    "unknown: another's sentence",
    "unknown: by the requirement",
    "unknown: what differs",
)
NUMBER_OF_STATIC_COLUMNS = (
    len(TABLE_COLUMNS) - 3
)  # the number of columns that `static_counts` returns, without running an answer


def count_bank_of_exercise(course: Path, stem: str, name: str) -> ExerciseCounts:
    """Count one exercise. This observes every answer of its bank, which takes seconds."""
    here = Judge(course, stem, only=name)
    kinds = Counter(_kind_if_unknown(here, name, answer) for answer in here.banks[name] if not answer.is_right)
    of_unknown = (kinds[kind] for kind in ("another", "requirement", "difference"))
    return ExerciseCounts(*static_counts(name, here.banks[name]), *of_unknown)  # type: ignore[arg-type]


def static_counts(name: str, bank: Iterable[KnownAnswer]) -> tuple[object, ...]:
    """Return the columns that can be counted without running an answer."""
    wrong = [answer for answer in bank if not answer.is_right]
    facet = sum(bool(answer.facet) for answer in wrong)
    right = sum(answer.is_right for answer in bank)
    return name, right, len(wrong), len(wrong) - facet, facet, sum(answer.slip for answer in wrong)


def _kind_if_unknown(here: Judge, name: str, answer: KnownAnswer) -> str:
    """Return which kind of message a wrong answer gets on the visible cases if the bank does not hold it.

    The kind is "another", "requirement" or "difference", as the fields of `ExerciseCounts`.
    """
    key, exercise = here.keys.full_key(name, VISIBLE_SEED), here.exercises[name]
    seen = next(mistake.observations for mistake in key.mistakes if mistake.tag == answer.tag)
    others = tuple(mistake for mistake in key.mistakes if mistake.tag != answer.tag)
    report: Report = judge(exercise, replace(key, mistakes=others), seen, answer.source)
    if report.mistakes:
        return "another"
    by_rule = [rule.sentence for rule in exercise.rules]
    by_requirement = [*by_rule, *(text for each in exercise.requirements.values() for text in each.tells.values())]
    return "requirement" if any(each.sentence in by_requirement for each in report.failed_verdicts) else "difference"


def update_table(document: str, names: Sequence[str], counted: Iterable[ExerciseCounts]) -> str:
    """Return the document with the rows of its table replaced by those in `counted`, and with new sums.

    Other rows stay, except those of exercises that are not in `names`, the course's exercises in order. For an empty
    document, return the table alone.
    """
    lines = document.splitlines()
    rows = {row[0]: row[1:] for row in map(_cells, lines) if row and row[0] in names}
    rows |= {name: tuple(map(str, numbers)) for name, *numbers in map(astuple, counted)}
    found = [(f"`{name}`", *rows[name]) for name in names if name in rows]
    sums = [sum(map(int, column)) for column in list(zip(*found, strict=True))[1:]]
    table = [TABLE_COLUMNS, ("---",) * len(TABLE_COLUMNS), *found, ("all", *sums)]
    places = [place for place, line in enumerate(lines) if _cells(line)] or [0, -1]
    lines[places[0] : places[-1] + 1] = [f"| {' | '.join(map(str, row))} |" for row in table]
    return "\n".join(lines) + "\n"


def _cells(line: str) -> tuple[str, ...]:
    """Return the cells of a row of the table; an empty tuple for any other line."""
    cells = tuple(cell.strip(" `") for cell in line.strip("|").split("|"))
    return cells if line.startswith("|") and len(cells) == len(TABLE_COLUMNS) else ()
