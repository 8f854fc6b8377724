"""What grading a chapter takes, by value: what a worker is sent, on this machine or on another."""

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

from autograder.course.borrowed_exercises import BorrowedExercise, empty_chapter, with_borrowed
from autograder.course.chapter_cells import Chapter
from autograder.course.chapter_reader import read_chapter
from autograder.course.course_location import ANSWERS, CHAPTERS, EXERCISES, INSTRUMENTS, SHIPPED, chapter_path
from autograder.course.exercise_index import POINTS, IndexedChapter, decode
from autograder.errors import CourseNotFound
from autograder.files import digest_of
from autograder.grading.requested_exercises import lent_in
from autograder.grading.submission_verdict import in_notebook
from autograder.submission.read_submission import read_parcel
from autograder.submission.released_cells import starters
from autograder.submission.submission import StudentFiles, Submission

_PACKAGE = Path(__file__).resolve().parents[1]
LIST = f"{SHIPPED}/{POINTS}"
_EYE = "for a person's eye"  # stands between two lists, so that a sentence moved from one to the other is seen
# Rooms that no verdict depends on: after a change in one of them, nothing has to be graded again.
BESIDE = ("authoring", "cli", "lms", "nbgrader_plugin", "reports", "workspace")


@dataclass(frozen=True)
class OwnCells:
    """What nbgrader grades in an assignment beside a chapter's exercises, as its gradebook has it.

    `tests` are the texts of the test cells, hidden tests included, and `points` what each is worth; `others` are the
    cells and tasks that a person scores, and their most points. A cell may compute for so many `seconds`.
    """

    tests: Mapping[str, str]
    points: Mapping[str, float]
    others: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 30.0

    @cached_property
    def digest(self) -> str:
        """What stands for all of it."""
        plain = (dict(self.tests), dict(self.points), dict(self.others), self.seconds)
        return digest_of(json.dumps(plain, sort_keys=True))


