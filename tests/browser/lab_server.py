"""A JupyterLab server for the tests, which does not touch the user's settings, workspaces or notebooks."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import APIRequestContext

from tests.small_chapter import PROJECT

PATIENCE = 240  # seconds until the server must answer, on a busy machine

# The page contains all cells, in view or not, and JupyterLab asks nothing about news; as the course sets it, a notebook
# keeps the state of its explorers.
SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
    "@jupyter-widgets/jupyterlab-manager/plugin": {"saveState": True},
}


@dataclass(frozen=True)
class Server:
    """The address and the token of a JupyterLab server, and the folder that it shows."""

    address: str
    token: str
    folder: Path

    def page(self, notebook: str) -> str:
        """Return the address of a notebook in the folder, in a new workspace."""
        return f"{self.address}/lab/workspaces/{secrets.token_hex(4)}/tree/{notebook}?token={self.token}"

    def plain_page(self, notebook: str) -> str:
        """Return the address of a notebook of the folder in Notebook 7, which shows one notebook and nothing else."""
        return f"{self.address}/notebooks/{notebook}?token={self.token}"

    def end_kernels(self, request: APIRequestContext, but: str = "") -> None:
        """End the kernels of all notebooks but one."""
        for session in request.get(f"{self.address}/api/sessions?token={self.token}").json():
            if session["path"] == but:
                continue
            request.delete(f"{self.address}/api/sessions/{session['id']}?token={self.token}")


@contextmanager
def lab_server(home: Path, folder: Path) -> Iterator[Server]:
    """JupyterLab on a free port, started in `folder`, with all that it keeps below `home`; its kernels end with it."""
    _write_settings(home / "settings")
    port, token = _free_port(), secrets.token_hex(16)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--expose-app-in-browser", "--allow-root"]
    command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder}"]
    command += [f"--IdentityProvider.token={token}", "--JupyterNotebookApp.expose_app_in_browser=True"]
    server = Server(f"http://127.0.0.1:{port}", token, folder)
    with (home / "server.log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=_environment(home), stdout=log, stderr=log)
    try:
        _wait(server, process, home / "server.log")
        yield server
    finally:
        process.terminate()  # on SIGTERM the server ends its kernels
        process.wait(30)


def _write_settings(folder: Path) -> None:
    for name, values in SETTINGS.items():
        path = folder / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))


def _environment(home: Path) -> dict[str, str]:
    """Return the environment: all places of Jupyter are below `home`, and kernels import the code under test."""
    places = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    own = {variable: str(home / place) for variable, place in places.items()}
    return {**os.environ, **own, "PYTHONPATH": str(PROJECT)}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the server answers; raises RuntimeError with the end of its log if it does not."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(f"{server.address}/api/status?token={server.token}", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.3)
    raise RuntimeError(f"JupyterLab does not answer:\n{log.read_text()[-2000:]}")
