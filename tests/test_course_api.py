"""A teacher's own settings and plug-ins are found from any folder, and are kept out of git and the student package."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest
from nbgrader.preprocessors import AssignLatePenalties

from autograder.errors import WorkFailed
from autograder.nbgrader_plugin.apply_deadlines import LatePenalty, check_late_penalty_plugin
from autograder.nbgrader_plugin.open_nbgrader import course_directory, open_nbgrader_api
from autograder.nbgrader_plugin.teacher_settings import SETTINGS
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
    """Return a course folder that is not the current folder."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, RULE, raising=False)
    monkeypatch.chdir(tmp_path)
    return make_project(tmp_path / "project") / "course"


def test_a_plug_in_beside_the_configuration_is_found(course: Path) -> None:
    """A plug-in beside the configuration is found from any folder."""
    (course / f"{RULE}.py").write_text(_PLUG_IN)
    (course / SETTINGS).write_text(_NAMED)
    api = open_nbgrader_api(course)
    check_late_penalty_plugin(api)

    assert 3.0 == AssignLatePenalties(parent=api).plugin_class().late_submission_penalty("ada", 6.0, 1.0)


@pytest.mark.parametrize("text", [None, "import nothing_of_this_name", "class Half(", "class Half: pass"])
def test_a_plug_in_that_cannot_be_had_is_one_line(course: Path, text: str | None) -> None:
    """A missing, broken or wrong plug-in raises a one-line error before grading."""
    if text is not None:
        (course / f"{RULE}.py").write_text(text)
    (course / SETTINGS).write_text(_NAMED)

    with pytest.raises(WorkFailed, match=r"plug-in .* cannot be loaded .*Correct") as caught:
        check_late_penalty_plugin(open_nbgrader_api(course))
    assert "\n" not in str(caught.value)


def test_a_teachers_settings_win(course: Path) -> None:
    """A teacher's settings override the project's."""
    assert AssignLatePenalties(parent=open_nbgrader_api(course)).plugin_class is LatePenalty
    (course / SETTINGS).write_text('[nbgrader.CourseDirectory]\ncourse_id = "mine"\nsubmitted_directory = "in"\n')

    found = course_directory(course)

    assert ("mine", "in", str(course)) == (found.course_id, found.submitted_directory, found.root)


def test_settings_that_cannot_be_read_leave_the_walls(course: Path) -> None:
    """An unreadable settings file does not disable the project's own configuration."""
    (course / SETTINGS).write_text("[nbgrader.Autograde\n")

    assert "RepairingExporter" in open_nbgrader_api(course).config.Autograde.exporter_class


def test_settings_are_not_for_git_nor_for_students() -> None:
    """The settings file, which may hold a password, is ignored by git and not packaged."""
    packed = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]

    assert f"/course/{SETTINGS}" in (PROJECT / ".gitignore").read_text().splitlines()
    assert not any(Path(SETTINGS).match(form) for form in packed["course"])
