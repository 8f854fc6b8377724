"""What each exercise is worth: shipped data, which the build writes from the chapters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autograder.errors import DamagedData

FILE = Path(__file__).with_name("points.json")


@dataclass(frozen=True)
class Worth:
    """An exercise's points towards full marks, and its extra credit; one of the two is 0."""

    points: int
    extra: int


@dataclass(frozen=True)
class Listed:
    """A chapter as it is listed: its file's stem, its heading, and what its exercises are worth, in order."""

    stem: str
    title: str
    exercises: dict[str, Worth]

    @property
    def number(self) -> int:
        """4 for `ch04_training`."""
        return int(self.stem[2:4])


def encode(chapters: list[Listed]) -> bytes:
    """The contents of the data file: a line per exercise, so that a change reads well in a diff."""
    plain = {
        chapter.stem: {
            "title": chapter.title,
            "exercises": {name: [worth.points, worth.extra] for name, worth in chapter.exercises.items()},
        }
        for chapter in chapters
    }
    text = json.dumps(plain, ensure_ascii=False, indent=1)
    return (text.replace("[\n    ", "[").replace(",\n    ", ", ").replace("\n   ]", "]") + "\n").encode()


@cache
def load(path: Path = FILE) -> tuple[Listed, ...]:
    """The chapters, in order; raises DamagedData where the file is not as the build wrote it."""
    try:
        plain = json.loads(path.read_bytes())
        return tuple(
            Listed(stem, item["title"], {name: Worth(*worth) for name, worth in item["exercises"].items()})
            for stem, item in plain.items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DamagedData(f"the list of points cannot be read ({error}); install the course again") from error
