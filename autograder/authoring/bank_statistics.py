"""What the banks hold, by exercise, and what their wrong answers are told: known, and as if nobody knew them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from autograder.authoring.message_check import unmet
from autograder.course.answer_bank import KnownAnswer
from autograder.course.answer_keys import VISIBLE_SEED
from autograder.course.judge import Judge
from autograder.diagnosis.judge_observations import judge
from autograder.diagnosis.verdict import Report


@dataclass(frozen=True)
class Tally:
    """One exercise in numbers; the last three are of its wrong answers, each taken out of the bank first."""

    exercise: str
    right: int
    wrong: int
    own: int  # told a sentence of their own
    facet: int  # told what the requirement says of a facet
    slips: int  # cost one requirement, whatever else they spoil
    another: int  # told another's sentence, which is said to be true of them
    requirement: int  # told what the requirement says
    difference: int  # told what was expected and what was found


HEADS = (
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
KNOWN = len(HEADS) - 3  # how many columns need no answer to be run


def tally(course: Path, stem: str, name: str) -> Tally:
    """A tally of an exercise."""
    here = Judge(course, stem, only=name)
    told = Counter(_told(here, name, answer) for answer in here.banks[name] if not answer.is_right)
    of_unknown = (told[kind] for kind in ("another", "requirement", "difference"))
    return Tally(*known(name, here.banks[name]), *of_unknown)  # type: ignore[arg-type]


def known(name: str, bank: Iterable[KnownAnswer]) -> tuple[object, ...]:
    """The columns that need no answer to be run."""
    wrong = [answer for answer in bank if not answer.is_right]
    facet = sum(bool(answer.facet) for answer in wrong)
    right = sum(answer.is_right for answer in bank)
    return name, right, len(wrong), len(wrong) - facet, facet, sum(answer.slip for answer in wrong)


def _told(here: Judge, name: str, answer: KnownAnswer) -> str:
    """What a wrong answer is told on the visible cases if the bank does not know it."""
    key, exercise = here.keys.full_key(name, VISIBLE_SEED), here.exercises[name]
    seen = next(mistake.observations for mistake in key.mistakes if mistake.tag == answer.tag)
    others = tuple(mistake for mistake in key.mistakes if mistake.tag != answer.tag)
    report: Report = judge(exercise, replace(key, mistakes=others), seen, answer.source)
    if report.mistakes:
        return "another"
    by_rule = [rule.sentence for rule in exercise.rules]
    told = [each.sentence for each in unmet(report)]
    spoken = [*by_rule, *(text for each in exercise.requirements.values() for text in each.tells.values())]
    return "requirement" if any(sentence in spoken for sentence in told) else "difference"


def renewed(document: str, names: Sequence[str], counted: Iterable[Tally]) -> str:
    """A document with these rows of its table, and the sums, as they are now; other rows stay.

    `names` are the exercises that there are, in their order. A document without the table is the table alone.
    """
    lines = document.splitlines()
    rows = {row[0]: row[1:] for row in map(_cells, lines) if row and row[0] in names}
    rows |= {name: tuple(map(str, numbers)) for name, *numbers in map(astuple, counted)}
    found = [(f"`{name}`", *rows[name]) for name in names if name in rows]
    sums = [sum(map(int, column)) for column in list(zip(*found, strict=True))[1:]]
    table = [HEADS, ("---",) * len(HEADS), *found, ("all", *sums)]
    places = [place for place, line in enumerate(lines) if _cells(line)] or [0, -1]
    lines[places[0] : places[-1] + 1] = [f"| {' | '.join(map(str, row))} |" for row in table]
    return "\n".join(lines) + "\n"


def _cells(line: str) -> tuple[str, ...]:
    """The cells of a row of the table; none of another line."""
    cells = tuple(cell.strip(" `") for cell in line.strip("|").split("|"))
    return cells if line.startswith("|") and len(cells) == len(HEADS) else ()
