"""What passed before, remembered by content: a test that nothing has changed for is not run again.

What a test depends on is every file of the project but those parts of the course, those documents and those modules of
the tests that it does not read: what it reads, say its imports and `tests/reads.py`; `tests/watch.py` sees to it that a
test which reads anything else is not remembered. Which files the course has, every test depends on. Change one of these
files, Python or torch, and it runs. `THOROUGH=1` remembers nothing.

The files' digests are taken once, and tests read them later or sooner: a test that passes is remembered only if nothing
that it reads was written since its process began, which is looked at from time to time (`settle`).
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from subprocess import run

from autograder.files import create_marker_file, digest_of, written_since
from autograder.process_startup import STARTED_AT
from tests import belonging
from tests.asked import THOROUGH
from tests.reads import (
    ANSWERS,
    DOCUMENTS,
    EXERCISE,
    EXERCISES,
    FIGURES,
    KINDS,
    LESSONS,
    OWN,
    READS,
    SHIPPED,
    SO_FAR,
    TESTS,
)
from tests.small_chapter import PROJECT

FOLDER = PROJECT / "build" / "proved" / "tests"
SECONDS = 0.5  # what is quicker is not worth a file
GROUP = "class of "  # begins the name of a group of tests that share the class of a chapter
# These draw anew in each run, or hold what says what is remembered.
ANEW = ("fuzz", "remembered")
PAUSE = 20.0  # seconds from one look at what was written to the next
TABLE = "tests/reads.py"  # of this, each test depends on its own line
_KINDS = {
    **dict.fromkeys(("course/chapters/", "course/cards/", "course/ledger/", "notebooks/", "solutions/"), LESSONS),
    **{f"course/{kind}/": kind for kind in ("exercises", "answers", "shipped", "figures")},
}


@cache
def stems() -> tuple[str, ...]:
    """The chapters of this project."""
    return tuple(sorted(path.stem for path in (PROJECT / "course" / "chapters").glob("*.py")))


@cache
def _exercises() -> dict[str, str]:
    """The chapter of each exercise."""
    return {path.stem: path.parent.name for path in (PROJECT / "course" / "exercises").glob("*/[!_]*.py")}


@cache
def part_of(name: str) -> str:
    """What a file belongs to that not every test reads: a kind and a chapter, as `answers/ch01_tensors`, the documents,
    or a module of the tests; "" where every test depends on it. The name begins at the project's folder.
    """
    if name.endswith(".md"):
        return DOCUMENTS
    if found := re.fullmatch(r"tests/(?:__pycache__/)?(\w+)[.\w-]*[.]pyc?", name):
        return f"{TESTS}/{found[1]}"
    folder = next((folder for folder in _KINDS if name.startswith(folder)), "")
    first = re.split(r"[/.]", name.removeprefix(folder).removeprefix("__pycache__/"))[0].lstrip("_")
    found = [stem for stem in stems() if first == stem or first.split("_")[0] == stem.split("_")[0]]
    return f"{_KINDS[folder]}/{found[0]}" if folder and found else ""


def is_read(part: str, reads: Iterable[str]) -> bool:
    """Whether a part is among what is read: itself, or its kind of every chapter."""
    return not part or part in reads or part.split("/")[0] in reads


def may_open(part: str, reads: Iterable[str]) -> bool:
    """Whether who reads this may open a part: what is read, or where the files of an exercise that is read stand."""
    kind, _, chapter = part.partition("/")
    is_around = kind in (EXERCISES, ANSWERS, SHIPPED) and any(
        each.startswith(f"{EXERCISE}/{chapter}/") for each in reads
    )
    return is_around or is_read(part, reads)


def _names() -> list[str]:
    """The files of the project that git would know; none where it cannot say."""
    words = ["git", "ls-files", "-coz", "--exclude-standard"]
    listed = run(words, cwd=PROJECT, capture_output=True, text=True, check=False)
    told = "" if listed.returncode else listed.stdout
    return [name for name in sorted(set(told.split("\0"))) if name != TABLE and (PROJECT / name).is_file()]


@cache
def _digests() -> dict[str, str]:
    """What git calls the content of each file of the project, by name; none where it cannot say which there are."""
    names = _names()
    words = ["git", "hash-object", "--no-filters", "--stdin-paths"]
    hashed = run(words, cwd=PROJECT, input="\n".join(names), capture_output=True, text=True, check=False)
    return {} if hashed.returncode else dict(zip(names, hashed.stdout.split(), strict=True))


@cache
def content(reads: tuple[str, ...]) -> str:
    """The digest of all that a test depends on which reads this, and of what runs it; "" where that is not known."""
    known = _digests()
    if not known:
        return ""
    course = [name for name in known if part_of(name).split("/")[0] not in ("", DOCUMENTS, TESTS)]
    read = [f"{name} {digest}" for name, digest in known.items() if is_read(part_of(name), reads)]
    return digest_of(sys.version, version("torch"), *reads, *course, *read, *map(_of_exercise, reads))


@cache
def _of_exercise(part: str) -> str:
    """What stands for all that belongs to an exercise; "" for another part."""
    if not part.startswith(f"{EXERCISE}/"):
        return ""
    from autograder.authoring.proof_receipts import proof_path
    from autograder.course.exercise_parts import ExerciseParts

    _, chapter, name = part.split("/")
    return proof_path(ExerciseParts(PROJECT / "course", chapter, name)).name


def reads(module: str, groups: Iterable[str] = (), name: str = "") -> tuple[str, ...]:
    """What a test may read: that of its module, where `OWN` stands for the chapter of its class, or that its name has,
    or of the exercise that its name has, and `SO_FAR` for that and those before.
    """
    of_class = [group.removeprefix(GROUP) for group in groups if group.startswith(GROUP)]
    named = {word: _exercises()[word] for word in re.findall(r"\w+", name) if word in _exercises()}
    chapters = of_class or sorted({stem for stem in stems() if stem in name} | {*named.values()}) or list(stems())
    exercises = [f"{EXERCISE}/{chapter}/{word}" for word, chapter in named.items() if chapter in chapters]
    told = _with_exercises(READS.get(module.removeprefix("test_"), ()), exercises)
    meant = {OWN: chapters, SO_FAR: [stem for stem in stems() if stem <= max(chapters)]}
    parts = [(kind, chapter) for kind, _, chapter in (part.partition("/") for part in told)]
    whole = [f"{kind}/{stem}".rstrip("/") for kind, chapter in parts for stem in meant.get(chapter, [chapter])]
    return tuple(sorted({part for part in whole if part in KINDS or part.split("/")[1] in stems()} | helpers(module)))


def _with_exercises(told: tuple[str, ...], exercises: Iterable[str]) -> list[str]:
    """What is told, with these in place of `EXERCISE`; where there are none, all that belongs to the chapter's."""
    stand_in = list(exercises) or [f"{kind}/{OWN}" for kind in (EXERCISES, ANSWERS, SHIPPED)]
    return [each for part in told for each in (stand_in if part == EXERCISE else [part])]


