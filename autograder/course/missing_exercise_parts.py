"""The three parts of an exercise (cells in a chapter, its own file, its answer bank), and checks for missing ones."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from autograder.course.chapter_model import Chapter
from autograder.course.course import format_course_file_error
from autograder.course.course_location import ANSWERS, CHAPTERS, EXERCISES, bank_file, chapter_path
from autograder.errors import CourseError, ExerciseError, UnknownExercise

_CELL = re.compile(r'^# %%[^\n]*\bexercise="(\w+)"', re.MULTILINE)


@dataclass(frozen=True)
class ExerciseParts:
    """The paths of the parts of one exercise."""

    course: Path
    stem: str
    name: str

    @property
    def chapter(self) -> Path:
        """Return the path of the chapter with its cells."""
        return chapter_path(self.course, self.stem)

    @property
    def exercise(self) -> Path:
        """Return the path of its own file: requirements, cases, hints."""
        return self.course / EXERCISES / self.stem / f"{self.name}.py"

    @property
    def bank(self) -> Path:
        """Return the path of its answer bank."""
        return bank_file(self.course, self.stem, self.name)


def parts_of(course: Path, name: str) -> ExerciseParts:
    """Return the parts of the exercise of this name, of which at least one exists.

    Raise UnknownExercise if none does, and ExerciseError if two chapters have an exercise of this name.
    """
    there = list(exercises_with_any_part(course))
    found = [parts for parts in there if parts.name == name]
    if not found:
        raise UnknownExercise(name, dict.fromkeys(parts.name for parts in there))
    stems = sorted({parts.stem for parts in found})
    if len(stems) > 1:
        chapters = " and in ".join(stems)
        raise ExerciseError(f"the exercise {name!r} stands in {chapters}; give one of them another name.")
    return found[0]


@contextmanager
def as_exercise_errors(course: Path) -> Iterator[None]:
    """Turn an error raised in the course's own files into an ExerciseError of one line; pass on all other errors."""
    try:
        yield
    except CourseError:
        raise
    except Exception as error:
        if message := format_course_file_error(error, course):
            raise ExerciseError(message) from error
        raise


def check_parts(course: Path, chapter: Chapter, only: str | None = None) -> None:
    """Raise ExerciseError, with one line per missing part, if exercises of a chapter lack parts.

    `only` names the one exercise to check.
    """
    names = {parts.name for parts in _beside(course, chapter.stem)} | set(chapter.exercises) if only is None else {only}
    if found := [line for name in sorted(names) for line in missing_parts(course, chapter, name)]:
        raise ExerciseError("\n".join(found))


def check_folders_have_chapters(course: Path, stems: set[str]) -> None:
    """Raise ExerciseError if a folder of exercises or answers has no chapter of its name."""
    found = [
        f"{folder.relative_to(course.parent)}: there is no chapter {folder.name!r}; "
        f"write {course.name}/chapters/{folder.name}.py, or rename the folder."
        for kind in (EXERCISES, ANSWERS)
        for folder in sorted((course / kind).glob("[!_.]*/"))
        if folder.name not in stems and any(folder.glob("[!_]*.py"))
    ]
    if found:
        raise ExerciseError("\n".join(found))


def missing_parts(course: Path, chapter: Chapter, name: str) -> Iterator[str]:
    """Yield a line for each missing part of an exercise: the file, and what to write."""
    parts = ExerciseParts(course, chapter.stem, name)
    in_chapter, has_file, has_bank = name in chapter.exercises, parts.exercise.is_file(), parts.bank.is_file()
    if not in_chapter and has_file:
        yield (
            f"{display_path(parts, parts.exercise)}: {chapter.where} has no exercise {name!r}; "
            f'write its cells there, exercise="{name}" and check="{name}", or delete the file.'
        )
    if not in_chapter and has_bank:
        yield (
            f"{display_path(parts, parts.bank)}: answers to {name!r}, which is no exercise of {chapter.where}"
            f"{_nearest(name, chapter)}; rename or delete the file."
        )
    if in_chapter and not has_file:
        yield (
            f"{display_path(parts, parts.exercise)}: not there{_misnamed(parts.exercise, chapter)}; "
            f"write the requirements, cases and hints of {name!r}."
        )
    if in_chapter and not has_bank:
        yield (
            f"{display_path(parts, parts.bank)}: not there{_misnamed(parts.bank, chapter)}; "
            f'write `bank = AnswerBank("{name}")`, wrong and right answers.'
        )
    if has_file:
        yield from _twice(parts)


def _twice(parts: ExerciseParts) -> Iterator[str]:
    """Yield a line if the exercise's function is defined twice in its file: Python silently keeps the last one."""
    text = parts.exercise.read_text(encoding="utf-8", errors="replace")
    lines = [text.count("\n", 0, found.start()) + 1 for found in re.finditer(rf"^def {parts.name}\b", text, re.M)]
    if len(lines) > 1:
        at = " and ".join(map(str, lines))
        yield (
            f"{display_path(parts, parts.exercise)}:{lines[-1]}: `def {parts.name}` stands on lines {at}; "
            "keep one, and give what only helps another name."
        )


def _misnamed(path: Path, chapter: Chapter) -> str:
    """Return a question about a file of similar name in the same folder that belongs to no exercise; else ""."""
    others = [other.stem for other in path.parent.glob("[!_]*.py") if other.stem not in chapter.exercises]
    close = difflib.get_close_matches(path.stem, others, n=1, cutoff=0.5)
    return f" (is {close[0]}.py meant for it?)" if close else ""


def display_path(parts: ExerciseParts, path: Path) -> str:
    """Return a path for a message, relative to the project's folder."""
    return path.relative_to(parts.course.parent).as_posix()


def _nearest(name: str, chapter: Chapter) -> str:
    close = difflib.get_close_matches(name, chapter.exercises, n=1, cutoff=0.5)
    return f" (is it {close[0]!r}?)" if close else ""


def exercises_with_any_part(course: Path) -> Iterator[ExerciseParts]:
    """Yield the exercises with cells in a chapter, then those with a file, then those with an answer bank.

    An exercise with all three parts is yielded three times.
    """
    for path in sorted((course / CHAPTERS).glob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")  # works for an invalid chapter, too
        yield from (ExerciseParts(course, path.stem, name) for name in _CELL.findall(text))
    for kind in (EXERCISES, ANSWERS):
        for folder in sorted((course / kind).glob("[!_.]*/")):
            yield from (ExerciseParts(course, folder.name, path.stem) for path in sorted(folder.glob("[!_]*.py")))


def _beside(course: Path, stem: str) -> Iterator[ExerciseParts]:
    for kind in (EXERCISES, ANSWERS):
        for path in (course / kind / stem).glob("[!_]*.py"):
            yield ExerciseParts(course, stem, path.stem)
