"""Choose which questions are asked again: about what was wrong, then what is new, then what was asked longest ago."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from autograder.questions.question_generators import QuestionGenerator

# Days until a fact is due again: after a wrong answer, and after one, two, and more right ones in a row.
INTERVALS = (1, 3, 7, 21)
_WRONG, _NEW, _DUE, _EARLY, _TODAY = range(5)  # how urgent a fact is, the most urgent first
Rank = tuple[int, int, int]


@dataclass(frozen=True)
class ReviewAnswer:
    """One answered question: the day, the name of its generator, the facts that it asked about, and the outcome."""

    day: date
    question: str
    facts: tuple[str, ...]
    right: bool


@dataclass(frozen=True)
class FactMemory:
    """What the answers so far say of one fact: when it was asked last, on how many days, and how well it is known.

    `in_a_row` counts right answers since the last wrong one, one a day; after a wrong answer a right one counts only on
    a later day, since by then the reader has read why.
    """

    last: date
    days: int
    in_a_row: int

    @property
    def is_remembered(self) -> bool:
        """Return whether the fact was known when it was last asked."""
        return self.in_a_row > 0

    @property
    def due(self) -> date:
        """Return the day from which the fact should be asked again."""
        return self.last + timedelta(INTERVALS[min(self.in_a_row, len(INTERVALS) - 1)])


def memory_of_facts(answers: Iterable[ReviewAnswer]) -> dict[str, FactMemory]:
    """Return what is known of each fact that was asked; `answers` are in the order in which they were given."""
    found: dict[str, FactMemory] = {}
    for answer in answers:
        for fact in answer.facts:
            found[fact] = _after(found.get(fact), answer)
    return found


def _after(before: FactMemory | None, answer: ReviewAnswer) -> FactMemory:
    if before is None:
        return FactMemory(answer.day, 1, int(answer.right))
    is_new_day = answer.day > before.last
    in_a_row = before.in_a_row + is_new_day if answer.right else 0
    return FactMemory(max(answer.day, before.last), before.days + is_new_day, in_a_row)


def choose_generators(
    there: Sequence[QuestionGenerator], answers: Sequence[ReviewAnswer], today: date, count: int
) -> list[QuestionGenerator]:
    """Return the generators of the next questions, the most urgent first; fewer than `count` if there are no more.

    The most urgent fact chooses: of the generators that ask about it, the one that asks about most other facts that
    are due, and of these the one that was asked longest ago.
    """
    ranks = _ranks(there, memory_of_facts(answers), today)
    last_asked = {answer.question: place for place, answer in enumerate(answers)}
    chosen: list[QuestionGenerator] = []
    rest = list(there)
    while rest and len(chosen) < count:
        urgency = {each.name: _urgency(each, ranks, last_asked.get(each.name, -1)) for each in rest}
        best = min(rest, key=lambda each: urgency[each.name])
        rest.remove(best)
        chosen.append(best)
        ranks = {fact: rank for fact, rank in ranks.items() if fact not in best.facts}
    return chosen


def _ranks(there: Sequence[QuestionGenerator], memory: Mapping[str, FactMemory], today: date) -> dict[str, Rank]:
    """Return the urgency of each fact that has a generator."""
    facts = dict.fromkeys(fact for each in there for fact in each.facts)
    return {fact: _rank(memory.get(fact), place, today) for place, fact in enumerate(facts)}


def _rank(known: FactMemory | None, place: int, today: date) -> Rank:
    """Return the urgency of one fact; new ones come in the order of the course."""
    if known is None:
        return _NEW, place, 0
    if known.last >= today:
        return _TODAY, place, 0
    due = known.due.toordinal()
    if known.due > today:
        return _EARLY, known.days, due
    return (_DUE if known.is_remembered else _WRONG), due, place


def _urgency(each: QuestionGenerator, ranks: Mapping[str, Rank], last_asked: int) -> tuple[Rank, int, int]:
    """Return a value to sort generators by; facts that are missing in `ranks` have been chosen already."""
    found = sorted(ranks[fact] for fact in each.facts if fact in ranks)
    return found[0] if found else (_TODAY, 0, 0), -sum(rank[0] <= _DUE for rank in found), last_asked
