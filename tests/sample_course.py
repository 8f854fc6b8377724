"""The tests' own course in `tests/sample/`, for tests that need exercises and do not depend on which.

It is a chapter of seven exercises, warm-up, core and stretch, with parts that count alone, rules, extra credit, and a
small bank of answers each. A test that uses it does not have to run again when a chapter of this project changes.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from shutil import copytree, ignore_patterns

from autograder.authoring.make_chapter_notebooks import nbgrader_source_notebook, to_bytes
from autograder.course.chapter_judge import Judge
from autograder.course.chapter_reader import read_chapter
from autograder.course.course import course_in
from tests.small_chapter import SAMPLE

STEM = "ch01_sample"
COURSE = course_in(SAMPLE / "course")
NOTEBOOK = SAMPLE / "notebooks" / f"{STEM}.ipynb"
_MADE_BY_NBGRADER = ("source", "release", "__pycache__")


@cache
def sample_judge() -> Judge:
    """Return the judge of the chapter, built once."""
    return Judge(COURSE.folder, STEM)


def make_course(folder: Path) -> Path:
    """Write a course folder of this chapter with nbgrader's source version, and return it."""
    copytree(COURSE.folder, folder, ignore=ignore_patterns(*_MADE_BY_NBGRADER))
    source = folder / "source" / STEM / f"{STEM}.ipynb"
    source.parent.mkdir(parents=True)
    source.write_bytes(to_bytes(nbgrader_source_notebook(read_chapter(folder / "chapters" / f"{STEM}.py"), "")))
    return folder
