"""A JupyterHub that the test starts: two students fetch, solve and submit, `watch` grades, and feedback comes back.

It needs jupyterhub (`pip install 'jupyterhub>=5'`) and its proxy, in a folder that `npm install --prefix build/hub
configurable-http-proxy` makes; without them it is skipped, with a word. As in images for JupyterHub, every student's
server runs as the same account, which is called jovyan; then nbgrader takes the student's name from the hub.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
import pytest
import requests

from autograder.nbgrader_plugin.nbgrader_cycle import NbgraderCycle
from tests.second_course import CHAPTER, COURSE, SENTENCE, TURNED_ROUND, environment, make_second_course
from tests.small_chapter import PROJECT

pytestmark = [
    pytest.mark.night,
    pytest.mark.xdist_group("hub"),
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]

PROXY = PROJECT / "build" / "hub" / "node_modules" / ".bin" / "configurable-http-proxy"
COURSE_ID = "pytorch_basics"
# In a mount namespace of its own, so that the account that runs the hub is called jovyan there.
STARTED_BY = ("unshare", "--mount", *(() if os.geteuid() == 0 else ("--map-root-user",)), "sh", "-c")
_RENAMED = 'mount --bind "$0" /etc/passwd && exec "$@"'
_PATIENCE = 120.0

_CONFIG = """
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {hub_port}
c.JupyterHub.db_url = "sqlite://"
c.JupyterHub.cookie_secret_file = "{folder}/cookie_secret"
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.services = [{{"name": "test", "api_token": "{token}"}}]
c.JupyterHub.load_roles = [
    {{"name": "test", "scopes": ["admin:users", "admin:servers", "access:servers"], "services": ["test"]}}
]
c.ConfigurableHTTPProxy.command = ["{proxy}"]
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy_port}"
c.ConfigurableHTTPProxy.pid_file = "{folder}/proxy.pid"
c.Authenticator.allowed_users = {{"ada", "ben"}}
c.SimpleLocalProcessSpawner.home_dir_template = "{folder}/home/{{username}}"
c.Spawner.args = ["--allow-root"]
c.Spawner.environment = {{"JUPYTER_CONFIG_DIR": "{folder}/config"}}
c.Spawner.start_timeout = {patience}
c.Spawner.http_timeout = {patience}
"""


@dataclass(frozen=True)
class Hub:
    """A hub that runs: its address, a token that may do everything, and the folder with the students' homes."""

    address: str
    token: str
    folder: Path

    def ask(self, method: str, path: str, **more: Any) -> requests.Response:
        """Send a request, and return the answer; fail if it is an error."""
        headers = {"Authorization": f"token {self.token}"}
        answer = requests.request(method, f"{self.address}{path}", headers=headers, timeout=_PATIENCE, **more)
        assert answer.ok, (path, answer.status_code, answer.text[:2000])
        return answer

    def start_server(self, student: str) -> None:
        """Start a student's server and wait until it answers."""
        self.ask("POST", f"/hub/api/users/{student}/server")
        wait_for(lambda: self.ask("GET", f"/hub/api/users/{student}").json()["server"], f"the server of {student}")

    def exchange(self, student: str, action: str) -> None:
        """Fetch, submit or fetch feedback, as a click in nbgrader's assignment list does."""
        about = {"course_id": COURSE_ID, "assignment_id": CHAPTER}
        answer = self.ask("POST", f"/user/{student}/assignments/{action}", data=about).json()
        assert answer["success"], answer

    def solve(self, student: str, text: str) -> None:
        """Write an answer into the student's notebook through the server, as JupyterLab saves it."""
        path = f"/user/{student}/api/contents/{CHAPTER}/{CHAPTER}.ipynb"
        model = self.ask("GET", path, params={"content": "1"}).json()
        cells = model["content"]["cells"]
        next(each for each in cells if each["metadata"].get("nbgrader", {}).get("solution"))["source"] = text
        self.ask("PUT", path, json={"type": "notebook", "format": "json", "content": model["content"]})

    def page(self, student: str) -> str:
        """Return the feedback that the student has fetched."""
        (path,) = (self.folder / "home" / student / CHAPTER / "feedback").glob(f"*/{CHAPTER}.html")
        return path.read_text(encoding="utf-8")


def wait_for(fact: Callable[[], object], what: str) -> None:
    """Wait until something is true."""
    end = time.monotonic() + _PATIENCE
    while not fact():
        assert time.monotonic() < end, f"waited {_PATIENCE} s for {what}"
        time.sleep(0.2)


