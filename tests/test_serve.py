"""Fresh cases for a notebook's kernel, judged in another process."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path

import nbformat
import pytest
import torch
from nbclient.exceptions import DeadKernelError
from nbgrader.preprocessors import Execute

from autograder.course.course_location import COURSE_VARIABLE, find_course
from autograder.errors import CourseError, CourseNotFound
from autograder.notebook.fresh_case_check import judge_on_fresh_cases
from tests.small_chapter import SAMPLE

RIGHT = "def add_bias(x, bias):\n    return x + bias[:, None]\n"
LOOPS = "def add_bias(x, bias):\n    return torch.stack([row + bias[:, None] for row in x])\n"


def defined(source: str) -> object:
    """Return the function that a cell defines."""
    namespace: dict[str, object] = {"torch": torch, "math": math}
    exec(source, namespace)
    return namespace["add_bias"]


@pytest.mark.parametrize(("source", "passed"), [(RIGHT, True), (LOOPS, False)])
def test_answer_is_judged_elsewhere(source: str, passed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer is judged on fresh cases, with its source."""
    monkeypatch.setenv(COURSE_VARIABLE, str(SAMPLE / "course"))

    assert passed == judge_on_fresh_cases("add_bias", defined(source), source).passed


def test_missing_course_is_told_in_the_notebook(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a course folder, a one-line error says what to do."""
    monkeypatch.setenv(COURSE_VARIABLE, str(tmp_path))

    with pytest.raises(CourseError, match=COURSE_VARIABLE) as caught:
        judge_on_fresh_cases("add_bias", defined(RIGHT), RIGHT)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("reason", "ends"), [("autograde", True), ("validate", False)])
def test_without_a_course_nbgrader_gives_no_score(
    reason: str, ends: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without a course, the kernel ends instead of raising, because an error would give 0 points."""
    monkeypatch.setenv(COURSE_VARIABLE, str(tmp_path))
    monkeypatch.setenv("NBGRADER_EXECUTION", reason)
    cells = ("import torch\nfrom autograder import check", RIGHT, 'check("add_bias", add_bias, fresh=True)')
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}

    with pytest.raises(DeadKernelError) if ends else contextlib.nullcontext():
        Execute().preprocess(notebook, {})

    assert ends == ("No points can be given here, and none are: expected" in capfd.readouterr().err)
    assert ends != any(output.output_type == "error" for output in notebook.cells[-1].outputs)


class TestFindCourse:
    """The search for the course."""

    def test_it_is_found_from_inside(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """The course is found from any folder of the project."""
        monkeypatch.delenv(COURSE_VARIABLE, raising=False)
        course = tmp_path / "course"
        (course / "chapters").mkdir(parents=True)
        (course / "nbgrader_config.py").touch()
        (tmp_path / "notebooks").mkdir()
        (tmp_path / "pyproject.toml").write_text('[tool.pytorch-basics]\ncourse = "course"\n')

        assert {course.resolve()} == {find_course(tmp_path / "notebooks"), find_course(course / "chapters")}

    def test_nothing_is_found_elsewhere(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """Outside a project, CourseNotFound is raised."""
        monkeypatch.delenv(COURSE_VARIABLE, raising=False)

        with pytest.raises(CourseNotFound):
            find_course(tmp_path)
