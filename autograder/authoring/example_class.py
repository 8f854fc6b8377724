"""Make the example class: invented students, graded through nbgrader's whole cycle, in a folder of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.authoring import project_address_setting
from autograder.authoring.example_students import ExampleClassMaker, ExampleStudent
from autograder.authoring.make_chapter_notebooks import nbgrader_source_notebook, to_bytes
from autograder.course.chapter_minutes import fill_minutes_from_course
from autograder.course.chapter_reader import chapter_paths, read_chapter
from autograder.course.course_location import EXERCISES, SHIPPED, chapter_path, find_course
from autograder.errors import CourseNotFound, WorkFailed
from autograder.files import write_all
from autograder.grading import class_text_table
from autograder.grading.assignment import read_assignment
from autograder.grading.assignment_grader import get_grader
from autograder.grading.grading_executors import WorkerOptions
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle, ShowProgress, no_progress
from autograder.questions.bug_hunt_file import hunts_path


@dataclass(frozen=True)
class ExampleClass:
    """A graded class: its folder, its students, and the reason for each student who could not be graded."""

    folder: Path
    stem: str
    students: tuple[ExampleStudent, ...]
    failures: dict[str, str]

    @property
    def course(self) -> Path:
        """The course folder of the class."""
        return self.folder / "course"

    @property
    def grades(self) -> Path:
        """The CSV file with the exported grades."""
        return self.folder / "grades.csv"

    def summary(self) -> str:
        """Return the class as a table of text."""
        return class_text_table.class_table(class_text_table.class_rows(self.course, self.stem, self.failures))


def silent_progress(_what: str) -> ShowProgress:
    """Return a progress display that shows nothing."""
    return no_progress


def run_example_class(
    project: Path,
    folder: Path,
    stem: str,
    progress: Callable[[str], ShowProgress] = silent_progress,
    *,
    mishaps: bool = True,
    pages: Collection[str] | None = None,
    ids: Callable[[int], Sequence[str]] | None = None,
    workers: WorkerOptions = WorkerOptions(),  # noqa: B008  (a value)
    unconfined: bool = False,
) -> ExampleClass:
    """Make the class in an empty folder and run nbgrader's cycle from generating to exporting grades on it.

    Without `mishaps`, nobody hands in a damaged file, or an answer that hangs, crashes or makes noise. If `pages` is
    given, only these students get feedback pages, whose making takes most of the time. `ids(n)` returns n names to use
    in place of the students' names, which tell what is special about them. Raises CourseError.
    """
    copy_files_for_grading(project, folder / "course", stem)
    cycle = NbgraderCycle(folder / "course", stem, _exchange(folder))
    cycle.generate()
    cycle.release()
    made_from = get_grader(read_assignment(cycle.course, stem, unconfined=unconfined))
    students = _called(tuple(ExampleClassMaker(made_from.judge, made_from.release).students(mishaps)), ids)
    for student in students:
        cycle.submit(student.name, _homework(folder, stem, student))
    cycle.collect()
    names = [student.name for student in students]
    failures = cycle.autograde(names, progress("grade"), GradingOptions(workers, unconfined=unconfined))
    wanted = [each for each in names if pages is None or each in pages]
    failures = cycle.feedback(wanted, progress("write feedback"), workers.count) | failures
    cycle.export((made := ExampleClass(folder, stem, students, failures)).grades)
    return made


def _exchange(folder: Path) -> Path:
    """Make nbgrader's exchange folder, which nbgrader requires to be writable for every user."""
    exchange = folder / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    return exchange


def _called(
    students: tuple[ExampleStudent, ...], ids: Callable[[int], Sequence[str]] | None
) -> tuple[ExampleStudent, ...]:
    if ids is None:
        return students
    return tuple(replace(student, name=name) for student, name in zip(students, ids(len(students)), strict=True))


def first_chapter_stem(project: Path) -> str:
    """Return the stem of the first chapter, the default for the example class; raises CourseNotFound."""
    return chapter_paths(find_course(project))[0].stem


def recreate_folder(folder: Path) -> Path:
    """Make an empty folder for a new example class, removing an older class there; raises WorkFailed."""
    try:
        shutil.rmtree(folder, ignore_errors=False) if folder.exists() else None
        folder.mkdir(parents=True)
    except OSError as error:
        raise WorkFailed(
            f"cannot make {folder}: {error.strerror}. Make room or give permission, and try again."
        ) from None
    return folder


def copy_files_for_grading(project: Path, copy: Path, stem: str) -> None:
    """Copy the files that grading a chapter needs, without the teacher's own gradebook and submissions.

    Raises CourseNotFound if one of the files is missing.
    """
    course = find_course(project)
    for name in (f"chapters/{stem}.py", f"answers/{stem}", EXERCISES, SHIPPED, "nbgrader_config.py"):
        if not (course / name).exists():
            raise CourseNotFound(
                f"expected {course / name}, found none. Run the command in the project folder, or give --root."
            )
        _copy(course / name, copy / name, [f"{each.stem}.*" for each in chapter_paths(course) if each.stem != stem])
    if (hunts := hunts_path(course, stem)).is_file():
        _copy(hunts, hunts_path(copy, stem), ())
    chapter = fill_minutes_from_course(course, read_chapter(chapter_path(course, stem)))
    source = nbgrader_source_notebook(chapter, project_address_setting.read_address(project))
    write_all({copy / "source" / stem / f"{stem}.ipynb": to_bytes(source)})


def _copy(path: Path, copy: Path, others: Iterable[str]) -> None:
    """Copy a file or a folder; leave out names that match a pattern in `others`, the files of other chapters."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.copytree(path, copy, ignore=shutil.ignore_patterns("__pycache__", *others))
    else:
        shutil.copyfile(path, copy)


def _homework(folder: Path, stem: str, student: ExampleStudent) -> Path:
    """Write the student's file to a home folder for the student, and return that folder."""
    home = folder / "students" / student.name
    (home / stem).mkdir(parents=True)
    (home / stem / student.filename).write_bytes(student.data)
    return home
