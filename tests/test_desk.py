"""JupyterLab as `make lab` and `make teach` start it: what it shows, and what it leaves out."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.workspace.jupyterlab import JupyterLabServer

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


def asked(desk: JupyterLabServer) -> dict[str, list[str]]:
    """What JupyterLab makes of the variables that it is started with."""
    done = subprocess.run([sys.executable, "-c", ASK], env=desk.environment(), capture_output=True, check=True)
    return dict(json.loads(done.stdout))


def test_a_student_sees_no_teachers_tools(tmp_path: Path) -> None:
    """No popup, full names in the list of files, and a kernel that says what to run first; Validate stays."""
    told = asked(JupyterLabServer(tmp_path, "a.ipynb", "student"))

    assert {f"@jupyter/nbgrader:{name}" for name in ("formgrader", "create-assignment", "menu")} < set(told["disabled"])
    assert "@jupyter/nbgrader:validate-assignment" not in told["disabled"]
    assert "false" in str(told["overrides"]) and "showLastModifiedColumn" in str(told["overrides"])
    assert "--ext=autograder.notebook.skipped_setup" in told["kernel"]
    assert "saveState': True" in str(told["overrides"])  # an explorer is there again when the notebook is reopened
    assert "commsOverSubshells': 'disabled" in str(told["overrides"])  # no explorer computes beside a running cell


def test_a_teacher_sees_them_all(tmp_path: Path) -> None:
    """Formgrader and the rest; names of files are full here too."""
    told = asked(JupyterLabServer(tmp_path, "", "teacher"))

    assert [] == told["disabled"] and "fetchNews" in str(told["overrides"])
    assert "showLastModifiedColumn': False" in str(told["overrides"])


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that this process would become."""
    commands: list[list[str]] = []
    monkeypatch.setattr("os.execve", lambda path, command, environment: commands.append(command))
    monkeypatch.setattr("os.chdir", lambda folder: None)
    return commands


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one chapter's notebook."""
    (tmp_path / "course" / "chapters").mkdir(parents=True)
    (tmp_path / "course" / "nbgrader_config.py").write_text("")
    (tmp_path / "pyproject.toml").write_text('[tool.pytorch-basics]\ncourse = "course"\n')
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "ch01 one.ipynb").write_text('{"cells": []}')
    return tmp_path


def test_lab_opens_the_first_chapter(
    project: Path, started: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """On a copy, at the port that was asked for, and in no browser where none is wanted."""
    assert 0 == main(["--root", str(project), "lab", "--port", "9000", "--no-browser"])

    (command,) = started
    assert "--LabApp.default_url=/lab/workspaces/pytorch-basics-student/tree/ch01%20one.ipynb" in command
    assert f"--ServerApp.root_dir={project / 'work'}" in command
    assert "--ServerApp.port=9000" in command and "--no-browser" in command
    assert "New in work/, yours to write in: ch01 one.ipynb." in capsys.readouterr().out
    assert (project / "work" / "ch01 one.ipynb").is_file()


def test_teach_opens_the_course(project: Path, started: list[list[str]]) -> None:
    """And makes no copies."""
    assert 0 == main(["--root", str(project), "lab", "--teach"])

    (command,) = started
    assert f"--ServerApp.root_dir={project / 'course'}" in command and "--no-browser" not in command
    assert not (project / "work").exists()


def test_without_notebooks_one_line_says_what_to_do(
    project: Path, started: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is started."""
    (project / "notebooks" / "ch01 one.ipynb").unlink()

    assert 1 == main(["--root", str(project), "lab"])
    assert "found none. Run `make build`." in capsys.readouterr().err and [] == started
