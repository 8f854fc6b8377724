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
from autograder.grading.submission_verdict import SubmissionVerdict, new_seed, unqualified_names
from autograder.grading.verdict_paths import answer_keys_folder, verdict_path

SEED_VARIABLE = "PYTORCH_BASICS_SEED"
_ROUND = ".round"  # the name of no student begins with a dot
_MOST = 512  # verdict files in the cache
_known: dict[str, StoredVerdict] = {}  # the cache: the content of verdict files, by their texts


@dataclass(frozen=True)
class StoredVerdict:
    """The content of a verdict file: the verdict, and what was written of it to nbgrader's gradebook.

    `recorded` says whether the gradebook has this verdict. `given` maps each exercise to the values of extra credit
    that the grader may have written to the gradebook: any other value there is the teacher's. `changed` names the
    cells whose points differ from those that the gradebook has for the same file; None if it has none for that file.
    """

    verdict: SubmissionVerdict
    recorded: bool = False
    given: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    changed: tuple[str, ...] | None = None

    def replace_verdict(self, verdict: SubmissionVerdict) -> StoredVerdict:
        """Return the content of the file after this verdict replaces the stored one."""
        old = self.verdict
        is_same = (old.digest, old.trouble) == (verdict.digest, verdict.trouble)
        if not is_same or (self.changed is None and not self.recorded):
            return StoredVerdict(verdict, given=self.given)
        before, now = _points(old), _points(verdict)
        moved = {name for name in {**before, **now} if before.get(name) != now.get(name)}
        # A manual score was given out of the earlier maximum.
        moved |= {name for name, most in verdict.by_hand.items() if old.by_hand.get(name, most) != most}
        unrecorded = () if self.recorded else self.changed or ()
        return StoredVerdict(verdict, given=self.given, changed=tuple(sorted({*moved, *unrecorded})))

    def of_notebook(self, notebook: str) -> StoredVerdict:
        """Return the content for one of several notebooks."""
        return replace(
            self, verdict=self.verdict.of_notebook(notebook), changed=unqualified_names(notebook, self.changed)
        )

    def to_json(self) -> dict[str, Any]:
        """Return this content as data for a JSON file."""
        given = {exercise: list(values) for exercise, values in self.given.items()}
        plain = {"verdict": self.verdict.to_json(), "recorded": self.recorded, "given": given}
        return plain if self.changed is None else {**plain, "changed": list(self.changed)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> StoredVerdict:
        """Return the content that `to_json` wrote."""
        given = {exercise: tuple(values) for exercise, values in data["given"].items()}
        changed = tuple(data["changed"]) if "changed" in data else None
        return cls(SubmissionVerdict.from_json(data["verdict"]), bool(data["recorded"]), given, changed)


def _points(verdict: SubmissionVerdict) -> dict[str, tuple[float, float]]:
    """Map each cell with automatic points, by its name in nbgrader, to its points earned and its maximum."""
    worth = {name: verdict.points[name] + verdict.extra[name] for name in verdict.points}
    earned = {name: verdict.earned(name) + verdict.earned_extra(name) for name in worth}
    return {**{verdict.check_cell_name(name): (earned[name], worth[name]) for name in worth}, **verdict.tests}


def read_verdict_file(course: Path, stem: str, student: str) -> StoredVerdict | None:
    """Return the content of a student's verdict file; None if there is none that can be read."""
    try:
        return _read(verdict_path(course, stem, student).read_text())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _read(text: str) -> StoredVerdict:
    if text not in _known:
        _remember(text, StoredVerdict.from_json(json.loads(text)))
    return _known[text]


def _remember(text: str, what: StoredVerdict) -> None:
    """Cache the content of a text: callers read each file a few times, and all of them once more at the end."""
    if len(_known) >= _MOST:
        _known.clear()
    _known[text] = what


def read_verdict(course: Path, stem: str, student: str) -> SubmissionVerdict | None:
    """Return a student's stored verdict; None if there is none that can be read."""
    found = read_verdict_file(course, stem, student)
    return found.verdict if found else None


def store_unrecorded_verdict(course: Path, student: str, verdict: SubmissionVerdict) -> None:
    """Store a verdict that the gradebook does not have yet; raise WorkFailed and leave the old file if it cannot."""
    before = read_verdict_file(course, verdict.assignment, student)
    write_verdict_file(course, student, before.replace_verdict(verdict) if before else StoredVerdict(verdict))


def write_verdict_file(course: Path, student: str, what: StoredVerdict) -> None:
    """Write a verdict file in one step; raise WorkFailed and leave the old file if it cannot be written."""
    text = json.dumps(what.to_json(), separators=(",", ":"))
    write_all({verdict_path(course, what.verdict.assignment, student): text.encode()})
    _remember(text, what)


def mark_as_recorded_in_gradebook(course: Path, stem: str, student: str) -> None:
    """Note in a verdict file that the gradebook and `autograded/` contain its verdict."""
    found = read_verdict_file(course, stem, student)
    if found is not None:
        write_verdict_file(course, student, replace(found, recorded=True))


# --- rounds


@dataclass(frozen=True)
class GradingRoundOptions:
    """The options of a round: `force` grades unchanged submissions too; `preview` stores no verdict."""

    force: bool = False
    preview: bool = False


def begin_grading_round(course: Path, assignment: Assignment, asked: GradingRoundOptions) -> int:
    """Return the seed of a round of grading; an interrupted or previewed round of an assignment keeps its seed."""
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


def _seed_before(path: Path, assignment: Assignment, asked: GradingRoundOptions) -> int | None:
    """Return the seed of the round that has begun, or None; with `force`, only that of a preview."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        begun = json.loads(path.read_text())
        if begun["digest"] == assignment.digest and (begun["preview"] or not asked.force):
            return int(begun["seed"])
    return None


def end_grading_round(course: Path, stem: str) -> None:
    """Delete the seed and the expected observations of a round, so that the next one draws a seed of its own."""
    shutil.rmtree(answer_keys_folder(course, stem), ignore_errors=True)
    _round_path(course, stem).unlink(missing_ok=True)


def is_seed_allowed(seed: int) -> bool:
    """Return whether a stored verdict with this seed is still valid: not if SEED_VARIABLE names another seed."""
    return _named_seed() in (None, seed)


def _named_seed() -> int | None:
    """Return the seed that the environment variable names, or None."""
    named = os.environ.get(SEED_VARIABLE)
    return int(named) if named else None


def _round_path(course: Path, stem: str) -> Path:
    return course / "verdicts" / stem / f"{_ROUND}.json"
