"""JupyterLab as `make lab` and `make teach` start it: its extensions and settings."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.workspace.jupyterlab import JupyterLabLaunch

ASK = """
import json
from jupyter_client.kernelspec import KernelSpecManager
from jupyterlab_server.config import get_page_config
from jupyterlab_server.settings_utils import _get_overrides
print(json.dumps({
    "disabled": sorted(get_page_config([])["disabledExtensions"]),
    "overrides": _get_overrides("nowhere")[0],
    "kernel": KernelSpecManager().get_kernel_spec("python3").argv,
}))
"""


def asked(desk: JupyterLabLaunch) -> dict[str, list[str]]:
    """Return JupyterLab's settings with this environment, read in a new process."""
    done = subprocess.run([sys.executable, "-c", ASK], env=desk.environment(), capture_output=True, check=True)
    return dict(json.loads(done.stdout))


@pytest.mark.night
def test_a_student_sees_no_teachers_tools(tmp_path: Path) -> None:
    """The student's JupyterLab has full file names and the reminder of skipped cells; nothing of nbgrader's."""
    told = asked(JupyterLabLaunch(tmp_path, "a.ipynb", "student"))

    off = ("formgrader", "create-assignment", "menu", "validate-assignment")
    assert {f"@jupyter/nbgrader:{name}" for name in off} < set(told["disabled"])
    assert "false" in str(told["overrides"]) and "showLastModifiedColumn" in str(told["overrides"])
    assert "--ext=autograder.notebook.unrun_cell_advice" in told["kernel"]
    assert "saveState': True" in str(told["overrides"])  # saves explorers in the notebook
    assert "commsOverSubshells': 'disabled" in str(told["overrides"])  # explorers wait for a running cell


@pytest.mark.night
def test_a_teacher_sees_them_all(tmp_path: Path) -> None:
    """The teacher's JupyterLab has all extensions, and full file names."""
    told = asked(JupyterLabLaunch(tmp_path, "", "teacher"))

    assert [] == told["disabled"] and "fetchNews" in str(told["overrides"])
    assert "showLastModifiedColumn': False" in str(told["overrides"])


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the list of commands that replace this process."""
    commands: list[list[str]] = []
    monkeypatch.setattr("os.execve", lambda path, command, environment: commands.append(command))
    monkeypatch.setattr("os.chdir", lambda folder: None)
    return commands


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with one chapter's notebook."""
    (tmp_path / "course" / "chapters").mkdir(parents=True)
    (tmp_path / "course" / "nbgrader_config.py").write_text("")
    (tmp_path / "pyproject.toml").write_text('[tool.pytorch-basics]\ncourse = "course"\n')
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "ch01 one.ipynb").write_text('{"cells": []}')
    return tmp_path


def test_lab_opens_the_first_chapter(
    project: Path, started: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """`lab` opens a copy of the first chapter, at the requested port, without a browser if requested."""
    assert 0 == main(["--root", str(project), "lab", "--port", "9000", "--no-browser"])

    (command,) = started
    assert "--LabApp.default_url=/lab/workspaces/pytorch-basics-student/tree/ch01%20one.ipynb" in command
    assert f"--ServerApp.root_dir={project / 'work'}" in command
    assert "--ServerApp.port=9000" in command and "--no-browser" in command
    assert "New in work/, yours to write in: ch01 one.ipynb." in capsys.readouterr().out
    assert (project / "work" / "ch01 one.ipynb").is_file()


def test_teach_opens_the_course(project: Path, started: list[list[str]]) -> None:
    """`lab --teach` opens the course folder, and makes no copies."""
    assert 0 == main(["--root", str(project), "lab", "--teach"])

    (command,) = started
    assert f"--ServerApp.root_dir={project / 'course'}" in command and "--no-browser" not in command
    assert not (project / "work").exists()


def test_without_notebooks_one_line_says_what_to_do(
    project: Path, started: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Without notebooks, one line says to build, and nothing is started."""
    (project / "notebooks" / "ch01 one.ipynb").unlink()

    assert 1 == main(["--root", str(project), "lab"])
    assert "found none. Run `make build`." in capsys.readouterr().err and [] == started
