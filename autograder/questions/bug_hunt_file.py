"""Bug hunts: somebody's program, right but for one line, and the known mistake that it shows.

`autograder hunts` searches the answer bank for them, proves each, and writes a file for each chapter. Each exercise is
one packed text there: the programs are close to solutions, which nobody should read in passing.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autograder.course.faulty_program_names import faulty_program_name
from autograder.errors import DamagedData
from autograder.files import sha256_of_texts

HUNTS_FOLDER = "hunts"  # the folder of the files in a course
MENDED_REQUIREMENT = "mends the program"  # the one requirement in a report on a graded hunt
_NUMBER = 6  # letters
_LEAST_LINES = 5  # of a program that students mend for points


@dataclass(frozen=True)
class FaultyProgram:
    """Somebody's program for an exercise: its text, and the tag of the known mistake that it shows."""

    exercise: str
    mistake: str
    code: str

    @property
    def name(self) -> str:
        """Return the name of the program's answer."""
        return faulty_program_name(self.exercise)


@dataclass(frozen=True)
class BugHunt(FaultyProgram):
    """One program to mend, with the line at fault.

    `kind` says how the line is mended: "change", "remove", "move", or "add", where a line is missing after `line`.
    `others` are the wrong choices: lines that no tried edit mends; for "add", lines after which no tried insertion
    helps.
    """

    kind: str
    line: int
    others: tuple[int, ...]

    @property
    def number(self) -> str:
        """Return the program's number: six letters that change with its text."""
        return sha256_of_texts(self.exercise, self.code)[:_NUMBER]

    @property
    def text_with_number(self) -> str:
        """Return the program with its number in a comment on the first line, by which grading knows it."""
        first, rest = self.code.split("\n", 1)
        return f"{first}  # program {self.number}\n{rest}"


@dataclass(frozen=True)
class ExerciseHunts:
    """The hunts of one exercise, easy ones first.

    `false` maps a mistake's tag to other mistakes whose sentences are surely false of it: the wrong choices of a
    question. `made_of` is a digest of the hunts' sources, by which outdated hunts are found.
    """

    made_of: str
    false: Mapping[str, tuple[str, ...]]
    hunts: tuple[BugHunt, ...]

    @property
    def hunts_for_graded_tasks(self) -> tuple[BugHunt, ...]:
        """Return the hunts for graded tasks: in a shorter program, two lines are nearly all."""
        return tuple(each for each in self.hunts if len(each.code.splitlines()) >= _LEAST_LINES)

    def easiest_by_mistake(self, mistake: str) -> BugHunt | None:
        """Return the easiest hunt that shows a mistake, by its tag; None if there is none."""
        return next((each for each in self.hunts if each.mistake == mistake), None)


def hunts_path(course: Path, stem: str) -> Path:
    """Return the path of a chapter's hunts in a course folder."""
    return course / HUNTS_FOLDER / f"{stem}.json"


def read_hunts(course: Path, stem: str) -> dict[str, ExerciseHunts]:
    """Return a chapter's hunts by exercise; none if it has no file. Raises DamagedData."""
    path = hunts_path(course, stem)
    return decode_hunts(path.read_bytes()) if path.is_file() else {}


def encode_hunts(chapter: Mapping[str, ExerciseHunts]) -> bytes:
    """Return the content of a chapter's file, with a line for each exercise."""
    lines = [f"{json.dumps(name)}: {json.dumps(_packed(hunts))}" for name, hunts in chapter.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _packed(hunts: ExerciseHunts) -> str:
    text = json.dumps(asdict(hunts), ensure_ascii=False, separators=(",", ":"))
    return base64.b85encode(zlib.compress(text.encode(), 9)).decode()


def decode_hunts(data: bytes) -> dict[str, ExerciseHunts]:
    """Return the hunts that `encode_hunts` wrote, by exercise; raise DamagedData for anything else."""
    try:
        packed = json.loads(data)
        return {name: _unpacked(json.loads(zlib.decompress(base64.b85decode(text)))) for name, text in packed.items()}
    except (ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
        raise DamagedData(f"the bug hunts cannot be read ({error}); install the course again") from error


def _unpacked(data: dict[str, Any]) -> ExerciseHunts:
    hunts = tuple(BugHunt(**{**each, "others": tuple(each["others"])}) for each in data["hunts"])
    return ExerciseHunts(data["made_of"], {tag: tuple(tags) for tag, tags in data["false"].items()}, hunts)


def difficulty_sort_key(hunt: BugHunt) -> tuple[int, bool]:
    """Return a value to sort hunts by: short programs first, then those in which a line is wrong, not missing."""
    return len(hunt.code.splitlines()) // 4, hunt.kind != "change"
