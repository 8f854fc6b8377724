"""JupyterLab, set out for who reads the course or for who teaches it, whatever this machine's Jupyter is set to."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

_HERE = Path(__file__).parent
_WORKSPACE = "pytorch-basics"  # a reader's own tabs of other days stay where they are
PORT = 8888


@dataclass(frozen=True)
class Desk:
    """What JupyterLab shows: the folder, what is opened in it, and whose settings hold ("student" or "teacher")."""

    folder: Path
    opened: str
    settings: str

    def command(self, port: int = PORT, *, browser: bool = True) -> list[str]:
        """The command that starts it; a port that is taken is followed by the next one."""
        page = f"/lab/workspaces/{_WORKSPACE}-{self.settings}" + (f"/tree/{quote(self.opened)}" if self.opened else "")
        told = [f"--ServerApp.root_dir={self.folder}", f"--ServerApp.port={port}", f"--LabApp.default_url={page}"]
        told += [] if browser else ["--no-browser"]
        # Jupyter refuses to start for root, as in a container, unless it is told so.
        told += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        return [sys.executable, "-m", "jupyterlab", *told]

    def environment(self) -> dict[str, str]:
        """The variables that it is started with: settings and kernels of ours before those of the machine."""
        ours = {"JUPYTER_CONFIG_PATH": _HERE / self.settings, "JUPYTER_PATH": _HERE / self.settings}
        before = ((name, os.environ.get(name)) for name in ours)
        return {**os.environ, **{name: os.pathsep.join(filter(None, (str(ours[name]), old))) for name, old in before}}

    def start(self, port: int = PORT, *, browser: bool = True) -> None:
        """Become JupyterLab: this process is it from here on, and Ctrl-C is for it."""
        os.chdir(self.folder)
        sys.stdout.flush()
        command = self.command(port, browser=browser)
        os.execve(command[0], command, self.environment())
