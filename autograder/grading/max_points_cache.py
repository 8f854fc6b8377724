"""A cache of the points of a chapter's exercises, in a file beside its verdicts: reading a chapter is slow."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.files import write_all
from autograder.grading.assignment import Assignment

_KNOWN = ".exercises.json"  # no student's name begins with a dot


def points_by_exercise(wanted: Assignment) -> dict[str, float]:
    """Map each exercise of an assignment to its points; raise CourseError if its chapter has an error.

    The cached points hold as long as the digest of the assignment is the same.
    """
    if not wanted.is_chapter:  # there is no chapter to read, so nothing to save
        return _points(wanted)
    path = Path(wanted.course) / "verdicts" / wanted.place / _KNOWN
    found = _known(path, wanted.digest)
    if found is None:
        found = _points(wanted)
        _keep(path, wanted.digest, found)
    return found


def _points(wanted: Assignment) -> dict[str, float]:
    chapter = wanted.chapter()
    return {name: chapter.points(name) for name in chapter.exercises}


def _known(path: Path, digest: str) -> dict[str, float] | None:
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["digest"] == digest:
            return {str(name): float(points) for name, points in data["points"].items()}
    return None


def _keep(path: Path, digest: str, points: dict[str, float]) -> None:
    with suppress(WorkFailed):  # if the file cannot be written, the next call reads the chapter again
        write_all({path: json.dumps({"digest": digest, "points": points}).encode()})