@dataclass(frozen=True)
class Assignment:
    """A chapter as it is graded: the texts that it is made of and the released notebook, each compressed.

    `texts` are the chapter, its answer bank and the exercises, by their place in the course's folder; `course` is the
    folder they came from, which students' code must not see. `unconfined` says that students' code
    may do what its user may do. `grader` stands for this package and the version of torch; `digest` for everything
    that a verdict depends on beside what was handed in. `lent` are the exercises of other chapters that it checks,
    whose texts are there too. What it has beside exercises are its `own` cells; `files` lie beside the notebook.

    Where it has several notebooks, or one of another name, they are its `parts`, each an assignment of its own, which
    is `within` the whole; then `lent` are those of all of them.
    """

    stem: str
    course: str
    unconfined: bool
    grader: str
    digest: str
    texts: dict[str, bytes] = field(repr=False, compare=False)
    release: bytes = field(repr=False, compare=False)
    own: OwnCells | None = field(default=None, repr=False, compare=False)
    lent: tuple[BorrowedExercise, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False, compare=False)
    parts: tuple[Assignment, ...] = field(default=(), repr=False, compare=False)
    within: str = ""

    @property
    def whole(self) -> str:
        """The name of the assignment, for a notebook within one too."""
        return self.within or self.stem

    @property
    def place(self) -> str:
        """What it is called among chapters: a notebook within an assignment may have a chapter's name."""
        return in_notebook(self.within, self.stem) if self.within else self.stem

    @property
    def notebooks(self) -> dict[str, Assignment]:
        """Its notebooks, each as an assignment, by name."""
        return {each.stem: each for each in self.parts or (self,)}

    @property
    def points(self) -> dict[str, float]:
        """What its test cells are worth, by the names that verdicts have for them."""
        return self._of_all(lambda own: own.points)

    @property
    def by_hand(self) -> dict[str, float]:
        """What the cells and tasks are worth that a person scores, likewise."""
        return self._of_all(lambda own: own.others)

    def _of_all(self, asked: Callable[[OwnCells], Mapping[str, float]]) -> dict[str, float]:
        if not self.parts:
            return dict(asked(self.own)) if self.own else {}
        return {in_notebook(each.stem, name): most for each in self.parts for name, most in each._of_all(asked).items()}

    def with_parts(self, parts: Iterable[Assignment]) -> Assignment:
        """This assignment with several notebooks."""
        parts = tuple(parts)
        lent = tuple(lent for each in parts for lent in each.lent)
        return replace(self, parts=parts, lent=lent, digest=digest_of(*(each.digest for each in parts)))

    def with_own(self, own: OwnCells | None, files: Mapping[str, bytes]) -> Assignment:
        """This assignment with cells that are no exercises, where there are any, and files beside the notebook."""
        beside = (part for file in sorted(files.items()) for part in file)
        return replace(self, own=own, files=files, digest=digest_of(self.digest, own.digest if own else "", *beside))

    @property
    def is_chapter(self) -> bool:
        """Whether there is a chapter's file, and exercises with it."""
        return chapter_text(self.place) in self.texts

    @property
    def has_exercises(self) -> bool:
        """Whether anything in it is judged outside: a chapter's exercises, or those that are lent to it."""
        return self.is_chapter or bool(self.lent)

    @property
    def homes(self) -> dict[str, str]:
        """The chapters of the exercises that are lent to it, by exercise."""
        return {each.name: each.home for each in self.lent}

    def chapter(self) -> Chapter:
        """Its exercises as a chapter, those that are lent to it among them; raises CourseError."""
        course = Path(self.course)
        own = read_chapter(chapter_path(course, self.place)) if self.is_chapter else empty_chapter(self.place, "")
        return with_borrowed(own, course, self.lent)

    def key(self, parcel: StudentFiles) -> str:
        """The name of the verdict on what a student handed in: another parcel or another chapter, another key."""
        return digest_of(self.digest, parcel.digest, parcel.trouble, *parcel.notes, _EYE, *parcel.eye)

    @cached_property
    def listed(self) -> tuple[IndexedChapter, ...]:
        """The chapters of the course; none where it has no list yet."""
        packed = self.texts.get(LIST)
        return decode(zlib.decompress(packed)) if packed else ()

    def read(self, parcel: StudentFiles, release: NotebookNode) -> Submission:
        """Read what was handed in; `release` is what `released` gives."""
        found = read_parcel(parcel, release, self.listed, as_it_stands=not self.has_exercises)
        return replace(found, files={**found.files, **self.files})

    def released(self) -> NotebookNode:
        """The notebook that students were given."""
        notebook: NotebookNode = nbformat.reads(zlib.decompress(self.release).decode(), as_version=4)
        return notebook


def assignment(course: Path, stem: str, *, unconfined: bool, given: Path | None = None) -> Assignment:
    """Read a chapter of a course folder; raises CourseNotFound where a part is missing.

    `given` is the notebook that students were given, where that is not nbgrader's release.
    """
    course = course.resolve()
    if not (course / "source" / stem).is_dir():
        _there(chapter_path(course, stem), "Is the name right?")
    names = several_released(course, stem) if given is None else ()
    if names:
        paths = (course / "release" / stem / f"{name}.ipynb" for name in names)
        parts = (replace(_made(course, stem, path, unconfined), stem=path.stem, within=stem) for path in paths)
        return Assignment(stem, str(course), unconfined, grader_digest(), "", {}, b"").with_parts(parts)
    return _made(course, stem, given or _release(course, stem), unconfined)


def several_released(course: Path, stem: str) -> tuple[str, ...]:
    """The notebooks that were given out, unless it is the one of the assignment's name; a chapter has no other."""
    names = tuple(path.stem for path in sorted((course / "release" / stem).glob("*.ipynb")))
    return () if names == (stem,) or chapter_path(course, stem).is_file() else names


