"""What the exercises of a chapter are worth, remembered beside its verdicts: to read a chapter takes a while."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.files import write_all
from autograder.grading.assignment import Assignment

_KNOWN = ".exercises.json"  # no student's name begins with a dot


def exercises_of(wanted: Assignment) -> dict[str, float]:
    """The points of each exercise of an assignment, by name; raises CourseError where its chapter is not sound.

    Nothing is read anew of a chapter that was sound, as long as nothing has changed that a verdict depends on.
    """
    if not wanted.is_chapter:  # nothing has to be read of it
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
    with suppress(WorkFailed):  # then it is read again the next time
        write_all({path: json.dumps({"digest": digest, "points": points}).encode()})
