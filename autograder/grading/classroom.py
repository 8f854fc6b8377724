"""The verdict files of a course folder, and the seed of a round of grading."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.files import write_all
from autograder.grading.assignment import Assignment
from autograder.grading.submission_verdict import SubmissionVerdict, new_seed

SEED_VARIABLE = "PYTORCH_BASICS_SEED"
_ROUND = ".round"  # no student's name begins with a dot


@dataclass(frozen=True)
class Kept:
    """What a verdict file holds: the verdict, whether nbgrader's gradebook has it, and the extra credit that is ours.

    `given` holds for each exercise what we may have written to the gradebook: any other value is the teacher's.
    """

    verdict: SubmissionVerdict
    recorded: bool = False
    given: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON file."""
        given = {exercise: list(values) for exercise, values in self.given.items()}
        return {"verdict": self.verdict.to_json(), "recorded": self.recorded, "given": given}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Kept:
        """Read what `to_json` wrote."""
        given = {exercise: tuple(values) for exercise, values in data["given"].items()}
        return cls(SubmissionVerdict.from_json(data["verdict"]), bool(data["recorded"]), given)


def verdict_path(course: Path, stem: str, student: str) -> Path:
    """Where a student's verdict is kept."""
    return course / "verdicts" / stem / f"{student}.json"


def kept(course: Path, stem: str, student: str) -> Kept | None:
    """The verdict file of an earlier run; None where there is none that can be read."""
    try:
        return Kept.from_json(json.loads(verdict_path(course, stem, student).read_text()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def stored(course: Path, stem: str, student: str) -> SubmissionVerdict | None:
    """The verdict of an earlier run; None where there is none that can be read."""
    found = kept(course, stem, student)
    return found.verdict if found else None


def store(course: Path, student: str, verdict: SubmissionVerdict) -> None:
    """Write a verdict that the gradebook does not have yet; raises WorkFailed, the old file untouched."""
    before = kept(course, verdict.assignment, student)
    keep(course, student, Kept(verdict, given=before.given if before else {}))


def keep(course: Path, student: str, what: Kept) -> None:
    """Write a verdict file in one step; raises WorkFailed, the old file untouched, where it cannot."""
    data = json.dumps(what.to_json(), separators=(",", ":")).encode()
    write_all({verdict_path(course, what.verdict.assignment, student): data})


def mark_recorded(course: Path, stem: str, student: str) -> None:
    """Note that the gradebook and `autograded/` hold what the verdict file says."""
    found = kept(course, stem, student)
    if found is not None:
        keep(course, student, replace(found, recorded=True))


# --- rounds


@dataclass(frozen=True)
class Asked:
    """How a round was asked for: to grade what has not changed as well; to say what would come of it, and no more."""

    force: bool = False
    preview: bool = False


def begin_round(course: Path, assignment: Assignment, asked: Asked) -> int:
    """The seed of a round of grading; one that was stopped half-way or looked at before goes on with its own."""
    named = _named_seed()
    if named is not None:
        return named
    path = _round_path(course, assignment.stem)
    seed = _seed_before(path, assignment, asked)
    if seed is None or asked.preview:
        seed = seed or new_seed()
        begun = {"digest": assignment.digest, "seed": seed, "preview": asked.preview}
        write_all({path: json.dumps(begun).encode()})
    return seed


def _seed_before(path: Path, assignment: Assignment, asked: Asked) -> int | None:
    """The seed of a round that has begun; where all is graded anew, only that of one that was looked at before."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        begun = json.loads(path.read_text())
        if begun["digest"] == assignment.digest and (begun["preview"] or not asked.force):
            return int(begun["seed"])
    return None


def end_round(course: Path, stem: str) -> None:
    """Let the next round draw a seed of its own."""
    _round_path(course, stem).unlink(missing_ok=True)


def seed_is_free(seed: int) -> bool:
    """Whether a verdict on the cases of this seed may be kept; False where another seed was asked for by name."""
    return _named_seed() in (None, seed)


def _named_seed() -> int | None:
    """The seed that was asked for by name."""
    named = os.environ.get(SEED_VARIABLE)
    return int(named) if named else None


def _round_path(course: Path, stem: str) -> Path:
    return course / "verdicts" / stem / f"{_ROUND}.json"
