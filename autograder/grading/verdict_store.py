"""The verdict files of a course folder, and the seed of a round of grading."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.files import write_all
from autograder.grading.assignment import Assignment
from autograder.grading.submission_verdict import SubmissionVerdict, names_in, new_seed
from autograder.grading.verdict_paths import keys_path, verdict_path

SEED_VARIABLE = "PYTORCH_BASICS_SEED"
_ROUND = ".round"  # no student's name begins with a dot
_MOST = 512  # verdict files that are remembered
_known: dict[str, Kept] = {}  # by their texts


@dataclass(frozen=True)
class Kept:
    """What a verdict file holds: the verdict, whether nbgrader's gradebook has it, and the extra credit that is ours.

    `given` holds for each exercise what we may have written to the gradebook: any other value is the teacher's.
    `changed` names the cells whose points are not those that the gradebook had of the same file; None where it had
    none of that file.
    """

    verdict: SubmissionVerdict
    recorded: bool = False
    given: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    changed: tuple[str, ...] | None = None

    def followed_by(self, verdict: SubmissionVerdict) -> Kept:
        """What is kept once this verdict takes the place of the one that is here."""
        old = self.verdict
        is_same = (old.digest, old.trouble) == (verdict.digest, verdict.trouble)
        if not is_same or (self.changed is None and not self.recorded):
            return Kept(verdict, given=self.given)
        before, now = _points(old), _points(verdict)
        moved = {name for name in {**before, **now} if before.get(name) != now.get(name)}
        # What was scored by hand was scored for so many points.
        moved |= {name for name, most in verdict.by_hand.items() if old.by_hand.get(name, most) != most}
        untold = () if self.recorded else self.changed or ()
        return Kept(verdict, given=self.given, changed=tuple(sorted({*moved, *untold})))

    def of_notebook(self, notebook: str) -> Kept:
        """What is kept of one of several notebooks."""
        return replace(self, verdict=self.verdict.of_notebook(notebook), changed=names_in(notebook, self.changed))

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON file."""
        given = {exercise: list(values) for exercise, values in self.given.items()}
        plain = {"verdict": self.verdict.to_json(), "recorded": self.recorded, "given": given}
        return plain if self.changed is None else {**plain, "changed": list(self.changed)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Kept:
        """Read what `to_json` wrote."""
        given = {exercise: tuple(values) for exercise, values in data["given"].items()}
        changed = tuple(data["changed"]) if "changed" in data else None
        return cls(SubmissionVerdict.from_json(data["verdict"]), bool(data["recorded"]), given, changed)


def _points(verdict: SubmissionVerdict) -> dict[str, tuple[float, float]]:
    """What each cell with automatic points has earned, of how many, by nbgrader's names for the cells."""
    worth = {name: verdict.points[name] + verdict.extra[name] for name in verdict.points}
    earned = {name: verdict.earned(name) + verdict.earned_extra(name) for name in worth}
    return {**{verdict.check_of(name): (earned[name], worth[name]) for name in worth}, **verdict.tests}


def kept(course: Path, stem: str, student: str) -> Kept | None:
    """The verdict file of an earlier run; None where there is none that can be read."""
    try:
        return _read(verdict_path(course, stem, student).read_text())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _read(text: str) -> Kept:
    if text not in _known:
        _note(text, Kept.from_json(json.loads(text)))
    return _known[text]


def _note(text: str, what: Kept) -> None:
    """Remember what a text says: it is asked for a few times, one student after the other, and once more for all."""
    if len(_known) >= _MOST:
        _known.clear()
    _known[text] = what


def stored(course: Path, stem: str, student: str) -> SubmissionVerdict | None:
    """The verdict of an earlier run; None where there is none that can be read."""
    found = kept(course, stem, student)
    return found.verdict if found else None


def store(course: Path, student: str, verdict: SubmissionVerdict) -> None:
    """Write a verdict that the gradebook does not have yet; raises WorkFailed, the old file untouched."""
    before = kept(course, verdict.assignment, student)
    keep(course, student, before.followed_by(verdict) if before else Kept(verdict))


def keep(course: Path, student: str, what: Kept) -> None:
    """Write a verdict file in one step; raises WorkFailed, the old file untouched, where it cannot."""
    text = json.dumps(what.to_json(), separators=(",", ":"))
    write_all({verdict_path(course, what.verdict.assignment, student): text.encode()})
    _note(text, what)


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
    shutil.rmtree(keys_path(course, stem), ignore_errors=True)
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