def _made(course: Path, stem: str, given: Path, unconfined: bool) -> Assignment:
    release = given.read_bytes()
    lent = _lent(course, stem, release)
    texts = {path.relative_to(course).as_posix(): path.read_bytes() for path in _texts(course, stem, lent)}
    digest = digest_of(*texts, *texts.values(), release, grader_digest(), str(unconfined))
    packed = {name: zlib.compress(text) for name, text in texts.items()}
    return Assignment(stem, str(course), unconfined, grader_digest(), digest, packed, zlib.compress(release), lent=lent)


def assignments_in(course: Path) -> list[str]:
    """The chapters and the assignments of a course's folder, by name."""
    found = {path.stem for path in (course / CHAPTERS).glob("*.py")}
    found |= {path.name for step in ("source", "release") for path in (course / step).glob("*") if path.is_dir()}
    return sorted(name for name in found if not name.startswith(("_", ".")))


def chapter_text(stem: str) -> str:
    """Where the text of a chapter is, from a course's folder on: what stands for it on another machine too."""
    return chapter_path(Path(), stem).as_posix()


def _lent(course: Path, stem: str, release: bytes) -> tuple[BorrowedExercise, ...]:
    """The exercises of other chapters in a released notebook; none where the course has no list of its exercises."""
    listed = (course / LIST).read_bytes() if (course / LIST).is_file() else b""
    return lent_in(_looked_at(release), stem, decode(listed)) if listed else ()


def _texts(course: Path, stem: str, lent: Sequence[BorrowedExercise]) -> list[Path]:
    """What a verdict depends on: each chapter of an exercise, its answer bank, all exercises, for these may share
    something, what lessons look at things with, and what chapters there are. Without exercises, this last alone.
    """
    stems = [each for each in sorted({stem, *(each.home for each in lent)}) if chapter_path(course, each).is_file()]
    if not stems:
        return [path for path in (course / LIST,) if path.is_file()]
    return [
        *(chapter_path(course, each) for each in stems),
        *(path for each in stems for path in sorted((course / ANSWERS / each).glob("*.py"))),
        *sorted((course / EXERCISES).rglob("*.py")),
        *(path for path in (course / INSTRUMENTS, course / LIST) if path.is_file()),
    ]


def release_path(course: Path, stem: str) -> Path:
    """Where nbgrader keeps the notebook that students were given."""
    return course / "release" / stem / f"{stem}.ipynb"


def given_path(course: Path, stem: str) -> Path:
    """The notebook that students were given: nbgrader's release, or in a clone that has none yet, its committed copy.

    Not for grading: nbgrader's gradebook and its release are made together.
    """
    released, committed = release_path(course, stem), course.resolve().parent / "notebooks" / f"{stem}.ipynb"
    return committed if committed.is_file() and not released.is_file() else _release(course, stem)


def released_starters(course: Path, stem: str) -> dict[str, str]:
    """The solution cells of the notebook that students were given; raises CourseNotFound where there is none."""
    path = _release(course, stem)
    return _starters(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _starters(release: Path, _changed: int) -> dict[str, str]:
    return starters(_looked_at(release.read_bytes()))


@lru_cache(maxsize=4)
def _looked_at(release: bytes) -> NotebookNode:
    """A released notebook that nobody changes: to read one takes as long as to grade two."""
    notebook: NotebookNode = nbformat.reads(release.decode(), as_version=4)
    return notebook


@lru_cache(maxsize=1)
def grader_digest() -> str:
    """What stands for the grader itself: the text of this package, and the version of torch."""
    return digest_of(version("torch"), *(path.read_bytes() for path in sorted(_PACKAGE.rglob("*.py")) if _grades(path)))


def _grades(path: Path) -> bool:
    return path.relative_to(_PACKAGE).parts[0] not in BESIDE


def _release(course: Path, stem: str) -> Path:
    has_source = (course / "source" / stem).is_dir()
    command = f"nbgrader generate_assignment {stem}" if has_source else "make build"
    return _there(release_path(course, stem), f"Run `{command}`.")


def _there(path: Path, advice: str) -> Path:
    if not path.is_file():
        raise CourseNotFound(f"expected {path}, found no such file. {advice}")
    return path
