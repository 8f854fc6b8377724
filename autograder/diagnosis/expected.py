"""A key: what the reference and every known mistake show on the cases of one exercise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from autograder.exercises.difference import Tolerance, first_difference
from autograder.exercises.exercise import Case
from autograder.exercises.observation import Observation

_EXACT = Tolerance(0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Mistake:
    """A known wrong answer as it is seen from outside: observations per case, and the rules that it breaks.

    Code in which the pattern `unless` is found does not make it. A `slip` costs the first requirement that it fails,
    and no other.
    """

    tag: str
    sentence: str
    observations: tuple[Observation, ...]
    rules: tuple[str, ...] = ()
    unless: str = ""
    slip: bool = False


@dataclass(frozen=True, eq=False)
class Key:
    """The cases of one exercise with what the reference and each known mistake show on them."""

    exercise: str
    cases: tuple[Case, ...]
    reference: tuple[Observation, ...]
    mistakes: tuple[Mistake, ...]

    def only(self, keep: Callable[[Observation], Observation]) -> Key:
        """The same key with what `keep` leaves of each observation."""
        mistakes = (replace(mistake, observations=tuple(map(keep, mistake.observations))) for mistake in self.mistakes)
        return replace(self, reference=tuple(map(keep, self.reference)), mistakes=tuple(mistakes))

    def to_plain(self) -> dict[str, Any]:
        """Plain data, as an observation may be; what several answers show alike is written once."""
        table: list[Observation] = []
        return {
            "exercise": self.exercise,
            "cases": [case.to_plain() for case in self.cases],
            "reference": _places(table, self.reference),
            "mistakes": [
                [m.tag, m.sentence, _places(table, m.observations), list(m.rules), m.unless, m.slip]
                for m in self.mistakes
            ],
            "observations": table,
        }

    @classmethod
    def from_plain(cls, data: dict[str, Any]) -> Key:
        """Read what `to_plain` gave."""
        table = data["observations"]
        return cls(
            data["exercise"],
            tuple(map(Case.from_plain, data["cases"])),
            tuple(table[place] for place in data["reference"]),
            tuple(
                Mistake(tag, text, tuple(table[place] for place in places), tuple(rules), unless, slip)
                for tag, text, places, rules, unless, slip in data["mistakes"]
            ),
        )


def _places(table: list[Observation], observations: tuple[Observation, ...]) -> list[int]:
    """Where each observation stands in the table; one that is not there yet is added."""
    return [_place(table, observation) for observation in observations]


def _place(table: list[Observation], observation: Observation) -> int:
    for place, known in enumerate(table):
        if first_difference(known, observation, _EXACT) is None:
            return place
    table.append(observation)
    return len(table) - 1
