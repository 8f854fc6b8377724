"""A key: what the reference and every known mistake show on the cases of one exercise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autograder.exercise import Case
from autograder.observation import Observation


@dataclass(frozen=True, eq=False)
class Mistake:
    """A known wrong answer as it is seen from outside: observations per case, and the rules that it breaks."""

    tag: str
    sentence: str
    observations: tuple[Observation, ...]
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Key:
    """The cases of one exercise with what the reference and each known mistake show on them."""

    exercise: str
    cases: tuple[Case, ...]
    reference: tuple[Observation, ...]
    mistakes: tuple[Mistake, ...]

    def to_plain(self) -> dict[str, Any]:
        """Plain data, as an observation may be."""
        return {
            "exercise": self.exercise,
            "cases": [[case.requirement, case.args, case.kwargs] for case in self.cases],
            "reference": list(self.reference),
            "mistakes": [[m.tag, m.sentence, list(m.observations), list(m.rules)] for m in self.mistakes],
        }

    @classmethod
    def from_plain(cls, data: dict[str, Any]) -> Key:
        """Read what `to_plain` gave."""
        return cls(
            data["exercise"],
            tuple(Case(requirement, *args, **kwargs) for requirement, args, kwargs in data["cases"]),
            tuple(data["reference"]),
            tuple(Mistake(tag, text, tuple(seen), tuple(rules)) for tag, text, seen, rules in data["mistakes"]),
        )
