"""Build the course: make nbgrader's source and release, notebooks, solutions and shipped observations from chapters.

`generate_files` makes every file in memory. `build` then writes those that changed; `list_stale_generated_files` only
compares.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from autograder import files
from autograder.authoring import project_address_setting
from autograder.authoring.check_graded_hunts import check_graded_hunts
from autograder.authoring.custom_exercise import custom_exercise_path
from autograder.course import points_and_hints, shipped_observations
from autograder.course.chapter_minutes import chapter_title, fill_minutes_from_course
from autograder.course.chapter_reader import Chapter, read_all_chapters
from autograder.course.course_location import SHIPPED, find_course
from autograder.course.missing_exercise_parts import as_exercise_errors, check_folders_have_chapters
from autograder.errors import CourseNotFound, WorkFailed

# The folders of committed generated files, and which of their files are generated.
_WATCHED = {Path("notebooks"): (".ipynb",), Path("solutions"): (".ipynb",)}
_DATA = (".json", ".safetensors")

Files = dict[str, bytes]
# (course folder, chapter's stem, its committed data files by suffix) -> the data files that the build writes
Observe = Callable[[Path, str, Files], Files]
Outputs = dict[Path, bytes]


class Staleness(Enum):
    """How a generated file differs from the build: outdated, not there, or not made by any chapter."""

    STALE = "stale"
    MISSING = "missing"
    STRAY = "stray"


@dataclass(frozen=True)
class StaleFile:
    """A generated file that differs from the build; `path` is relative to the project folder."""

    state: Staleness
    path: Path

    def __str__(self) -> str:
        return f"{self.state.value}: {self.path.as_posix()}"


def shipped_observations_and_hints(course: Path, stem: str, committed: Files, anew: bool = False) -> Files:
    """Return a chapter's data files, by suffix: the shipped observations of its exercises, and their hints.

    The observations are those of the worked solution and the answer bank on the visible cases. Committed ones that
    still hold are kept, since last digits differ between processors. Receipts remember that they hold; `anew` ignores
    the receipts and computes it again.
    """
    from autograder.authoring.exercise_file_checks import check_requirements_have_cases
    from autograder.authoring.proof_receipts import still_valid_expected_observations
    from autograder.course.chapter_judge import Judge

    with as_exercise_errors(course):
        judge = Judge(course, stem)
        check_requirements_have_cases(course, judge)
        old = still_valid_expected_observations(judge, committed, anew)
        keys = {name: old.get(name) or judge.keys.shipped_key(name) for name in judge.names}
        hints = points_and_hints.encode_hints({name: judge.exercises[name].hints for name in judge.names})
        return shipped_observations.encode(keys) | {points_and_hints.HINTS: hints}


def build(project: Path, observer: Observe = shipped_observations_and_hints, only: str | None = None) -> list[str]:
    """Bring every generated file up to date, or those of chapter `only`, and return one line for each change.

    Files without a chapter, and notebooks that somebody worked in, are moved to build/aside/. Raises CourseError; then
    no generated file was written in part.
    """
    outputs = generate_files(project, observer, only)
    changed = {path: data for path, data in outputs.items() if not _current(project, path, outputs)}
    lines = [
        _aside(project, path, "your work in") for path in sorted(changed) if _worked_in(project / path, changed[path])
    ]
    files.write_all({project / path: data for path, data in changed.items()})
    lines += [f"wrote {path.as_posix()}" for path in sorted(changed)]
    return lines + [_aside(project, path, "the stray") for path in _strays(project, outputs) if only is None]


def write_solved_notebooks_for_tests(project: Path, folder: Path, only: str | None = None) -> list[Path]:
    """Write each solved chapter with its claim cells, as notebooks that the tests run, and return their paths."""
    from autograder.authoring.make_chapter_notebooks import notebook_with_claims, to_bytes

    public = project_address_setting.read_address(project)
    course = find_course(project)
    chapters = [fill_minutes_from_course(course, chapter) for chapter in _chosen(read_all_chapters(course), only)]
    made = {folder / f"{chapter.stem}.ipynb": to_bytes(notebook_with_claims(chapter, public)) for chapter in chapters}
    files.write_all(made)
    return list(made)


def _aside(project: Path, path: Path, what: str) -> str:
    place = files.move_to_build_aside(project / path, project)
    return f"moved {what} {path.as_posix()} to {place.relative_to(project).as_posix()}"


def _worked_in(path: Path, new: bytes) -> bool:
    """Return whether a notebook was run, or has nbgrader cells that the build does not make."""
    if path.suffix != ".ipynb" or not path.is_file():
        return False
    try:
        cells = json.loads(path.read_bytes())["cells"]
        if any(cell.get("outputs") or cell.get("execution_count") for cell in cells):
            return True
        return "source" in path.parts and bool(_marked(cells) - _marked(json.loads(new)["cells"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        return True  # the build did not write this file, so it must not be overwritten


def _marked(cells: list[dict[str, Any]]) -> set[str]:
    """Return the nbgrader ids (`grade_id`) of the cells that carry nbgrader's metadata."""
    return {str(cell["metadata"]["nbgrader"].get("grade_id")) for cell in cells if "nbgrader" in cell["metadata"]}


