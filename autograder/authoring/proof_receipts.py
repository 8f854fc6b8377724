"""Remember which exercises were proven, so that an unchanged one is not proven again.

A receipt is an empty file in build/proved/. Its name is a digest of everything that the proof depends on: the
exercise's cells, file, answers and shipped data, this package, and the versions of Python and torch. If one of these
changes, no file has the new name.

The digest is computed after the proof has read these files, so they may have changed in between. A receipt is written
only if the course's files are older than this process's first reading of the course, and the package's files are older
than the process: then the digest and the proof saw the same content.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from autograder.authoring.proof import shipped_hints, shipped_key
from autograder.authoring.stale_observations import still_holds
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
# The sub-packages whose code a proof runs, besides the modules at the top of the package.
ROOMS = ("authoring", "course", "diagnosis", "exercises", "notebook", "submission")
_RELATIVE = re.compile(r"^from \.+(\w*) import ([\w, ]+)", re.MULTILINE)


def proof_path(parts: ExerciseParts, where: str = "") -> Path:
    """Return the path of the receipt for the exercise as it is now.

    `where` names the machine on which it is proven, if that is not this one.
    """
    return _path(parts, where, shipped_key(parts))


def _path(parts: ExerciseParts, where: str, key: ExpectedObservations | None) -> Path:
    """Return the path of a receipt for the exercise with `key` as its shipped key; `where` tells receipts apart."""
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
    """Write the receipt for a proven exercise if no file has changed since it was read; return whether it did."""
    return _remember(parts, proof_path(parts, where))


def is_as_read(parts: ExerciseParts) -> bool:
    """Return whether no file that the proof of an exercise depends on has been written since this process read it."""
    folder = parts.course / SHIPPED
    data = [folder / f"{parts.stem}{suffix}" for suffix in (*shipped_observations.SUFFIXES, exercise_index.HINTS)]
    there = [path for path in data if path.is_file()]  # a course that is not built yet ships nothing
    is_new = written_since(course_in(parts.course).begun, [parts.chapter, *_written(parts), *there])
    return not is_new and not written_since(STARTED_AT, _code_files())


def _remember(parts: ExerciseParts, place: Path) -> bool:
    as_read = is_as_read(parts)  # checked after the digest in the name was computed, so that it covers both
    if as_read:
        create_marker_file(place)
    return as_read


def keys_that_hold(judge: Judge, committed: dict[str, bytes], anew: bool = False) -> dict[str, ExpectedObservations]:
    """Return the keys in a chapter's committed files that still hold, by exercise.

    A key with a receipt is not checked again, unless `anew` is set.
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
        if not still_holds(judge, key):
            return False
        _remember(parts, place)
    return True


def _written(parts: ExerciseParts) -> list[Path]:
    """Return the exercise's file and bank, the helper modules that it may use, and the exercise files they import."""
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
