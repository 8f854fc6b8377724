"""The parts of an exercise, and whether each has its mirror: the cells in a chapter, its file, its answer bank."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from autograder.course.chapter_cells import Chapter
from autograder.course.course import slip
from autograder.course.course_location import ANSWERS, CHAPTERS, EXERCISES, bank_path, chapter_path
from autograder.errors import CourseError, ExerciseError, UnknownExercise

_CELL = re.compile(r'^# %%[^\n]*\bexercise="(\w+)"', re.MULTILINE)


@dataclass(frozen=True)
class ExerciseParts:
    """Where the parts of one exercise are written."""

    course: Path
    stem: str
    name: str

    @property
    def chapter(self) -> Path:
        """The file with its cells."""
        return chapter_path(self.course, self.stem)

    @property
    def exercise(self) -> Path:
        """Its own file: requirements, cases, hints."""
        return self.course / EXERCISES / self.stem / f"{self.name}.py"

    @property
    def bank(self) -> Path:
        """Its answers."""
        return bank_path(self.course, self.stem, self.name)


def parts_of(course: Path, name: str) -> ExerciseParts:
    """The parts of the exercise of this name, one of which at least is there; raises UnknownExercise, ExerciseError."""
    there = list(every_part(course))
    found = [parts for parts in there if parts.name == name]
    if not found:
        raise UnknownExercise(name, dict.fromkeys(parts.name for parts in there))
    stems = sorted({parts.stem for parts in found})
    if len(stems) > 1:
        chapters = " and in ".join(stems)
        raise ExerciseError(f"the exercise {name!r} stands in {chapters}; give one of them another name.")
    return found[0]


@contextmanager
def slips_told(course: Path) -> Iterator[None]:
    """Tell what goes wrong in the course's own files as an ExerciseError of one line; other errors stay as they are."""
    try:
        yield
    except CourseError:
        raise
    except Exception as error:
        if told := slip(error, course):
            raise ExerciseError(told) from error
        raise


def check_parts(course: Path, chapter: Chapter, only: str | None = None) -> None:
    """Raise ExerciseError, with a line for each, where an exercise of a chapter has not all its parts."""
    names = {parts.name for parts in _beside(course, chapter.stem)} | set(chapter.exercises) if only is None else {only}
    if found := [line for name in sorted(names) for line in missing(course, chapter, name)]:
        raise ExerciseError("\n".join(found))


def check_folders(course: Path, stems: set[str]) -> None:
    """Raise ExerciseError where exercises or answers stand in a folder of no chapter."""
    found = [
        f"{folder.relative_to(course.parent)}: there is no chapter {folder.name!r}; "
        f"write {course.name}/chapters/{folder.name}.py, or rename the folder."
        for kind in (EXERCISES, ANSWERS)
        for folder in sorted((course / kind).glob("[!_.]*/"))
        if folder.name not in stems and any(folder.glob("[!_]*.py"))
    ]
    if found:
        raise ExerciseError("\n".join(found))


def missing(course: Path, chapter: Chapter, name: str) -> Iterator[str]:
    """A line for each part of an exercise that is not there: the file, and what to write."""
    parts = ExerciseParts(course, chapter.stem, name)
    in_chapter, has_file, has_bank = name in chapter.exercises, parts.exercise.is_file(), parts.bank.is_file()
    if not in_chapter and has_file:
        yield (
            f"{shown(parts, parts.exercise)}: {chapter.where} has no exercise {name!r}; "
            f'write its cells there, exercise="{name}" and check="{name}", or delete the file.'
        )
    if not in_chapter and has_bank:
        yield (
            f"{shown(parts, parts.bank)}: answers to {name!r}, which is no exercise of {chapter.where}"
            f"{_nearest(name, chapter)}; rename or delete the file."
        )
    if in_chapter and not has_file:
        yield (
            f"{shown(parts, parts.exercise)}: not there{_misnamed(parts.exercise, chapter)}; "
            f"write the requirements, cases and hints of {name!r}."
        )
    if in_chapter and not has_bank:
        yield (
            f"{shown(parts, parts.bank)}: not there{_misnamed(parts.bank, chapter)}; "
            f'write `bank = AnswerBank("{name}")`, wrong and right answers.'
        )
    if has_file:
        yield from _twice(parts)


def _twice(parts: ExerciseParts) -> Iterator[str]:
    """A line where the exercise's function is written twice in its file: Python keeps the last one, silently."""
    text = parts.exercise.read_text(encoding="utf-8", errors="replace")
    lines = [text.count("\n", 0, found.start()) + 1 for found in re.finditer(rf"^def {parts.name}\b", text, re.M)]
    if len(lines) > 1:
        at = " and ".join(map(str, lines))
        yield (
            f"{shown(parts, parts.exercise)}:{lines[-1]}: `def {parts.name}` stands on lines {at}; "
            "keep one, and give what only helps another name."
        )


def _misnamed(path: Path, chapter: Chapter) -> str:
    """The file that seems to be meant: one beside it with nearly its name, which is of no exercise of the chapter."""
    others = [other.stem for other in path.parent.glob("[!_]*.py") if other.stem not in chapter.exercises]
    close = difflib.get_close_matches(path.stem, others, n=1, cutoff=0.5)
    return f" (is {close[0]}.py meant for it?)" if close else ""


def shown(parts: ExerciseParts, path: Path) -> str:
    """A path as it is told: from the project's folder on."""
    return path.relative_to(parts.course.parent).as_posix()


def _nearest(name: str, chapter: Chapter) -> str:
    close = difflib.get_close_matches(name, chapter.exercises, n=1, cutoff=0.5)
    return f" (is it {close[0]!r}?)" if close else ""


def every_part(course: Path) -> Iterator[ExerciseParts]:
    """What there is of exercises: first those with cells, then those with a file, then those with a bank."""
    for path in sorted((course / CHAPTERS).glob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")  # also where it cannot be read as a chapter
        yield from (ExerciseParts(course, path.stem, name) for name in _CELL.findall(text))
    for kind in (EXERCISES, ANSWERS):
        for folder in sorted((course / kind).glob("[!_.]*/")):
            yield from (ExerciseParts(course, folder.name, path.stem) for path in sorted(folder.glob("[!_]*.py")))


def _beside(course: Path, stem: str) -> Iterator[ExerciseParts]:
    for kind in (EXERCISES, ANSWERS):
        for path in (course / kind / stem).glob("[!_]*.py"):
            yield ExerciseParts(course, stem, path.stem)