def list_stale_generated_files(
    project: Path, observer: Observe = shipped_observations_and_hints, only: str | None = None
) -> list[StaleFile]:
    """Return the committed generated files that are stale, missing or stray; `make build` corrects them all."""
    outputs = generate_files(project, observer, only)
    problems = [StaleFile(Staleness.STRAY, path) for path in _strays(project, outputs) if only is None]
    for path in outputs:
        if path.parent not in _watched(project):
            continue
        if not (project / path).is_file():
            problems.append(StaleFile(Staleness.MISSING, path))
        elif not _current(project, path, outputs):
            problems.append(StaleFile(Staleness.STALE, path))
    return sorted(problems, key=str)


def generate_files(
    project: Path, observer: Observe = shipped_observations_and_hints, only: str | None = None
) -> Outputs:
    """Make every generated file, or those of chapter `only`, in memory; paths are relative to the project folder."""
    course = find_course(project)
    whole = read_all_chapters(course)
    check_folders_have_chapters(course, {chapter.stem for chapter in whole})
    chapters = _chosen(whole, only)
    check_graded_hunts(course, whole, chapters)
    public = project_address_setting.read_address(project)
    try:
        with tempfile.TemporaryDirectory(prefix="autograder-") as folder:
            outputs = _notebooks(project, chapters, public, Path(folder).resolve())
    except OSError as error:
        raise WorkFailed(
            f"cannot build in the temporary folder: {error.strerror or error}; nothing was changed. "
            "Make room there, or set TMPDIR to another folder, then run `make build` again."
        ) from error
    for chapter in chapters:
        committed = _committed(course, chapter.stem)
        for suffix, data in observer(course, chapter.stem, committed).items():
            outputs[_data(project) / f"{chapter.stem}{suffix}"] = data
    own = [chapter for chapter in whole if custom_exercise_path(course, chapter.stem).is_file()]
    listed = {points_and_hints.POINTS: [each for each in whole if each not in own]}
    listed |= {points_and_hints.OWN_POINTS: own} if own else {}
    for name, chapters_in in listed.items():
        outputs[_data(project) / name] = points_and_hints.encode_index([_listed(each) for each in chapters_in])
    return outputs


def _chosen(chapters: tuple[Chapter, ...], only: str | None) -> tuple[Chapter, ...]:
    chosen = tuple(each for each in chapters if only in (None, each.stem))
    if not chosen:
        known = ", ".join(each.stem for each in chapters)
        raise CourseNotFound(
            f"expected one of the chapters {known}, found {only!r}. Name one of them, or none for all."
        )
    return chosen


def _data(project: Path) -> Path:
    """Return the folder of the shipped data files, relative to the project folder."""
    return find_course(project).resolve().relative_to(project.resolve()) / SHIPPED


def _watched(project: Path) -> dict[Path, tuple[str, ...]]:
    return _WATCHED | {_data(project): _DATA}


def _listed(chapter: Chapter) -> points_and_hints.IndexedChapter:
    """Return the chapter's entry in the exercise index: its title, and the points of its exercises."""
    worth = {
        name: points_and_hints.ExercisePoints(int(chapter.points(name)), chapter.extra(name))
        for name in chapter.exercises
    }
    return points_and_hints.IndexedChapter(chapter.stem, chapter_title(chapter), worth)


def _notebooks(project: Path, chapters: tuple[Chapter, ...], public: str, workplace: Path) -> Outputs:
    """Write the source notebooks to a temporary folder, let nbgrader release them there, and return all notebooks."""
    from autograder.authoring.make_chapter_notebooks import nbgrader_source_notebook, solution_notebook, to_bytes
    from autograder.authoring.run_nbgrader_release import run_nbgrader_release_step

    outputs: Outputs = {}
    course = _data(project).parent
    for chapter in (fill_minutes_from_course(project / course, chapter) for chapter in chapters):
        inner = Path(chapter.stem, f"{chapter.stem}.ipynb")
        outputs[course / "source" / inner] = to_bytes(nbgrader_source_notebook(chapter, public))
        outputs["solutions" / Path(inner.name)] = to_bytes(solution_notebook(chapter, public))
        files.write_all({workplace / "source" / inner: outputs[course / "source" / inner]})
    run_nbgrader_release_step(project / course, workplace)
    for chapter in chapters:
        inner = Path(chapter.stem, f"{chapter.stem}.ipynb")
        released = (workplace / "release" / inner).read_bytes()
        outputs[course / "release" / inner] = outputs["notebooks" / Path(inner.name)] = released
    return outputs


def _committed(course: Path, stem: str) -> Files:
    """Return the content of the chapter's data files that exist, by suffix."""
    places = {suffix: course / SHIPPED / f"{stem}{suffix}" for suffix in shipped_observations.SHIPPED_FILE_SUFFIXES}
    return {suffix: place.read_bytes() for suffix, place in places.items() if place.is_file()}


def _current(project: Path, path: Path, outputs: Outputs) -> bool:
    """Return whether a file exists and has the content that the build makes."""
    place = project / path
    return place.is_file() and place.read_bytes() == outputs[path]


def _strays(project: Path, outputs: Outputs) -> list[Path]:
    found = [
        path.relative_to(project)
        for folder, suffixes in _watched(project).items()
        for path in sorted((project / folder).glob("*"))
        if path.suffix in suffixes
    ]
    return [path for path in found if path not in outputs]
