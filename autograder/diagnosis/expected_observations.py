"""Expected observations: those of the reference and of every known mistake, on the cases of one exercise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from autograder.exercises.compare_observations import Tolerance, first_difference
from autograder.exercises.exercise import Case
from autograder.exercises.observation import Observation

_EXACT = Tolerance(0.0, 0.0)


@dataclass(frozen=True, eq=False)
class KnownMistake:
    """A known wrong answer, as the answer bank describes it: its observation on each case, and the rules it breaks.

    `sentence` is the message for students. It is not used for code in which the pattern `unless` is found. A mistake
    with `slip` costs the first requirement that it fails and no other.
    """

    tag: str
    sentence: str
    observations: tuple[Observation, ...]
    rules: tuple[str, ...] = ()
    unless: str = ""
    slip: bool = False


@dataclass(frozen=True, eq=False)
class ExpectedObservations:
    """The cases of one exercise, with the observations of the reference and of each known mistake on them."""

    exercise: str
    cases: tuple[Case, ...]
    reference: tuple[Observation, ...]
    mistakes: tuple[KnownMistake, ...]

    def only(self, keep: Callable[[Observation], Observation]) -> ExpectedObservations:
        """Return a copy of this key in which `keep` is applied to each observation."""
        mistakes = (replace(mistake, observations=tuple(map(keep, mistake.observations))) for mistake in self.mistakes)
        return replace(self, reference=tuple(map(keep, self.reference)), mistakes=tuple(mistakes))

    def to_plain(self) -> dict[str, Any]:
        """Return this key as plain data that can be encoded as JSON and tensors; equal observations are stored once."""
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
    def from_plain(cls, data: dict[str, Any]) -> ExpectedObservations:
        """Return the key that `to_plain` turned into `data`."""
        table = data["observations"]
        return cls(
            data["exercise"],
            tuple(map(Case.from_plain, data["cases"])),
            tuple(table[place] for place in data["reference"]),
            tuple(
                KnownMistake(tag, text, tuple(table[place] for place in places), tuple(rules), unless, slip)
                for tag, text, places, rules, unless, slip in data["mistakes"]
            ),
        )


def _places(table: list[Observation], observations: tuple[Observation, ...]) -> list[int]:
    """Return the index of each observation in the table; an observation that is not in it is appended."""
    return [_place(table, observation) for observation in observations]


def _place(table: list[Observation], observation: Observation) -> int:
    for place, known in enumerate(table):
        if first_difference(known, observation, _EXACT) is None:
            return place
    table.append(observation)
    return len(table) - 1