@cache
def imported(module: str) -> frozenset[str]:
    """The parts that a module of the tests imports, and its helpers, and `conftest.py`; so does one in a browser."""
    tests = PROJECT / "tests"
    folders = {tests, *(folder for folder in [tests / "browser"] if (folder / f"{module}.py").is_file())}
    files = [folder / f"{name}.py" for folder in folders for name in (module, "conftest")]
    dotted = {name for file in files if file.is_file() for name in belonging.imported_by_all(PROJECT, file)}
    return frozenset({part_of(f"{name.replace('.', '/')}.py") for name in dotted} - {""})


def helpers(module: str) -> set[str]:
    """The modules of the tests among these, and this one."""
    own = ("__init__", "conftest", module)
    return {part for part in imported(module) if part.startswith(TESTS)} | {f"{TESTS}/{name}" for name in own}


def notebook_reads(stem: str) -> tuple[str, ...]:
    """What a run of a chapter's notebook depends on, beside what every test does."""
    return tuple(f"{kind}/{stem}" for kind in (LESSONS, "exercises", FIGURES))


def place(name: str, reads: tuple[str, ...]) -> Path | None:
    """The file that stands for a test that passed, as everything is now; None where nothing can be remembered."""
    known = "" if THOROUGH or any(f"test_{module}" in name for module in ANEW) else content(reads)
    return FOLDER / digest_of(name, known) if known else None


_waiting: list[tuple[Path, tuple[str, ...]]] = []
_settled = [time.monotonic()]


def keep(place: Path | None, reads: tuple[str, ...]) -> None:
    """Remember at this place what has passed and reads this, once that is known to be what the place's name says."""
    if place is not None:
        _waiting.append((place, reads))
    if time.monotonic() - _settled[-1] > PAUSE:
        settle()


def settle() -> None:
    """Remember what waits for it, but for what reads a file that was written since this process began."""
    written = _written() if _waiting else []
    for place, reads in _waiting:
        if not any(_concerns(name, reads) for name in written):
            create_marker_file(place)
    _waiting.clear()
    _settled[:] = [time.monotonic()]


def _written() -> list[str]:
    """The files of the project that were written, came or went since this process began."""
    return [name for name in {*_digests(), *_names()} if written_since(STARTED_AT, [PROJECT / name])]


def _concerns(name: str, reads: tuple[str, ...]) -> bool:
    """Whether it may matter to who reads this that a file is not as it was: a file of the course that came or went
    matters to all.
    """
    kind, _, chapter = part_of(name).partition("/")
    is_listed = kind not in (DOCUMENTS, TESTS) and (name not in _digests() or not (PROJECT / name).is_file())
    of_exercise = any(each.startswith(f"{EXERCISE}/{chapter}/") for each in reads)
    return is_listed or of_exercise or is_read(part_of(name), reads)


def worth_it(module: str, groups: Iterable[str], seconds: float) -> bool:
    """Whether a test is to be remembered: a slow one, and all that share what is slow to make."""
    return seconds > SECONDS or bool(list(groups)) or "answers" not in READS.get(module.removeprefix("test_"), ())
