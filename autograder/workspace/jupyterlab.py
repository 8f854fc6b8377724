"""Start JupyterLab with the course's settings for students or for teachers, whatever this machine's settings are."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

_HERE = Path(__file__).parent
_WORKSPACE = "pytorch-basics"  # a workspace of its own, so that the reader's other JupyterLab tabs stay as they are
PORT = 8888


@dataclass(frozen=True)
class JupyterLabLaunch:
    """A JupyterLab to start: its root folder, the file to open ("" for none), and its settings.

    `settings` is "student" or "teacher", the name of a folder beside this module.
    """

    folder: Path
    opened: str
    settings: str

    def command(self, port: int = PORT, *, browser: bool = True) -> list[str]:
        """Return the command that starts JupyterLab; if the port is taken, JupyterLab tries the next ones."""
        page = f"/lab/workspaces/{_WORKSPACE}-{self.settings}" + (f"/tree/{quote(self.opened)}" if self.opened else "")
        options = [f"--ServerApp.root_dir={self.folder}", f"--ServerApp.port={port}", f"--LabApp.default_url={page}"]
        options += [] if browser else ["--no-browser"]
        # Without this option Jupyter refuses to start as root, the usual user in a container.
        options += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        return [sys.executable, "-m", "jupyterlab", *options]

    def environment(self) -> dict[str, str]:
        """Return the environment of JupyterLab, with the course's settings and kernels before those of the machine."""
        added = {"JUPYTER_CONFIG_PATH": _HERE / self.settings, "JUPYTER_PATH": _HERE / self.settings}
        before = ((name, os.environ.get(name)) for name in added)
        return {**os.environ, **{name: os.pathsep.join(filter(None, (str(added[name]), old))) for name, old in before}}

    def start(self, port: int = PORT, *, browser: bool = True) -> None:
        """Replace this process by JupyterLab, so that Ctrl-C stops it directly; does not return."""
        os.chdir(self.folder)
        sys.stdout.flush()
        command = self.command(port, browser=browser)
        os.execve(command[0], command, self.environment())
