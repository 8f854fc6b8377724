"""Start JupyterLab with the course's settings for students or for teachers, whatever this machine's settings are."""

from __future__ import annotations

import importlib.util
import os
import shlex
import socket
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from autograder.errors import WorkFailed

_HERE = Path(__file__).parent
_WORKSPACE = "pytorch-basics"  # a workspace of its own, so that the reader's other JupyterLab tabs stay as they are
DEFAULT_PORT = 8888


def is_port_taken(port: int) -> bool:
    """Return whether a program on this machine answers at the port, such as a JupyterLab that was left open."""
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


def require_jupyterlab() -> None:
    """Raise WorkFailed if JupyterLab is not installed, or cannot write where it keeps its settings."""
    if importlib.util.find_spec("jupyterlab") is None:
        raise WorkFailed(
            f"expected JupyterLab, found none in {sys.prefix}. Run `pip install jupyterlab`, or use `make lab`."
        )
    from jupyter_core.paths import jupyter_config_dir, jupyter_data_dir, jupyter_runtime_dir

    for folder in map(Path, (jupyter_config_dir(), jupyter_data_dir(), jupyter_runtime_dir())):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            raise WorkFailed(
                f"JupyterLab cannot write in {folder}: {error.strerror}. "
                "Run `export HOME=FOLDER` with a folder in which you may write, and then the command again."
            ) from error


@dataclass(frozen=True)
class JupyterLabLaunch:
    """A JupyterLab to start: its root folder, the file to open ("" for none), and its settings.

    `settings` is "student" or "teacher", the name of a folder beside this module.
    """

    folder: Path
    opened: str
    settings: str

    def command(self, port: int = DEFAULT_PORT, *, browser: bool = True) -> list[str]:
        """Return the command that starts JupyterLab; if the port is taken, JupyterLab tries the next ones."""
        page = f"/lab/workspaces/{_WORKSPACE}-{self.settings}" + (f"/tree/{quote(self.opened)}" if self.opened else "")
        options = [f"--ServerApp.root_dir={self.folder}", f"--ServerApp.port={port}", f"--LabApp.default_url={page}"]
        options += [] if browser else ["--no-browser"]
        # Without this option Jupyter refuses to start as root, the usual user in a container.
        options += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        return [sys.executable, "-m", "jupyterlab", *options]

    def environment(self) -> dict[str, str]:
        """Return the environment of JupyterLab, with the course's settings and kernels before those of the machine."""
        return {**os.environ, **self._added()}

    def exports(self) -> str:
        """Return the course's part of the environment, as a line for a shell that starts JupyterLab itself."""
        return "export " + " ".join(f"{name}={shlex.quote(value)}" for name, value in self._added().items())

    def _added(self) -> dict[str, str]:
        before = ((name, os.environ.get(name)) for name in ("JUPYTER_CONFIG_PATH", "JUPYTER_PATH"))
        return {name: os.pathsep.join(filter(None, (str(_HERE / self.settings), old))) for name, old in before}

    def start(self, port: int = DEFAULT_PORT, *, browser: bool = True) -> None:
        """Replace this process by JupyterLab, so that Ctrl-C stops it directly; does not return."""
        os.chdir(self.folder)
        sys.stdout.flush()
        command = self.command(port, browser=browser)
        os.execve(command[0], command, self.environment())
