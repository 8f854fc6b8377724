"""Assignments: all data that grading a chapter needs, as a value that can be sent to a worker on any machine."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course.borrowed_exercises import ExerciseOfOtherChapter, empty_chapter
from autograder.course.chapter_model import Chapter
from autograder.course.chapter_reader import read_chapter
from autograder.course.course_location import ANSWERS, EXERCISES, INSTRUMENTS, SHIPPED, chapter_path
from autograder.course.points_and_hints import OWN_POINTS, POINTS, IndexedChapter, decode_index
from autograder.errors import CourseNotFound
from autograder.files import sha256_of_texts
from autograder.grading.bug_hunts_as_exercises import bug_hunt_file_paths, with_exercises_of_other_chapters
from autograder.grading.find_exercises_of_other_chapters import find_exercises_of_other_chapters
from autograder.grading.own_code_questions_as_exercises import expected_observation_paths
from autograder.grading.submission_verdict import qualified_name
from autograder.submission.read_released_cells import starters
from autograder.submission.read_submission import submission_from_files
from autograder.submission.submission import Submission, SubmittedFiles

_PACKAGE = Path(__file__).resolve().parents[1]
_LISTS = (f"{SHIPPED}/{POINTS}", f"{SHIPPED}/{OWN_POINTS}")
_EYE = "for a person's eye"  # separates two lists in a digest: moving a sentence from one to the other changes it
# Folders of this package that no verdict depends on: a change in one of them does not make verdicts outdated.
ROOMS_THAT_JUDGE_NOTHING = ("authoring", "cli", "lms", "nbgrader_plugin", "reports", "workspace")


@dataclass(frozen=True)
class NonExerciseCells:
    """The cells of an assignment that have points in nbgrader's gradebook and are no exercises of the course.

    `tests` maps the name of each test cell to its text, hidden tests included, and `points` to its points. `others`
    maps the cells and tasks that a person scores to their maximum points. `seconds` limits the run of each cell.
    """

    tests: Mapping[str, str]
    points: Mapping[str, float]
    others: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 30.0

    @cached_property
    def digest(self) -> str:
        """Return a digest of all fields."""
        plain = (dict(self.tests), dict(self.points), dict(self.others), self.seconds)
        return sha256_of_texts(json.dumps(plain, sort_keys=True))


@dataclass(frozen=True)
class Assignment:
    """A chapter to grade: its source files and its released notebook, compressed.

    `texts` holds the chapter, its answer bank and the exercises by their paths within the course folder. `course` is
    that folder; the sandbox hides it from students' code. `unconfined` means that students' code runs outside of the
    sandbox. `grader` is the digest of this package and the version of torch; `digest` covers everything, except for
    the submission, on which a verdict depends. `lent` are the exercises that the notebook borrows from other chapters;
    `texts` contains their files too. `own` are the graded cells that are no exercises, and `files` the files beside the
    notebook by name.

    An assignment with several notebooks, or with one whose name is not the assignment's, has one assignment per
    notebook in `parts`; in each of these, `within` is the name of the whole assignment. The whole one has the `lent`
    exercises of all parts.
    """

    stem: str
    course: str
    unconfined: bool
    grader: str
    digest: str
    texts: dict[str, bytes] = field(repr=False, compare=False)
    release: bytes = field(repr=False, compare=False)
    own: NonExerciseCells | None = field(default=None, repr=False, compare=False)
    lent: tuple[ExerciseOfOtherChapter, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False, compare=False)
    parts: tuple[Assignment, ...] = field(default=(), repr=False, compare=False)
    within: str = ""

    @property
    def whole(self) -> str:
        """Return the name of the whole assignment, also for one notebook of several."""
        return self.within or self.stem

    @property
    def place(self) -> str:
        """Return the name that is unique among chapters: ASSIGNMENT/NOTEBOOK for one notebook of several.

        Such a notebook may have the name of a chapter without being that chapter.
        """
        return qualified_name(self.within, self.stem) if self.within else self.stem

    @property
    def notebooks(self) -> dict[str, Assignment]:
        """Map the name of each notebook to its assignment."""
        return {each.stem: each for each in self.parts or (self,)}

    @property
    def points(self) -> dict[str, float]:
        """Map each test cell, under the name that verdicts use, to its points."""
        return self._of_all(lambda own: own.points)

    @property
    def by_hand(self) -> dict[str, float]:
        """Map each cell or task that a person scores, under the name that verdicts use, to its maximum points."""
        return self._of_all(lambda own: own.others)

    def _of_all(self, asked: Callable[[NonExerciseCells], Mapping[str, float]]) -> dict[str, float]:
        if not self.parts:
            return dict(asked(self.own)) if self.own else {}
        return {
            qualified_name(each.stem, name): most for each in self.parts for name, most in each._of_all(asked).items()
        }

    def with_notebooks(self, parts: Iterable[Assignment]) -> Assignment:
        """Return a copy that has these notebooks."""
        parts = tuple(parts)
        lent = tuple(lent for each in parts for lent in each.lent)
        return replace(self, parts=parts, lent=lent, digest=sha256_of_texts(*(each.digest for each in parts)))

    def with_non_exercise_cells(self, own: NonExerciseCells | None, files: Mapping[str, bytes]) -> Assignment:
        """Return a copy with these graded cells that are no exercises, and with these files beside the notebook."""
        beside = (part for file in sorted(files.items()) for part in file)
        return replace(
            self, own=own, files=files, digest=sha256_of_texts(self.digest, own.digest if own else "", *beside)
        )

    @property
    def is_chapter(self) -> bool:
        """Return whether a chapter of the course has this name."""
        return relative_chapter_path(self.place) in self.texts

    @property
    def has_exercises(self) -> bool:
        """Return whether the notebook contains exercises, of its own chapter or borrowed ones."""
        return self.is_chapter or bool(self.lent)

    @property
    def homes(self) -> dict[str, str]:
        """Map each borrowed exercise to the stem of its chapter."""
        return {each.name: each.home for each in self.lent}

    def chapter(self) -> Chapter:
        """Return a chapter with all exercises of the notebook, borrowed ones included; raise CourseError."""
        course = Path(self.course)
        own = read_chapter(chapter_path(course, self.place)) if self.is_chapter else empty_chapter(self.place, "")
        return with_exercises_of_other_chapters(own, course, self.lent)

    def key(self, parcel: SubmittedFiles) -> str:
        """Return the key of the verdict on a submission; it changes with the submission and with the assignment."""
        return sha256_of_texts(self.digest, parcel.digest, parcel.trouble, *parcel.notes, _EYE, *parcel.eye)

    @cached_property
    def listed(self) -> tuple[IndexedChapter, ...]:
        """Return the chapters of the course; empty if `make build` has not written the list of exercises yet."""
        packed = (self.texts[name] for name in _LISTS if name in self.texts)
        return tuple(chapter for each in packed for chapter in decode_index(zlib.decompress(each)))

    def read(self, parcel: SubmittedFiles, release: NotebookNode) -> Submission:
        """Read a submission; `release` is the notebook that `released` returns."""
        found = submission_from_files(parcel, release, self.listed, as_it_stands=not self.has_exercises)
        return replace(found, files={**found.files, **self.files})

    def released(self) -> NotebookNode:
        """Return the released notebook; each call parses it."""
        notebook: NotebookNode = nbformat.reads(zlib.decompress(self.release).decode(), as_version=4)
        return notebook


def read_assignment(course: Path, stem: str, *, unconfined: bool, given: Path | None = None) -> Assignment:
    """Read the assignment `stem` of a course folder; raise CourseNotFound if a file is missing.

    `given` is the path of the released notebook, if it is not the one in nbgrader's `release/`.
    """
    course = course.resolve()
    if not (course / "source" / stem).is_dir():
        _existing(chapter_path(course, stem), "Is the name right?")
    names = released_notebook_names(course, stem) if given is None else ()
    if names:
        paths = (course / "release" / stem / f"{name}.ipynb" for name in names)
        parts = (replace(_made(course, stem, path, unconfined), stem=path.stem, within=stem) for path in paths)
        return Assignment(stem, str(course), unconfined, grader_digest(), "", {}, b"").with_notebooks(parts)
    return _made(course, stem, given or _release(course, stem), unconfined)


def released_notebook_names(course: Path, stem: str) -> tuple[str, ...]:
    """Return the names of the released notebooks; empty for a chapter, or for one notebook of the assignment's name."""
    names = tuple(path.stem for path in sorted((course / "release" / stem).glob("*.ipynb")))
    return () if names == (stem,) or chapter_path(course, stem).is_file() else names


