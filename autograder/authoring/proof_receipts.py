"""Record digests of proven exercises and of valid shipped answer keys, so that unchanged ones are not checked again.

A receipt is a digest of everything that a proof depends on: the exercise's cells, file, answers, shipped key and hints,
the modules that they and the proof import, and the minor version of torch. Comments and docstrings of the package do
not count. `autograder prove` writes the receipts of proofs into `course/proofs.txt`, which is committed. A build trusts
these, and remembers in `build/proved/` which other keys it has found to hold.

Something may be edited while a proof runs. A receipt is written only if the course's files are older than this
process's first reading of the course, and the package's files are older than the process: then the digest and the
proof saw the same content.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from autograder import files
from autograder.authoring.proof import shipped_answer_key, shipped_hints
from autograder.authoring.stale_observations import is_observation_file_current
from autograder.course import points_and_hints, shipped_observations
from autograder.course.answer_bank_replacements import bare
from autograder.course.chapter_judge import Judge
from autograder.course.chapter_reader import read_all_chapters, read_chapter
from autograder.course.course import course_in
from autograder.course.course_location import SHIPPED
from autograder.course.missing_exercise_parts import ExerciseParts
from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.errors import DamagedData
from autograder.exercises.observation import encode_plain_data
from autograder.faster_startup import STARTED_AT
from autograder.import_closure import import_closure

RECEIPTS_FILE = "proofs.txt"  # in the course folder
_ROOT = Path(__file__).resolve().parents[2]  # the folder that holds the package
_PROOF = _ROOT / "autograder" / "authoring" / "proof.py"
_LETTERS = 16  # of a digest; one that is wrong by chance would take 2**64 tries


def compute_receipt(parts: ExerciseParts) -> str:
    """Return the receipt that the exercise has once it is proven as it is now."""
    return _receipt(parts, shipped_answer_key(parts))


def _receipt(parts: ExerciseParts, key: ExpectedObservations | None) -> str:
    chapter, (own, code) = read_chapter(parts.chapter), _files(parts)
    whole = files.sha256_of_texts(
        ".".join(version("torch").split(".")[:2]),
        *(text for path in code for text in (path.relative_to(_ROOT).as_posix(), _code(path, path.stat().st_mtime_ns))),
        *(chapter.prelude, chapter.exercise(parts.name).source),
        *(path.relative_to(parts.course).as_posix() for path in own),
        *(path.read_bytes() for path in own),
        *([_key_bytes(key)] if key else []),
        *shipped_hints(parts),
    )
    return whole[:_LETTERS]


def _key_bytes(key: ExpectedObservations) -> bytes:
    """Encode a key that was read from a file, in which equal observations are one object."""
    every = [*key.reference, *(seen for mistake in key.mistakes for seen in mistake.observations)]
    distinct = list({id(seen): seen for seen in every}.values())
    place = {id(seen): number for number, seen in enumerate(distinct)}
    mistakes = [(m.tag, m.sentence, list(m.rules), m.unless, m.slip) for m in key.mistakes]
    cases = [case.to_plain() for case in key.cases]
    return encode_plain_data([cases, distinct, [place[id(seen)] for seen in every], *map(list, mistakes)])


def _files(parts: ExerciseParts) -> tuple[list[Path], list[Path]]:
    """Return the files of the course and those of the package that a proof of the exercise reads, both sorted."""
    course, project = parts.course.resolve(), parts.course.resolve().parent
    starts = [course / path.relative_to(parts.course) for path in (parts.exercise, parts.bank) if path.is_file()]
    found = import_closure(starts, list(dict.fromkeys([project, _ROOT]))) | _files_of_proof()
    own = sorted(path for path in found if course in path.parents)
    return [parts.course / path.relative_to(course) for path in own], sorted(found.difference(own))


@lru_cache(maxsize=1)
def _files_of_proof() -> set[Path]:
    return import_closure([_PROOF], [_ROOT])


@lru_cache(maxsize=512)
def _code(path: Path, _written: int) -> str:
    return bare(path.read_text(encoding="utf-8")) if path.read_bytes().strip() else ""


def read_committed_receipts(course: Path) -> dict[str, str]:
    """Return the committed receipts by exercise; none if there is no file that can be read."""
    try:
        lines = (course / RECEIPTS_FILE).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    return {name: digest.strip() for name, digest in zip(lines[::2], lines[1::2], strict=False)}


def exercises_to_prove(course: Path) -> list[ExerciseParts]:
    """Return the exercises of a course that have no receipt for what they are now, in the order of the course."""
    known = read_committed_receipts(course)
    return [parts for parts in every_exercise(course) if known.get(parts.name) != compute_receipt(parts)]


def every_exercise(course: Path) -> list[ExerciseParts]:
    """Return the exercises of a course, in its order."""
    return [
        ExerciseParts(course, chapter.stem, name) for chapter in read_all_chapters(course) for name in chapter.exercises
    ]


def write_receipts(course: Path, proven: Iterable[tuple[str, str]]) -> None:
    """Add pairs of an exercise and its receipt to the committed file, and drop exercises that the course has not.

    Each exercise has a line for its name and one for its receipt: between two receipts stands a line that does not
    change, so that git merges the work of two people on neighbouring exercises.
    """
    known = read_committed_receipts(course) | dict(proven)
    there = [parts.name for parts in every_exercise(course)]
    text = "".join(f"{name}\n  {known[name]}\n" for name in there if name in known)
    files.write_all({course / RECEIPTS_FILE: text.encode()})


def is_unchanged_since_read(parts: ExerciseParts) -> bool:
    """Return whether no file that the proof of an exercise depends on has been written since this process read it."""
    folder = parts.course / SHIPPED
    data = [
        folder / f"{parts.stem}{suffix}"
        for suffix in (*shipped_observations.SHIPPED_FILE_SUFFIXES, points_and_hints.HINTS)
    ]
    there = [path for path in data if path.is_file()]  # a course that is not built yet ships nothing
    own, code = _files(parts)
    is_new = files.has_any_changed_since(course_in(parts.course).begun, [parts.chapter, *own, *there])
    return not is_new and not files.has_any_changed_since(STARTED_AT, code)


def still_valid_expected_observations(
    judge: Judge, committed: dict[str, bytes], anew: bool = False
) -> dict[str, ExpectedObservations]:
    """Return the committed answer keys of a chapter that are still valid, by exercise.

    A key whose receipt says that it was checked is not checked again, unless `anew` is set.
    """
    try:
        keys = shipped_observations.decode(committed)
    except DamagedData:
        return {}
    proven = {} if anew else read_committed_receipts(judge.course)
    there = [name for name in judge.names if name in keys]
    return {name: keys[name] for name in there if _still_holds(judge, keys[name], proven.get(name), anew)}


def _still_holds(judge: Judge, key: ExpectedObservations, proven: str | None, anew: bool) -> bool:
    parts = ExerciseParts(judge.course, judge.chapter.stem, key.exercise)
    receipt = _receipt(parts, key)
    place = parts.course.parent / "build" / "proved" / parts.stem / parts.name / receipt
    if receipt == proven or (not anew and place.is_file()):
        return True
    if not is_observation_file_current(judge, key):
        return False
    if is_unchanged_since_read(parts):  # asked after the digest was computed, so that the answer covers both
        files.create_marker_file(place)
    return True
