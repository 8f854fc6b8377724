"""The shipped index of a course: chapter titles, the points of each exercise, and the hints. The build writes it.

Points of a teacher's own exercises go to a separate file, since a changed project file would conflict at the next `git
pull`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import DamagedData

POINTS, OWN_POINTS = "points.json", "own-points.json"
HINTS = ".hints.json"  # the file name is the chapter's stem and this


@dataclass(frozen=True)
class ExercisePoints:
    """An exercise's points towards full marks, and its extra credit; one of the two is 0."""

    points: int
    extra: int


@dataclass(frozen=True)
class IndexedChapter:
    """One chapter of the index: its file's stem, its title, and the points of its exercises, in order."""

    stem: str
    title: str
    exercises: dict[str, ExercisePoints]

    @property
    def number(self) -> int:
        """Return the first number in the stem, or 0."""
        found = re.search(r"\d+", self.stem)
        return int(found[0]) if found else 0

    @property
    def is_excursion(self) -> bool:
        """Return whether readers may leave the sitting out: its stem has an x behind the number."""
        return re.match(r"\D+\d+x(_|$)", self.stem) is not None


def encode_index(chapters: list[IndexedChapter]) -> bytes:
    """Return the contents of the file of points: one line per exercise, so that a change reads well in a diff."""
    plain = {
        chapter.stem: {
            "title": chapter.title,
            "exercises": {name: [worth.points, worth.extra] for name, worth in chapter.exercises.items()},
        }
        for chapter in chapters
    }
    text = json.dumps(plain, ensure_ascii=False, indent=1)
    return (text.replace("[\n    ", "[").replace(",\n    ", ", ").replace("\n   ]", "]") + "\n").encode()


def read_index(path: Path) -> tuple[IndexedChapter, ...]:
    """Return the chapters in a file of points, in order, and then the teacher's own; raise DamagedData."""
    own = path.with_name(OWN_POINTS)
    try:
        return decode_index(path.read_bytes()) + (decode_index(own.read_bytes()) if own.is_file() else ())
    except OSError as error:
        raise DamagedData(f"the list of points cannot be read ({error}); install the course again") from error


def decode_index(data: bytes) -> tuple[IndexedChapter, ...]:
    """Return the chapters that `encode_index` wrote; raise DamagedData for anything else."""
    try:
        plain = json.loads(data)
        return tuple(
            IndexedChapter(
                stem, item["title"], {name: ExercisePoints(*worth) for name, worth in item["exercises"].items()}
            )
            for stem, item in plain.items()
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedData(f"the list of points cannot be read ({error}); install the course again") from error


def encode_hints(hints: dict[str, tuple[str, ...]]) -> bytes:
    """Return the contents of a chapter's file of hints."""
    return (json.dumps(hints, ensure_ascii=False, indent=1) + "\n").encode()


def read_hints_file(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the hints that `encode_hints` wrote, by exercise; raise DamagedData for anything else."""
    try:
        return {name: tuple(map(str, hints)) for name, hints in json.loads(path.read_bytes()).items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise DamagedData(f"the hints cannot be read ({error}); install the course again") from error