def _made(course: Path, stem: str, given: Path, unconfined: bool) -> Assignment:
    release = given.read_bytes()
    lent = _lent(course, stem, release)
    texts = {path.relative_to(course).as_posix(): path.read_bytes() for path in _texts(course, stem, lent)}
    digest = sha256_of_texts(*texts, *texts.values(), release, grader_digest(), str(unconfined))
    packed = {name: zlib.compress(text) for name, text in texts.items()}
    return Assignment(stem, str(course), unconfined, grader_digest(), digest, packed, zlib.compress(release), lent=lent)


def relative_chapter_path(stem: str) -> str:
    """Return the path of a chapter relative to the course folder, which is the same on every machine."""
    return chapter_path(Path(), stem).as_posix()


def _lent(course: Path, stem: str, release: bytes) -> tuple[ExerciseOfOtherChapter, ...]:
    """Return the exercises that a notebook borrows from other chapters; none if the course has no exercise list."""
    listed = [chapter for path in _lists(course) for chapter in decode_index(path.read_bytes())]
    return find_exercises_of_other_chapters(_parsed_release(release), stem, listed) if listed else ()


def _lists(course: Path) -> list[Path]:
    """Return the files that list the exercises of a course, as far as there are any."""
    return [path for name in _LISTS if (path := course / name).is_file()]


