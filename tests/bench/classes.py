"""Make the classes that the benchmarks grade, from the answer bank, for our grader and for stock nbgrader."""

from __future__ import annotations

import itertools
import re
import shutil
from pathlib import Path

import nbformat

from autograder.authoring.example_class import copy_files_for_grading
from autograder.authoring.example_students import ExampleClassMaker
from autograder.grading.assignment import read_assignment, release_path
from autograder.grading.assignment_grader import get_grader
from autograder.nbgrader_plugin.nbgrader_cycle import NbgraderCycle

_STOCK = 'c = get_config()\nc.CourseDirectory.course_id = "pytorch_basics"\n'
_HIDDEN = re.compile(r"### BEGIN HIDDEN TESTS\n.*?### END HIDDEN TESTS\n?", re.DOTALL)


def course_with(project: Path, folder: Path, stem: str, size: int = 0) -> Path:
    """Make a course folder with `size` submissions: solutions, starters, right and wrong answers, in turn.

    Without a size, it has one submission of each kind, and no answer of the bank occurs twice: a student whose answer
    would repeat one leaves the exercise open.
    """
    copy_files_for_grading(project, folder, stem)
    NbgraderCycle(folder, stem).generate()
    made_from = get_grader(read_assignment(folder, stem, unconfined=True))  # runs no submission
    made = list(ExampleClassMaker(made_from.judge, made_from.release).students(mishaps=False, repeats=bool(size)))
    for number, student in enumerate(itertools.islice(itertools.cycle(made), size or len(made))):
        place = folder / "submitted" / f"student-{number:05d}" / stem
        place.mkdir(parents=True)
        (place / f"{stem}.ipynb").write_bytes(student.data)
    return folder


def stock_course(course: Path, folder: Path, stem: str, size: int) -> Path:
    """Copy the first submissions of a course, for nbgrader with no configuration but its name.

    Its hidden tests run in the student's kernel: they call `check()` on the visible cases, which are part of the
    package. That is less work than our grader does with its fresh cases.
    """
    source = folder / "source" / stem / f"{stem}.ipynb"
    source.parent.mkdir(parents=True)
    notebook = nbformat.read(course / "source" / stem / f"{stem}.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = _HIDDEN.sub("", cell.source).rstrip()
    nbformat.write(notebook, source)
    release = release_path(folder, stem)
    release.parent.mkdir(parents=True)
    shutil.copyfile(release_path(course, stem), release)
    (folder / "nbgrader_config.py").write_text(_STOCK)
    for place in sorted((course / "submitted").iterdir())[:size]:
        shutil.copytree(place, folder / "submitted" / place.name)
    return folder


def ungraded(course: Path, stem: str) -> Path:
    """Delete verdicts and results of a course folder, give it a new gradebook, and return it."""
    for name in ("verdicts", "autograded"):
        shutil.rmtree(course / name, ignore_errors=True)
    (course / "gradebook.db").unlink(missing_ok=True)
    NbgraderCycle(course, stem).generate()
    return course