def wait_for_pages(exchange: Path, count: int) -> None:
    """Wait until the exchange holds so many pages of feedback."""
    wait_for(lambda: len(list((exchange / COURSE_ID / "feedback").glob("*.html"))) == count, f"feedback page {count}")


def free_ports(count: int) -> list[int]:
    """Return ports that nobody uses now."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


@contextmanager
def running_hub(folder: Path, exchange: Path) -> Iterator[Hub]:
    """Start a hub whose students use this exchange, and end it with everything that it started."""
    (folder / "config").mkdir(parents=True)
    for student in ("ada", "ben"):
        (folder / "home" / student).mkdir(parents=True)
    settings = f'c = get_config()\nc.Exchange.root = "{exchange}"\nc.CourseDirectory.course_id = "{COURSE_ID}"\n'
    (folder / "config" / "nbgrader_config.py").write_text(settings)
    token, (port, hub_port, proxy_port) = secrets.token_hex(16), free_ports(3)
    values = {"port": port, "hub_port": hub_port, "proxy_port": proxy_port, "token": token}
    config = folder / "jupyterhub_config.py"
    config.write_text(_CONFIG.format(**values, folder=folder, proxy=PROXY, patience=int(_PATIENCE)))
    names = Path("/etc/passwd").read_text().splitlines()
    accounts = ["jovyan:x:0:0::/root:/bin/sh", *(line for line in names if line.split(":")[2:3] != ["0"])]
    (passwd := folder / "passwd").write_text("\n".join(accounts) + "\n")
    command = [*STARTED_BY, _RENAMED, str(passwd), sys.executable, "-m", "jupyterhub", "-f", str(config)]
    with (folder / "hub.log").open("w") as log:
        hub = subprocess.Popen(command, cwd=folder, env=environment(), stdout=log, stderr=log, start_new_session=True)
        made = Hub(f"http://127.0.0.1:{port}", token, folder)
        try:
            wait_for(lambda: hub.poll() is not None or answers(made), "the hub")
            assert hub.poll() is None, (folder / "hub.log").read_text()[-3000:]
            yield made
        finally:
            hub.terminate()
            hub.wait(_PATIENCE)


def answers(hub: Hub) -> bool:
    """Return whether the hub answers through its proxy."""
    try:
        return requests.get(f"{hub.address}/hub/api", timeout=5).ok
    except requests.RequestException:
        return False


@pytest.mark.skipif(find_spec("jupyterhub") is None, reason="jupyterhub is not installed")
@pytest.mark.skipif(not PROXY.exists(), reason=f"no {PROXY.name} in build/hub")
def test_fetch_solve_submit_watch_feedback(tmp_path: Path) -> None:
    """Feedback is there within a minute of the submission, each student's own."""
    course = make_second_course(tmp_path / "project") / COURSE
    (exchange := tmp_path / "exchange").mkdir()
    exchange.chmod(0o777)
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(f'\nc.Exchange.root = "{exchange}"\n')
    subprocess.run([sys.executable, "-m", "autograder", "build"], cwd=course.parent, env=environment(), check=True)
    solved = nbformat.read(course.parent / "solutions" / f"{CHAPTER}.ipynb", as_version=4)
    right = next(each.source for each in solved.cells if each.metadata.get("nbgrader", {}).get("solution"))
    cycle = NbgraderCycle(course, CHAPTER)
    cycle.generate()
    cycle.release()
    watch = subprocess.Popen(
        [sys.executable, "-m", "autograder", "watch", CHAPTER, "--every", "1"],
        cwd=course,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        with running_hub(tmp_path / "hub", exchange) as hub:
            for student, answer in (("ada", TURNED_ROUND), ("ben", right)):
                hub.start_server(student)
                hub.exchange(student, "fetch")
                hub.solve(student, answer)
            begun = time.monotonic()
            for count, student in enumerate(("ada", "ben"), start=1):
                hub.exchange(student, "submit")
                wait_for_pages(exchange, count)
                hub.exchange(student, "fetch_feedback")
            seconds = time.monotonic() - begun
            pages = {student: hub.page(student) for student in ("ada", "ben")}
    finally:
        watch.terminate()
        said = watch.communicate()[0]

    assert SENTENCE in pages["ada"] and SENTENCE not in pages["ben"], said
    assert "ada: 1 of 2 points, feedback returned, try 1 today." in said
    assert "ben: 2 of 2 points, feedback returned, try 1 today." in said
    assert seconds < 60, f"two students waited {seconds:.0f} s in turn"
