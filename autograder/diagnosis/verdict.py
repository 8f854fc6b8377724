"""Verdicts and reports: the outcome of one requirement, and of one exercise, with their JSON form."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

VERSION = 3
NOT_GRADED = "Your notebook was not graded"  # the beginning of a sentence about a file that could not be read


class Status(Enum):
    """How a check ended. A fault of the grader is none of these: it raises an exception."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"
    TIMEOUT = "timeout"
    SKIPPED = "skipped"
    NOT_ATTEMPTED = "not_attempted"


@dataclass(frozen=True)
class GridPair:
    """Two small grids side by side: the numbers expected, the numbers got, and where they agree.

    For a larger tensor it is a window: `rows` and `columns` are the indices that it shows (a tensor with one dim has no
    rows), `first` is the position within the grid of the first number that differs, and `told` is the caption, which
    says how many numbers differ.
    """

    expected: tuple[tuple[str, ...], ...]
    got: tuple[tuple[str, ...], ...]
    agrees: tuple[tuple[bool, ...], ...]
    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    first: tuple[int, int] = (-1, -1)
    told: str = ""

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> GridPair:
        """Return a picture from its JSON form: lists become tuples."""
        return cls(**{name: _tuples(value) for name, value in data.items()})


@dataclass(frozen=True)
class Verdict:
    """The outcome of one check: the requirement, the message for the student, and the case that shows it.

    `mistake` is the tag of the known mistake that the sentence explains. `case` is the index of the case among all
    cases of the exercise, or None. `after` names the requirement that a skipped check waits for.
    """

    requirement: str
    status: Status
    sentence: str = ""
    mistake: str | None = None
    call: str = ""
    expected: str = ""
    got: str = ""
    picture: GridPair | None = None
    after: str = ""
    case: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return this verdict as data for a JSON file."""
        return vars(self) | {"status": self.status.value, "picture": self.picture and vars(self.picture)}


@dataclass(frozen=True)
class Report:
    """The outcome of one exercise: a verdict per requirement, and notes on an answer that passes them all."""

    exercise: str
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed_checks(self) -> tuple[Verdict, ...]:
        """Return the verdicts of the checks that passed."""
        return tuple(verdict for verdict in self.verdicts if verdict.status is Status.PASS)

    @property
    def failed_checks(self) -> tuple[Verdict, ...]:
        """Return the verdicts of the checks that did not pass, for whatever reason: skipped ones too."""
        return tuple(verdict for verdict in self.verdicts if verdict.status is not Status.PASS)

    @property
    def failed_verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdicts that failed; a skipped one, which depends on another requirement, is not among them."""
        return tuple(verdict for verdict in self.failed_checks if verdict.status is not Status.SKIPPED)

    @property
    def passed(self) -> bool:
        """Return whether every check passed."""
        return not self.failed_checks

    @property
    def score(self) -> float:
        """Return the share of checks that passed, from 0 to 1."""
        return len(self.passed_checks) / len(self.verdicts)

    @property
    def first(self) -> Verdict | None:
        """Return the first verdict that is not a pass, or None."""
        return next(iter(self.failed_checks), None)

    @property
    def mistakes(self) -> tuple[str, ...]:
        """Return the tags of the known mistakes in this report, without repetition."""
        return tuple(dict.fromkeys(verdict.mistake for verdict in self.verdicts if verdict.mistake))

    def to_json(self) -> dict[str, Any]:
        """Return this report as data for a JSON file."""
        return {
            "version": VERSION,
            "exercise": self.exercise,
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Report:
        """Return the report that `to_json` wrote; raise ValueError for another version."""
        if data.get("version") != VERSION:
            raise ValueError(f"expected a report of version {VERSION}, found version {data.get('version')!r}")
        return cls(data["exercise"], tuple(map(_verdict, data["verdicts"])), tuple(data["notes"]))


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def _verdict(item: dict[str, Any]) -> Verdict:
    picture = item["picture"] and GridPair.from_json(item["picture"])
    return Verdict(**(item | {"status": Status(item["status"]), "picture": picture or None}))
