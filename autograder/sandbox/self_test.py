"""Try whether this machine can confine code: `autograder.sandbox.self_test` prints how, and why not better."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.sandbox.root_filesystem import RootFilesystem, enter_home_folder

if TYPE_CHECKING:
    from autograder.sandbox.confine import Confinement

_PACKAGE = Path(__file__).resolve().parents[1]
_MODULES = (".py", ".so")
_PACKAGE_LEVELS = 2  # of folders: packages and their direct contents; each further level takes three times as long
_ALL_LEVELS = 20
_MESSAGE_BYTES = 4096  # a pipe takes them without waiting for a reader
_processes: list[subprocess.Popen[str]] = []


def start_self_test() -> None:
    """Start the self-test in the background; `confinement_problem` waits for its result.

    A command that first imports much then has the result without waiting.
    """
    if sys.platform == "linux" and not _processes and not confinement_problem.cache_info().currsize:
        _processes.append(_started())


@lru_cache(maxsize=1)
def confinement_problem() -> str | None:
    """Return why this machine cannot confine code, or None if it can. The test runs once, in a process of its own."""
    if sys.platform != "linux":
        return f"confinement is written for Linux, and this is {sys.platform}"
    return _result_of(_processes.pop() if _processes else _started())


@lru_cache
def unreadable_lessons(lessons: tuple[Path, ...]) -> str | None:
    """Return why students' code could not read what chapters import, or None if it can.

    Only where root grades does that code run as another user, whom a umask of 027 or 077 keeps out.
    """
    return _result_of(_started(*map(str, lessons))) if sys.platform == "linux" and os.geteuid() == 0 else None


def _result_of(process: subprocess.Popen[str]) -> str | None:
    with process:
        try:
            _, stderr = process.communicate(timeout=60)
        finally:
            process.kill()
    if process.returncode == 0:
        return None
    lines = stderr.strip().splitlines()
    return lines[-1] if lines else f"a trial ended with exit code {process.returncode}"


def _started(*lessons: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "autograder.sandbox.self_test", *lessons],
        env=dict(os.environ) | {"PYTHONPATH": str(_PACKAGE.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def standing_wall() -> tuple[str, str]:
    """Return what confines code here (the `name` of a confinement), and why nothing stronger does.

    For machines that can confine code.
    """
    with _started() as process:
        stdout, _ = process.communicate(timeout=60)
    name, _, reason = stdout.partition("\n")
    return name, reason.strip()


def find_problem(walls: Confinement, lessons: Sequence[Path] = ()) -> str | None:
    """Return why no submission can run in this confinement: None if one can, and "" if the reason is on stderr.

    Forks a confined process as for a submission. There it tests whether the user that it has become can read the
    installed packages and the modules at `lessons`, which chapters import. Otherwise a submission that imports one of
    them late would lose points through an error that is not its own.
    """
    from autograder.sandbox.confine import WAIT_STATUS  # can be imported on Linux only

    (source, sink), (status_source, status) = os.pipe(), os.pipe()

    def inner() -> None:
        enter_home_folder()
        os.write(sink, _unreadable_modules(lessons).encode(errors="replace")[:_MESSAGE_BYTES])

    first = walls.fork(inner, status, keep=(sink,))
    for descriptor in (sink, status):
        os.close(descriptor)
    with open(source, "rb") as complaint, open(status_source, "rb") as ending:
        text, ended = complaint.read().decode(errors="replace"), ending.read()
    os.waitpid(first, 0)
    return None if ended == WAIT_STATUS.pack(0) and not text else text


def _unreadable_modules(lessons: Sequence[Path]) -> str:
    """Return a sentence about modules that this process cannot read, or "" if it can read all of them."""
    roots = [(path, _ALL_LEVELS) for path in (_PACKAGE, *lessons)]
    roots += [(path, _PACKAGE_LEVELS) for path in map(Path, sys.path) if path != _PACKAGE.parent]
    found = [list(_unreadable(_outermost(path), levels)) for path, levels in roots]
    paths = dict.fromkeys(path for each in found for path in each)
    if not paths:
        return ""
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    # One folder for each root, and not the folder that contains them all: that may be the clone, with the submissions
    # and grades in it, and everybody could read these after the advised command.
    opened = dict.fromkeys(shlex.quote(os.path.commonpath(each)) for each in found if each)
    return (
        f"students' code runs as an ordinary user, and that user cannot read {next(iter(paths))}{more} (a umask of 027 "
        f"or 077 gives such rights). `chmod -R o+rX {' '.join(opened)}` lets everybody read it"
    )


def _outermost(path: Path) -> str:
    """Return the first folder above the path that this process cannot enter, or the path itself if it can enter all."""
    return str(
        next((each for each in reversed(path.parents) if not os.access(each, os.X_OK, effective_ids=True)), path)
    )


def _unreadable(path: str, levels: int) -> Iterator[str]:
    """Yield the paths that this process cannot read: a module, or those in a folder of modules, some levels deep."""
    is_folder = os.path.isdir(path)
    if not os.access(path, os.R_OK | os.X_OK if is_folder else os.R_OK, effective_ids=True):
        yield from (path,) if os.path.exists(path) else ()  # entries of `sys.path` and links may not exist
    elif is_folder and levels:
        for entry in _entries(path):
            if entry.name.endswith(_MODULES) or ("." not in entry.name and entry.name != "__pycache__"):
                yield from _unreadable(entry.path, levels - 1)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """Return the entries of a readable folder; none if Landlock shows no code this folder of `sys.path`."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=attrgetter("name"))
    except PermissionError:
        return []


def _run_self_test() -> int:
    from autograder.sandbox.choose_wall import choose_wall

    lessons = tuple(map(Path, sys.argv[1:]))
    choice = choose_wall(RootFilesystem.of_this_python(_PACKAGE, *lessons), lessons)
    if choice.walls is None:
        print(choice.reason, file=sys.stderr)
        return 1
    print(choice.walls.name, choice.reason, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(_run_self_test())
