"""Verdicts: the outcome of one check, and of one exercise; their JSON form."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

VERSION = 3
NOT_GRADED = "Your notebook was not graded"  # what a sentence on a file that could not be read begins with


class Status(Enum):
    """How a check ended. Our own fault is none of these: it is an exception."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    TIMEOUT = "timeout"
    SKIPPED = "skipped"
    NOT_ATTEMPTED = "not_attempted"


@dataclass(frozen=True)
class Picture:
    """Two small grids side by side: the numbers expected, the numbers got, and where they agree.

    Of larger tensors it is a window: `rows` and `columns` are the indices that it shows (a tensor with one dim has no
    rows), `first` the place in the grid of the first number that differs, and `told` says how many do.
    """

    expected: tuple[tuple[str, ...], ...]
    got: tuple[tuple[str, ...], ...]
    agrees: tuple[tuple[bool, ...], ...]
    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    first: tuple[int, int] = (-1, -1)
    told: str = ""

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Picture:
        """Read what JSON made of one: lists are tuples again."""
        return cls(**{name: _tuples(value) for name, value in data.items()})


@dataclass(frozen=True)
class Verdict:
    """The outcome of one check: the requirement, what to tell, and the case that shows it.

    `case` is that case's place among all of the exercise; None where no case shows it. One that is skipped names in
    `after` the requirement that it waits for.
    """

    requirement: str
    status: Status
    sentence: str = ""
    mistake: str | None = None
    call: str = ""
    expected: str = ""
    got: str = ""
    picture: Picture | None = None
    after: str = ""
    case: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON file."""
        return vars(self) | {"status": self.status.value, "picture": self.picture and vars(self.picture)}


@dataclass(frozen=True)
class Report:
    """The outcome of one exercise: a verdict per requirement, and notes on an answer that passes them all."""

    exercise: str
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(verdict.status is Status.PASS for verdict in self.verdicts)

    @property
    def score(self) -> float:
        """The share of checks that passed, 0 to 1."""
        return sum(verdict.status is Status.PASS for verdict in self.verdicts) / len(self.verdicts)

    @property
    def first(self) -> Verdict | None:
        """The first verdict that is no pass: the one to talk about."""
        return next((verdict for verdict in self.verdicts if verdict.status is not Status.PASS), None)

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The tags of the known mistakes that this report names."""
        return tuple(dict.fromkeys(verdict.mistake for verdict in self.verdicts if verdict.mistake))

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON file."""
        return {
            "version": VERSION,
            "exercise": self.exercise,
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Report:
        """Read what `to_json` wrote; raises ValueError for another version."""
        if data.get("version") != VERSION:
            raise ValueError(f"expected a report of version {VERSION}, found version {data.get('version')!r}")
        return cls(data["exercise"], tuple(map(_verdict, data["verdicts"])), tuple(data["notes"]))


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def _verdict(item: dict[str, Any]) -> Verdict:
    picture = item["picture"] and Picture.from_json(item["picture"])
    return Verdict(**(item | {"status": Status(item["status"]), "picture": picture or None}))
