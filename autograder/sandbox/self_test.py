"""Tries confinement here: `python -m autograder.sandbox.self_test` prints why it cannot be had, or nothing."""

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

from autograder.sandbox.root_filesystem import Room, move_in

if TYPE_CHECKING:
    from autograder.sandbox.confine import Walls

_PACKAGE = Path(__file__).resolve().parents[1]
_MODULES = (".py", ".so")
_FEW = 2  # levels: packages, and what lies directly in them; each level more takes three times as long to look through
_ALL = 20
_MESSAGE_BYTES = 4096  # a pipe takes them without waiting for a reader
_begun: list[subprocess.Popen[str]] = []


def begin() -> None:
    """Begin to try, for `missing` to tell: whoever has much to import before that does not wait for it then."""
    if sys.platform == "linux" and not _begun and not missing.cache_info().currsize:
        _begun.append(_started())


@lru_cache(maxsize=1)
def missing() -> str | None:
    """Why nothing can be confined on this machine; None where it can. Tried once, in a process of its own."""
    if sys.platform != "linux":
        return f"confinement is written for Linux, and this is {sys.platform}"
    with _begun.pop() if _begun else _started() as tried:
        try:
            _, complaints = tried.communicate(timeout=60)
        finally:
            tried.kill()
    if tried.returncode == 0:
        return None
    told = complaints.strip().splitlines()
    return told[-1] if told else f"a trial ended with exit code {tried.returncode}"


def _started() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "autograder.sandbox.self_test"],
        env=dict(os.environ) | {"PYTHONPATH": str(_PACKAGE.parent)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def trouble(walls: Walls, lessons: Sequence[Path] = ()) -> str | None:
    """Why no submission can run behind these walls; None where one can, and "" where stderr tells the reason.

    Forks a process as for a submission. It moves in, and tries whether the user that it has become can read packages
    and what `lessons` import: a submission that imports it late would lose points with an error that is not its own.
    """
    from autograder.sandbox.confine import STATUS  # not to be had where there is no Linux

    (source, sink), (told, status) = os.pipe(), os.pipe()

    def inner() -> None:
        move_in()
        os.write(sink, _locked_out(lessons).encode(errors="replace")[:_MESSAGE_BYTES])

    first = walls.fork(inner, status, keep=(sink,))
    for descriptor in (sink, status):
        os.close(descriptor)
    with open(source, "rb") as complaint, open(told, "rb") as ending:
        text, ended = complaint.read().decode(errors="replace"), ending.read()
    os.waitpid(first, 0)
    return None if ended == STATUS.pack(0) and not text else text


def _locked_out(lessons: Sequence[Path]) -> str:
    """A sentence about the modules that this process cannot read; "" where it can read them."""
    roots = [(path, _ALL) for path in (_PACKAGE, *lessons)]
    roots += [(path, _FEW) for path in map(Path, sys.path) if path != _PACKAGE.parent]
    found = [list(_unreadable(_outermost(path), levels)) for path, levels in roots]
    paths = dict.fromkeys(path for each in found for path in each)
    if not paths:
        return ""
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    # Not the folder of all of them: that may be the clone, with submissions and grades.
    opened = dict.fromkeys(shlex.quote(os.path.commonpath(each)) for each in found if each)
    return (
        f"students' code runs as an ordinary user, and that user cannot read {next(iter(paths))}{more} (a umask of 027 "
        f"or 077 gives such rights). `chmod -R o+rX {' '.join(opened)}` lets everybody read it"
    )


def _outermost(path: Path) -> str:
    """The first folder on the way to a path that this process cannot pass; the path, where it gets there."""
    return str(next((each for each in reversed(path.parents) if not os.access(each, os.X_OK)), path))


def _unreadable(path: str, levels: int) -> Iterator[str]:
    """What this process cannot read of a module, or of a folder of modules some levels deep."""
    is_folder = os.path.isdir(path)
    if not os.access(path, os.R_OK | os.X_OK if is_folder else os.R_OK):
        yield from (path,) if os.path.exists(path) else ()  # `sys.path` and links may lead nowhere
    elif is_folder and levels:
        for entry in sorted(os.scandir(path), key=attrgetter("name")):
            if entry.name.endswith(_MODULES) or ("." not in entry.name and entry.name != "__pycache__"):
                yield from _unreadable(entry.path, levels - 1)


def _try() -> int:
    from autograder.sandbox.confine import Quota, Walls
    from autograder.sandbox.seccomp_filter import compiled

    reason = trouble(Walls(Room.of_this_python(_PACKAGE), Quota(), compiled()))
    if reason:
        print(reason, file=sys.stderr)
    return 0 if reason is None else 1


if __name__ == "__main__":
    sys.exit(_try())
