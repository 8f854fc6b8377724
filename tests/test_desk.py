"""JupyterLab as `make lab` and `make teach` start it: its extensions and settings."""

import errno
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.workspace.jupyterlab import JupyterLabLaunch
from tests.small_chapter import PROJECT

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
    assert "--ext=autograder.notebook.name_and_import_error_advice" in told["kernel"]
    assert "saveState': True" in str(told["overrides"])  # saves explorers in the notebook
    assert "commsOverSubshells': 'disabled" in str(told["overrides"])  # explorers wait for a running cell
    assert "autosaveInterval': 10" in str(told["overrides"])  # seconds until check() can see that a cell was edited


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


def test_a_taken_port_is_named(project: Path, started: list[list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    """If another program answers at the port, one line says that JupyterLab takes the next."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert 0 == main(["--root", str(project), "lab", "--port", str(port)])
    assert f"Port {port} is taken, " in capsys.readouterr().out and 1 == len(started)

    assert 0 == main(["--root", str(project), "lab", "--port", str(port)])
    assert "taken" not in capsys.readouterr().out


@pytest.mark.parametrize("port", ["0", "65536", "-1", "here"])
def test_no_port(project: Path, started: list[list[str]], capsys: pytest.CaptureFixture[str], port: str) -> None:
    """What is no port is refused before anything is started."""
    with pytest.raises(SystemExit):
        main(["--root", str(project), "lab", f"--port={port}"])

    assert f"expected a number from 1 to 65535, found {port}" in capsys.readouterr().err and [] == started


def failed(project: Path, environment: dict[str, str]) -> str:
    """Return the one line in which `lab` fails in a process of its own."""
    command = [sys.executable, "-m", "autograder", "--root", str(project), "lab", "--no-browser"]
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    ran = subprocess.run(command, cwd=PROJECT, env=kept | environment, capture_output=True, text=True, check=False)
    (line,) = ran.stderr.splitlines()
    assert 1 == ran.returncode and line.startswith("error: ")
    return line


def test_a_home_without_write_access_is_one_line(project: Path) -> None:
    """Where JupyterLab cannot keep its settings, one line names the folder and the way out."""
    (project / "file").touch()
    line = failed(project, {"HOME": str(project / "file")})

    assert f"JupyterLab cannot write in {project / 'file' / '.jupyter'}: " in line and "`export HOME=FOLDER`" in line


def test_no_home_is_one_line(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A user without HOME and without an entry in the system's list is told to set HOME."""
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", lambda user: {}[user])

    assert 1 == main(["--root", str(project), "lab"])
    assert capsys.readouterr().err.startswith("error: expected a home folder, found none: HOME is not set")


def test_without_jupyterlab_one_line_says_how_to_get_it(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """If the course was installed without JupyterLab, one line says what to install."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    assert 1 == main(["--root", str(project), "lab"])
    assert "Run `pip install jupyterlab`" in capsys.readouterr().err


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_no_write_access_is_one_line(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    """A folder in which a command may not write is one line, whichever command met it."""

    def refused(folder: Path) -> None:
        raise OSError(number, os.strerror(number), str(folder))

    monkeypatch.setattr(
        "autograder.workspace.working_copies.WorkingCopies.update_copies", lambda self: refused(project / "work")
    )

    assert 1 == main(["--root", str(project), "lab"])
    assert f"error: {project / 'work'}: {os.strerror(number)}. Give permission" in capsys.readouterr().err


def test_without_notebooks_one_line_says_what_to_do(
    project: Path, started: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Without notebooks, one line says to build, and nothing is started."""
    (project / "notebooks" / "ch01 one.ipynb").unlink()

    assert 1 == main(["--root", str(project), "lab"])
    assert "found none. Run `make build`." in capsys.readouterr().err and [] == started
