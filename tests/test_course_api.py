"""A teacher's own settings and plug-ins: found wherever a command is run, and outside of what git and students get."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest
from nbgrader.preprocessors import AssignLatePenalties

from autograder.errors import WorkFailed
from autograder.nbgrader_plugin.deadlines import SETTINGS
from autograder.nbgrader_plugin.due_dates import LatePenalty, check_plug_in
from autograder.nbgrader_plugin.nbgrader_api import course_api, course_directory
from tests.small_chapter import PROJECT, make_project

RULE = "plug_in_of_a_test"
_PLUG_IN = """
from nbgrader.plugins import LateSubmissionPlugin


class Half(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score / 2
"""
_NAMED = f'[nbgrader.AssignLatePenalties]\nplugin_class = "{RULE}.Half"\n'


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course folder, in which the command is not run."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, RULE, raising=False)
    monkeypatch.chdir(tmp_path)
    return make_project(tmp_path / "project") / "course"


def test_a_plug_in_beside_the_configuration_is_found(course: Path) -> None:
    """As by nbgrader's own commands, which are run there."""
    (course / f"{RULE}.py").write_text(_PLUG_IN)
    (course / SETTINGS).write_text(_NAMED)
    api = course_api(course)
    check_plug_in(api)

    assert 3.0 == AssignLatePenalties(parent=api).plugin_class().late_submission_penalty("ada", 6.0, 1.0)


@pytest.mark.parametrize("text", [None, "import nothing_of_this_name", "class Half(", "class Half: pass"])
def test_a_plug_in_that_cannot_be_had_is_one_line(course: Path, text: str | None) -> None:
    """Not there, broken, or of another kind: told once, before anybody is graded."""
    if text is not None:
        (course / f"{RULE}.py").write_text(text)
    (course / SETTINGS).write_text(_NAMED)

    with pytest.raises(WorkFailed, match=r"plug-in .* cannot be loaded .*Correct") as caught:
        check_plug_in(course_api(course))
    assert "\n" not in str(caught.value)


def test_a_teachers_settings_win(course: Path) -> None:
    """Over those of the project's own file; without them, these hold."""
    assert AssignLatePenalties(parent=course_api(course)).plugin_class is LatePenalty
    (course / SETTINGS).write_text('[nbgrader.CourseDirectory]\ncourse_id = "mine"\nsubmitted_directory = "in"\n')

    found = course_directory(course)

    assert ("mine", "in", str(course)) == (found.course_id, found.submitted_directory, found.root)


def test_settings_that_cannot_be_read_leave_the_walls(course: Path) -> None:
    """nbgrader would go on without our configuration, and so without our engine: the file is told later."""
    (course / SETTINGS).write_text("[nbgrader.Autograde\n")

    assert "SubmissionExporter" in course_api(course).config.Autograde.exporter_class


def test_settings_are_not_for_git_nor_for_students() -> None:
    """They may hold a password."""
    packed = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]

    assert f"/course/{SETTINGS}" in (PROJECT / ".gitignore").read_text().splitlines()
    assert not any(Path(SETTINGS).match(form) for form in packed["course"])
