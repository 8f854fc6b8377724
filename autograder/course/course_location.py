"""Find the course folder, and name the folders and files within it.

The environment variable PYTORCH_BASICS_COURSE decides. Otherwise it is the nearest folder, from the working directory
upwards, that is a course or whose `pyproject.toml` names one (`[tool.pytorch-basics]`, `course = "..."`); otherwise, in
notebooks only, the course that is installed as a package.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from autograder.errors import CourseNotFound

COURSE_VARIABLE = "PYTORCH_BASICS_COURSE"
CHAPTERS, EXERCISES, ANSWERS = "chapters", "exercises", "answers"  # folders that an author writes
FIGURES, SHIPPED = "figures", "shipped"  # modules that draw figures; data that the build writes for students
CARDS, ARRANGED = "cards", "arranged"  # optional: the card after a chapter's last check; lines to put in order
REVIEW_QUESTIONS = "review_questions"  # optional: modules whose `questions` are asked again in later sittings
INSTRUMENTS = "instruments.py"  # a module with helpers that lessons import
INSTALLED = "autograder.courses"  # the group of entry points under which a package offers a course
_CONFIG = "nbgrader_config.py"
_CODE = re.compile(r"ch\d+")


def find_course(start: Path) -> Path:
    """Return the teachers' course folder, which has chapters, at `start` or above it; raise CourseNotFound."""
    named = os.environ.get(COURSE_VARIABLE)
    for folder in [Path(named)] if named else _above(start.resolve()):
        if (folder / _CONFIG).is_file() and (folder / CHAPTERS).is_dir():
            return folder
    where = f"{named} (from {COURSE_VARIABLE})" if named else f"{start} or above it"
    raise CourseNotFound(
        f"expected the course folder, the one with {_CONFIG} and chapters/; found none in {where}. "
        f"Run this in the course's clone, name that with --root, or set {COURSE_VARIABLE} to the folder."
    )


def chapter_path(course: Path, stem: str) -> Path:
    """Return the path of a chapter's source, `chapters/STEM.py`."""
    return course / CHAPTERS / f"{stem}.py"


def chapter_id(stem: str) -> str:
    """Return the code of a sitting's chapter: `ch` and digits, with which its stem begins; else the whole stem."""
    found = _CODE.match(stem)
    return found[0] if found else stem


def chapter_module_path(course: Path, folder: str, stem: str) -> Path:
    """Return the path of a sitting's module in a folder such as `figures`: its own, or the one its chapter shares."""
    own = course / folder / f"{stem}.py"
    shared = own.with_stem(chapter_id(stem))
    return shared if shared.is_file() and not own.is_file() else own


def bank_file(course: Path, chapter: str, exercise: str) -> Path:
    """Return the file with an exercise's known answers: `course/answers/CHAPTER/NAME.py`."""
    return course / ANSWERS / chapter / f"{exercise}.py"


def paths_readable_by_answers(course: Path) -> tuple[Path, ...]:
    """Return the paths that the sandbox lets students' code read, because lessons import them.

    They are the exercises, figures and instruments of this course and of the installed courses.
    """
    return tuple(folder / name for folder in (course, *_installed()) for name in (EXERCISES, FIGURES, INSTRUMENTS))


def course_of_notebook() -> Path:
    """Return the folder of the course that a notebook in the working directory belongs to; raise CourseNotFound."""
    return _course_at(Path.cwd(), os.environ.get(COURSE_VARIABLE))


@cache
def _course_at(start: Path, named: str | None) -> Path:
    for folder in [Path(named)] if named else [*_above(start.resolve()), *_installed()]:
        if (folder / EXERCISES).is_dir() and (folder / SHIPPED).is_dir():
            return folder
    raise CourseNotFound(
        f"expected a course with exercises/ and shipped/; found none at {named or start}, and none that is installed. "
        f"Install the course, or set {COURSE_VARIABLE} to its folder."
    )


def _above(start: Path) -> Iterator[Path]:
    """Yield the folders that may be a course, nearest first: each folder, and the one that its settings name."""
    for place in (start, *start.parents):
        yield place
        if named := _setting(place / "pyproject.toml"):
            yield place / named


def _setting(pyproject: Path) -> str:
    try:
        found = tomllib.loads(pyproject.read_text(encoding="utf-8"))["tool"]["pytorch-basics"]["course"]
    except (OSError, ValueError, LookupError, TypeError):
        return ""
    return found if isinstance(found, str) else ""


def _installed() -> Iterator[Path]:
    """Yield the folders of the installed courses, in the order of their names."""
    for entry in sorted(entry_points(group=INSTALLED)):
        spec = find_spec(entry.value)
        yield from map(Path, spec.submodule_search_locations or () if spec else ())


def assignments_in(course: Path) -> list[str]:
    """Return the sorted names of the chapters and of the other assignments in a course folder."""
    found = {path.stem for path in (course / CHAPTERS).glob("*.py")}
    found |= {path.name for step in ("source", "release") for path in (course / step).glob("*") if path.is_dir()}
    return sorted(name for name in found if not name.startswith(("_", ".")))


def require_assignment(course: Path, stem: str) -> None:
    """Raise CourseNotFound, before anything is changed, if the course has no such chapter or assignment."""
    known = assignments_in(course)
    if stem not in known:
        raise CourseNotFound(
            f"expected a chapter or an assignment of the course, found no {stem!r}. "
            f"There are: {', '.join(known)}. Nothing was changed."
        )
