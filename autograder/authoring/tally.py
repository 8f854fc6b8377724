"""What the banks hold, by exercise, and what their wrong answers are told: known, and as if nobody knew them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

from autograder.authoring.bank import KnownAnswer
from autograder.authoring.judge import VISIBLE_SEED, Judge
from autograder.authoring.own_words import unmet
from autograder.judging.judgement import judge
from autograder.judging.verdict import Report


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


def tallies(course: Path, stems: Iterable[str]) -> Iterator[Tally]:
    """A tally of each exercise of these chapters."""
    for stem in stems:
        chapter = Judge(course, stem)
        yield from (_tally(chapter, name) for name in chapter.names)


def known(name: str, bank: Iterable[KnownAnswer]) -> tuple[object, ...]:
    """The columns that need no answer to be run."""
    wrong = [answer for answer in bank if not answer.is_right]
    facet = sum(bool(answer.facet) for answer in wrong)
    right = sum(answer.is_right for answer in bank)
    return name, right, len(wrong), len(wrong) - facet, facet, sum(answer.slip for answer in wrong)


def _tally(chapter: Judge, name: str) -> Tally:
    told = Counter(_told(chapter, name, answer) for answer in chapter.banks[name] if not answer.is_right)
    of_unknown = (told[kind] for kind in ("another", "requirement", "difference"))
    return Tally(*known(name, chapter.banks[name]), *of_unknown)  # type: ignore[arg-type]


def _told(chapter: Judge, name: str, answer: KnownAnswer) -> str:
    """What a wrong answer is told on the visible cases if the bank does not know it."""
    key, exercise = chapter.key(name, VISIBLE_SEED), chapter.exercises[name]
    seen = next(mistake.observations for mistake in key.mistakes if mistake.tag == answer.tag)
    others = tuple(mistake for mistake in key.mistakes if mistake.tag != answer.tag)
    report: Report = judge(exercise, replace(key, mistakes=others), seen, answer.source)
    if report.mistakes:
        return "another"
    by_rule = [rule.sentence for rule in exercise.rules]
    told = [each.sentence for each in unmet(report)]
    spoken = [*by_rule, *(text for each in exercise.requirements.values() for text in each.tells.values())]
    return "requirement" if any(sentence in spoken for sentence in told) else "difference"


def table(rows: Iterable[Tally]) -> list[str]:
    """The tallies as lines of Markdown, with the sums below."""
    found = [astuple(row) for row in rows]
    sums = tuple(sum(column) for column in list(zip(*found, strict=True))[1:])
    assert len(HEADS) == len(fields(Tally))
    lines = [HEADS, ("---",) * len(HEADS), *((f"`{row[0]}`", *row[1:]) for row in found), ("all", *sums)]
    return [f"| {' | '.join(map(str, line))} |" for line in lines]
