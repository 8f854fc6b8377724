"""`Course`: read a course from its folder: its exercises, points, hints, expected observations, figures and cards."""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Iterator
from functools import cache, cached_property
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from autograder.course import points_and_hints
from autograder.course.course_location import (
    ARRANGED,
    CARDS,
    EXERCISES,
    FIGURES,
    REVIEW_QUESTIONS,
    SHIPPED,
    chapter_module_path,
    course_of_notebook,
)
from autograder.course.points_and_hints import IndexedChapter
from autograder.errors import DamagedData, ExerciseError, UnknownExercise

if TYPE_CHECKING:  # these import torch, which recording grades does not need
    from types import ModuleType

    from autograder.diagnosis.expected_observations import ExpectedObservations
    from autograder.exercises.exercise import Exercise, ExerciseSet


class Course:
    """The course in a folder. Each file is read when it is first needed, and only once. Make one with `course_in`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.begun = time()  # a file written later may differ from what was read
        self._sets: dict[str, ExerciseSet] = {}
        self._hints: dict[str, dict[str, tuple[str, ...]]] = {}

    @property
    def stems(self) -> list[str]:
        """Return the stems of the chapters that have exercises, in order."""
        folder = self.folder / EXERCISES
        return sorted(path.name for path in folder.glob("[!_.]*") if (path / "__init__.py").is_file())

    def exercises(self, stem: str) -> ExerciseSet:
        """Return the exercises of one chapter; raise UnknownExercise if there is no such chapter."""
        if stem not in self._sets:
            if stem not in self.stems:
                raise UnknownExercise(stem, self.stems)
            self._sets[stem] = self._read(stem)
        return self._sets[stem]

    def _read(self, stem: str) -> ExerciseSet:
        from autograder.exercises.exercise import ExerciseSet

        return ExerciseSet(stem, map(self._written_in, self._files(stem)))

    def _files(self, stem: str) -> list[Path]:
        return sorted((self.folder / EXERCISES / stem).glob("[!_]*.py"))

    def _written_in(self, path: Path) -> Exercise:
        from autograder.exercises.exercise import Exercise

        try:
            exercise = getattr(self._module(EXERCISES, path.parent.name, path.stem), path.stem, None)
        except ExerciseError as error:
            raise ExerciseError(f"{path}: {error}") from error
        except Exception as error:
            message = (
                format_course_file_error(error, self.folder) or f"{path}: {type(error).__name__}: {error}. Correct it."
            )
            raise ExerciseError(message) from error
        if not isinstance(exercise, Exercise):
            raise ExerciseError(
                f"{path}: expected the exercise {path.stem!r}, found none. Write `@exercise(...)` over "
                f"`def {path.stem}(draw)`; the name of a file that only helps begins with an underscore."
            )
        return exercise

    def exercise(self, stem: str, name: str) -> Exercise:
        """Return one exercise of a chapter; errors in the files of the others do not matter. Raises ExerciseError."""
        path = self.folder / EXERCISES / stem / f"{name}.py"
        return self._written_in(path) if path.is_file() else self.exercises(stem)[name]

    def all_exercises(self) -> Iterator[Exercise]:
        """Iterate over all exercises, chapter by chapter."""
        for stem in self.stems:
            yield from self.exercises(stem)

    def find(self, name: object) -> Exercise:
        """Return the exercise of this name, reading only its file; raise UnknownExercise with similar names."""
        files = [path for stem in self.stems for path in self._files(stem)]
        for path in files:
            if path.stem == name:
                return self._written_in(path)
        raise UnknownExercise(name, [path.stem for path in files])

    def hints(self, stem: str) -> dict[str, tuple[str, ...]]:
        """Return the shipped hints of a chapter, by exercise; empty if it has none. Does not import torch."""
        if stem not in self._hints:
            path = self.folder / SHIPPED / f"{stem}{points_and_hints.HINTS}"
            self._hints[stem] = points_and_hints.read_hints_file(path) if path.is_file() else {}
        return self._hints[stem]

    @cached_property
    def listed(self) -> tuple[IndexedChapter, ...]:
        """Return the chapters in order, with the points of their exercises; raise DamagedData."""
        return points_and_hints.read_index(self.folder / SHIPPED / points_and_hints.POINTS)

    @property
    def exercise_names(self) -> Iterator[str]:
        """Iterate over the names of all listed exercises, chapter by chapter; reads the list at the first one."""
        for chapter in self.listed:
            yield from chapter.exercises

    def keys(self, stem: str) -> dict[str, ExpectedObservations]:
        """Return the expected observations that are shipped for a chapter, by exercise; raise DamagedData."""
        return _shipped_keys(self.folder / SHIPPED, stem)

    def figures(self, stem: str) -> ModuleType:
        """Return the module that draws a chapter's figures."""
        return self._module(FIGURES, chapter_module_path(self.folder, FIGURES, stem).stem)

    def card(self, stem: str) -> ModuleType | None:
        """Return the module with a chapter's card, or None."""
        path = chapter_module_path(self.folder, CARDS, stem)
        return self._module(CARDS, path.stem) if path.is_file() else None

    def review_questions(self) -> list[ModuleType]:
        """Return the modules with questions for later sittings, in order; each has its generators as `questions`."""
        paths = sorted((self.folder / REVIEW_QUESTIONS).glob("[!_]*.py"))
        return [self._module(REVIEW_QUESTIONS, path.stem) for path in paths]

    @property
    def arranged_names(self) -> list[str]:
        """Return the names of the exercises that have lines to put in order."""
        return sorted(path.stem for path in (self.folder / ARRANGED).glob("*.txt"))

    def arranged(self, name: str) -> str:
        """Return the text with the lines to put in order for one exercise."""
        return (self.folder / ARRANGED / f"{name}.txt").read_text(encoding="utf-8")

    def _module(self, *names: str) -> ModuleType:
        return import_module(".".join((self._package, *names)))

    @cached_property
    def _package(self) -> str:
        """Return the package name under which this folder's modules are imported; each folder has its own."""
        name = f"autograder_course_{hashlib.sha256(str(self.folder).encode()).hexdigest()[:12]}"
        if name not in sys.modules:
            spec = ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [str(self.folder)]
            sys.modules[name] = module_from_spec(spec)
        return name


def format_course_file_error(error: Exception, folder: Path) -> str | None:
    """Return a line `path:line: error` for an error raised in a course's file; None if it was raised elsewhere."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: SyntaxError: {error.msg}. Correct it."
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(str(folder))]
    if not frames:
        return None
    return f"{frames[-1].filename}:{frames[-1].lineno}: {type(error).__name__}: {error}. Correct it."


@cache
def course_in(folder: Path) -> Course:
    """Return the course in a folder; the same folder gives the same object."""
    return Course(folder) if folder == folder.resolve() else course_in(folder.resolve())


def current_course() -> Course:
    """Return the course that a notebook in the working directory belongs to; raise CourseNotFound."""
    return course_in(course_of_notebook())


@cache
def _shipped_keys(folder: Path, stem: str) -> dict[str, ExpectedObservations]:
    from autograder.course import shipped_observations

    paths = {suffix: folder / f"{stem}{suffix}" for suffix in shipped_observations.SHIPPED_FILE_SUFFIXES}
    missing = [path.name for path in paths.values() if not path.is_file()]
    if missing:
        raise DamagedData(f"expected {' and '.join(missing)} in {folder}, found none. Run `make build`.")
    return shipped_observations.decode({suffix: path.read_bytes() for suffix, path in paths.items()})
