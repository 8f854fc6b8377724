"""Play the platforms: lay a bundle and a submission out as each of them does, and start what it starts.

A container's own parts are made here: the interpreter that a platform's set-up would have installed is a program that
starts this one. `starts` comes before each command, such as the one that simulates a container.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.grading.verdict_store import SEED_VARIABLE
from tests.small_chapter import PROJECT

SEED = 20_261_129
# The wheel's modules in place of the project's, and none of the packages that a bundle does not install.
_FROM_WHEEL = """
import runpy, sys
for name in ("nbgrader", "nbconvert", "jupyterlab", "ipykernel", "jupytext", "papermill", "psutil", "tomlkit", "tqdm"):
    sys.modules[name] = None
sys.path.insert(0, sys.argv.pop(1))
runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
"""


@dataclass(frozen=True)
class Played:
    """What a platform finds after it has graded a submission: the exit status, the log, and the result, if any."""

    status: int
    log: str
    result: dict[str, Any] | None
    body: str = ""

    @property
    def tests(self) -> list[tuple[str, float, str]]:
        """The name, points and report of each exercise that counts in the result."""
        assert self.result is not None
        if "schema" in self.result:
            reports = re.findall(r"^`{3,}\n(\w+: .*?)\n`{3,}$", self.body, re.MULTILINE | re.DOTALL)
            named = {text.partition(":")[0]: text for text in reports}
            return [(test["test-name"], test["score"] / 100, named[test["test-name"]]) for test in self.result["tests"]]
        keys = ("name", "score", "output") if "output" in self.result else ("name", "points", "message")
        return [(test[keys[0]], test[keys[1]], test[keys[2]]) for test in self.result["tests"]]


@dataclass(frozen=True)
class Platform:
    """A folder in which a platform's layout is made, the bundle, what starts commands, and the interpreter.

    If an unpacked wheel is named, its modules are run.
    """

    folder: Path
    bundle: Path
    starts: tuple[str, ...] = ()
    wheel: Path | None = None
    python: str = sys.executable

    def run(self, command: list[str], env: Mapping[str, str]) -> tuple[int, str]:
        """Run what the platform starts; return the exit status and what was printed."""
        known = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "OMP_NUM_THREADS") if name in os.environ}
        ran = subprocess.run(
            [*self.starts, *command],
            env=known | {SEED_VARIABLE: str(SEED)} | dict(env),
            cwd=PROJECT,  # where the module that simulates a container is
            capture_output=True,
            text=True,
            check=False,
        )
        return ran.returncode, ran.stdout + ran.stderr


def _install_python(platform: Platform, program: Path) -> None:
    """Write a program in place of the interpreter that a platform's set-up installs."""
    start = f'exec {shlex.quote(platform.python)} "$@"'
    if platform.wheel is not None:
        words = [platform.python, "-I", "-c", _FROM_WHEEL, str(platform.wheel)]
        start = f'shift 2; exec {shlex.join(words)} "$@"'  # in place of -I -m
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{start}\n")
    program.chmod(0o755)


def _hand_in(folder: Path, files: Mapping[str, bytes]) -> Path:
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def _read(path: Path) -> dict[str, Any] | None:
    return dict(json.loads(path.read_text())) if path.is_file() else None


def play_gradescope(platform: Platform, files: Mapping[str, bytes]) -> Played:
    """Unpack the zip into `source`, copy `run_autograder` up, and run it in /autograder, with an empty `results`."""
    root = platform.folder / "autograder"
    with zipfile.ZipFile(next(platform.bundle.glob("*.zip"))) as archive:
        archive.extractall(root / "source")
    script = root / "run_autograder"
    script.write_bytes((root / "source" / "run_autograder").read_bytes())
    script.chmod(0o755)
    _install_python(platform, root / "venv" / "bin" / "python")
    if not (results := root / "results").exists():  # a test may have laid something in its place
        results.mkdir()
    _hand_in(root / "submission", files)
    status, log = platform.run([str(script)], {})
    return Played(status, log, _read(results / "results.json"))


def play_prairielearn(platform: Platform, files: Mapping[str, bytes]) -> Played:
    """Copy `tests` and the student's files below /grade, and run the entrypoint; `results` is not made before."""
    root = platform.folder / "grade"
    (question,) = (path.parent for path in platform.bundle.glob("*/info.json"))
    options = json.loads((question / "info.json").read_text())["externalGradingOptions"]
    _hand_in(root / "tests", _files(question / "tests"))
    _hand_in(root / "student", files)
    entrypoint = root / Path(options["entrypoint"]).relative_to("/grade")
    entrypoint.chmod(0o755)
    _install_python(platform, platform.folder / "bin" / "python3")
    path = f"{platform.folder / 'bin'}:{os.environ['PATH']}"
    status, log = platform.run([str(entrypoint)], {"PATH": path})
    return Played(status, log, _read(root / "results" / "results.json"))


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def play_classroom50(platform: Platform, files: Mapping[str, bytes]) -> Played:
    """Unpack the bundle into the runner's folder, and run `autograder.py` with the student's checkout as its folder."""
    (folder,) = (path.parent for path in platform.bundle.glob("*/autograder.py"))
    runtime = platform.folder / "runtime" / folder.name
    _hand_in(runtime, _files(folder))
    checkout = _hand_in(platform.folder / "checkout", {".git/config": b"", "README.md": b"# Mine", **files})
    env = {
        "CLASSROOM": "torch",
        "ASSIGNMENT": folder.name,
        "SUBMISSION_TAG": "submit/2026-09-01T14-32-05Z-a1b2c3d",
        "COMMIT_URL": "https://github.com/o/r/commit/1",
        "RELEASE_URL": "https://github.com/o/r/releases/tag/1",
    }
    there = ["sh", "-c", 'cd "$0" && exec "$@"', str(checkout)]
    status, log = platform.run([*there, platform.python, str(runtime / "autograder.py")], env)
    body = checkout / "release-body.md"
    return Played(status, log, _read(checkout / "result.json"), body.read_text() if body.is_file() else "")


PLAYS: dict[str, Callable[[Platform, Mapping[str, bytes]], Played]] = {
    "gradescope": play_gradescope,
    "prairielearn": play_prairielearn,
    "classroom50": play_classroom50,
}
