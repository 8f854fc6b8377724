"""Choose which questions are asked again: about what was wrong, then what is new, then what was asked longest ago."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from autograder.questions.question_generator_registry import QuestionGenerator

# Days until a fact is due again: after a wrong answer, and after one, two, and more right ones in a row.
INTERVALS = (1, 3, 7, 21)
# How urgent a fact is. One that was wrong comes first; if it was asked on many days already, it rests in between.
# New facts, and those that were asked on one day only, come before the others, so that each is asked on two days.
_WRONG, _NEW, _ONCE, _WRONG_AGAIN, _MORE = 5.0, 3.0, 3.0, 1.0, 0.2
_MANY, _REST = 3, 3  # days
_ONCE_MORE = 1.0  # for the generator whose question was wrong: its mistake is that of no other
_ASKED = 0.5  # less for each earlier question of a generator, so that each has its turn


@dataclass(frozen=True)
class ReviewAnswer:
    """One answered question: the day, the name of its generator, the facts that it asked about, and the outcome.

    `digest` identifies the question with its numbers.
    """

    day: date
    question: str
    facts: tuple[str, ...]
    right: bool
    digest: str = ""


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
    """Return the generators of the next questions; fewer than `count` if there are no more.

    Each choice has the highest sum of its facts' urgency, in which facts that earlier choices ask about count 0; less
    for one that was asked often, more for one whose last answer was wrong. Of equal ones it was asked longest ago.
    """
    memory = memory_of_facts(answers)
    urgency = {fact: _urgency(memory.get(fact), today) for each in there for fact in each.facts}
    last = {answer.question: place for place, answer in enumerate(answers)}
    turn = {name: -_ASKED * times for name, times in Counter(answer.question for answer in answers).items()}
    turn |= {name: _ONCE_MORE for name, place in last.items() if not answers[place].right}
    chosen: list[QuestionGenerator] = []
    rest = list(there)

    def rank(each: QuestionGenerator) -> tuple[bool, float, int]:
        found = sum(map(urgency.__getitem__, each.facts))  # 0: asked today
        return found > 0, found + turn.get(each.name, 0.0), -last.get(each.name, -1)

    while rest and len(chosen) < count:
        best = max(rest, key=rank)
        rest.remove(best)
        chosen.append(best)
        urgency |= dict.fromkeys(best.facts, 0.0)
    return chosen


def _urgency(known: FactMemory | None, today: date) -> float:
    """Return how urgent it is to ask about a fact: 0 on a day on which it was asked."""
    if known is None:
        return _NEW
    if known.last >= today:
        return 0.0
    if not known.is_remembered:
        has_rested = (today - known.last).days >= _REST
        return _WRONG if known.days < _MANY or has_rested else _WRONG_AGAIN
    elapsed = (today - known.last) / (known.due - known.last)
    if known.days == 1:
        return min(max(elapsed, 0.5), 1.0) * _ONCE
    return min(elapsed * _MORE, _WRONG_AGAIN)
