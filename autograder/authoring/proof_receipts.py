"""What was proven before, remembered by content: an empty file in build/proved/, named by all that was looked at.

Whatever a proof depends on is in that name: the exercise's cells, file and answers, what is shipped of it, this
package, Python and torch. Change one of them, and there is no file of that name.

The name says what these files hold when it is made; a proof reads them sooner, each when it is first needed. So a proof
is remembered only if the course's were written before this process began to read that course, and this package's before
the process began: then both are the same.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from autograder.authoring.proof import shipped_hints, shipped_key
from autograder.authoring.sync_check import holds
from autograder.course import exercise_index, shipped_observations
from autograder.course.chapter_reader import read_chapter
from autograder.course.course import course_in
from autograder.course.course_location import EXERCISES, SHIPPED
from autograder.course.exercise_parts import ExerciseParts
from autograder.course.judge import Judge
from autograder.diagnosis.expected import ExpectedObservations
from autograder.errors import DamagedData
from autograder.files import create_marker_file, digest_of, written_since
from autograder.process_startup import STARTED_AT

_PACKAGE = Path(__file__).resolve().parents[1]
# The rooms that a proof runs through, beside the files that stand in no room.
ROOMS = ("authoring", "course", "diagnosis", "exercises", "notebook", "submission")
_RELATIVE = re.compile(r"^from \.+(\w*) import ([\w, ]+)", re.MULTILINE)


def proof_path(parts: ExerciseParts, where: str = "") -> Path:
    """The file that stands for the proof of an exercise as it is now; `where` says on what machine, if not on this."""
    return _path(parts, where, shipped_key(parts))


def _path(parts: ExerciseParts, where: str, key: ExpectedObservations | None) -> Path:
    """The file that stands for what was found of an exercise of which this is shipped."""
    chapter, files = read_chapter(parts.chapter), _written(parts)
    name = digest_of(
        *(where, sys.version, version("torch"), _code()),
        *(chapter.prelude, chapter.exercise(parts.name).source),
        *(str(path.relative_to(parts.course)) for path in files),
        *(path.read_bytes() for path in files),
        *(shipped_observations.encode({parts.name: key}).values() if key else ()),
        *shipped_hints(parts),
    )
    return parts.course.parent / "build" / "proved" / parts.stem / parts.name / name


def remember_proof(parts: ExerciseParts, where: str = "") -> bool:
    """Remember that an exercise was proven, if what was read of it is what is there; returns whether it is."""
    return _remember(parts, proof_path(parts, where))


def is_as_read(parts: ExerciseParts) -> bool:
    """Whether this process has read of an exercise what is there now: nothing of it was written since."""
    folder = parts.course / SHIPPED
    data = [folder / f"{parts.stem}{suffix}" for suffix in (*shipped_observations.SUFFIXES, exercise_index.HINTS)]
    there = [path for path in data if path.is_file()]  # a course that is not built yet ships nothing
    is_new = written_since(course_in(parts.course).begun, [parts.chapter, *_written(parts), *there])
    return not is_new and not written_since(STARTED_AT, _code_files())


def _remember(parts: ExerciseParts, place: Path) -> bool:
    as_read = is_as_read(parts)  # looked at behind the name, which then stands for what was read
    if as_read:
        create_marker_file(place)
    return as_read


def kept(judge: Judge, committed: dict[str, bytes], anew: bool = False) -> dict[str, ExpectedObservations]:
    """The keys in a chapter's committed files that still hold, by exercise.

    What held before, with the same content, is not computed again, unless all is to be looked at `anew`.
    """
    try:
        keys = shipped_observations.decode(committed)
    except DamagedData:
        return {}
    return {name: keys[name] for name in judge.names if name in keys and _still_holds(judge, keys[name], anew)}


def _still_holds(judge: Judge, key: ExpectedObservations, anew: bool) -> bool:
    parts = ExerciseParts(judge.course, judge.chapter.stem, key.exercise)
    place = _path(parts, "what is shipped", key)
    if anew or not place.is_file():
        if not holds(judge, key):
            return False
        _remember(parts, place)
    return True


def _written(parts: ExerciseParts) -> list[Path]:
    """The exercise's file and bank, and the files of its chapter's folder that only help, or that these import."""
    folder = parts.course / EXERCISES / parts.stem
    helpers = [*sorted((parts.course / EXERCISES).glob("*.py")), *sorted(folder.glob("_*.py"))]
    named = {name for path in (parts.exercise, *helpers) for found in _imports(path) for name in found}
    others = [path for path in sorted(folder.glob("[!_]*.py")) if path.stem in named and path != parts.exercise]
    return [*helpers, *others, parts.exercise, parts.bank]


def _imports(path: Path) -> list[set[str]]:
    found = _RELATIVE.findall(path.read_text(encoding="utf-8"))
    return [{module, *(name.strip() for name in names.split(","))} for module, names in found]


@lru_cache(maxsize=1)
def _code() -> str:
    return digest_of(*(path.read_bytes() for path in _code_files()))


def _code_files() -> list[Path]:
    rooms = (path for room in ROOMS for path in (_PACKAGE / room).rglob("*.py"))
    return sorted([*_PACKAGE.glob("*.py"), *rooms])