def _texts(course: Path, stem: str, lent: Sequence[ExerciseOfOtherChapter]) -> list[Path]:
    """Return the paths of the course files on which a verdict depends.

    These are the chapters of the exercises with their answer banks, all exercise files (they may import each other),
    the instruments of lessons, the programs of hunts, what asking needs, and the list of exercises. Without exercises
    it is the list.
    """
    stems = [each for each in sorted({stem, *(each.home for each in lent)}) if chapter_path(course, each).is_file()]
    if not stems:
        return _lists(course)
    return [
        *(chapter_path(course, each) for each in stems),
        *(path for each in stems for path in sorted((course / ANSWERS / each).glob("*.py"))),
        *sorted((course / EXERCISES).rglob("*.py")),
        *(path for path in (course / INSTRUMENTS, *bug_hunt_file_paths(course, lent)) if path.is_file()),
        *expected_observation_paths(course, lent),
        *_lists(course),
    ]


def release_path(course: Path, stem: str) -> Path:
    """Return the path where nbgrader keeps the released notebook."""
    return course / "release" / stem / f"{stem}.ipynb"


def released_or_committed_path(course: Path, stem: str) -> Path:
    """Return the path of the released notebook, or of its committed copy in a clone without a release.

    Do not grade with the copy: nbgrader's gradebook fits only the release that was made together with it.
    """
    released, committed = release_path(course, stem), course.resolve().parent / "notebooks" / f"{stem}.ipynb"
    return committed if committed.is_file() and not released.is_file() else _release(course, stem)


def released_starters(course: Path, stem: str) -> dict[str, str]:
    """Map each solution cell of the released notebook to its text; raise CourseNotFound without a release."""
    path = _release(course, stem)
    return _starters(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _starters(release: Path, _changed: int) -> dict[str, str]:
    return starters(_parsed_release(release.read_bytes()))


@lru_cache(maxsize=4)
def _parsed_release(release: bytes) -> NotebookNode:
    """Return the parsed notebook, cached; callers must not change it. Parsing takes as long as grading two students."""
    notebook: NotebookNode = nbformat.reads(release.decode(), as_version=4)
    return notebook


@lru_cache(maxsize=1)
def grader_digest() -> str:
    """Return a digest of the source files of this package on which verdicts depend, and of the version of torch."""
    return sha256_of_texts(
        version("torch"), *(path.read_bytes() for path in sorted(_PACKAGE.rglob("*.py")) if _grades(path))
    )


def _grades(path: Path) -> bool:
    return path.relative_to(_PACKAGE).parts[0] not in ROOMS_THAT_JUDGE_NOTHING


def _release(course: Path, stem: str) -> Path:
    has_source = (course / "source" / stem).is_dir()
    command = f"nbgrader generate_assignment {stem}" if has_source else "make build"
    return _existing(release_path(course, stem), f"Run `{command}`.")


def _existing(path: Path, advice: str) -> Path:
    if not path.is_file():
        raise CourseNotFound(f"expected {path}, found no such file. {advice}")
    return path
