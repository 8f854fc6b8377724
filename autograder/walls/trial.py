"""Tries confinement here: `python -m autograder.walls.trial` prints why it cannot be had, or nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

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
    package = Path(__file__).resolve().parents[1]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "autograder.walls.trial"],
        env=dict(os.environ) | {"PYTHONPATH": str(package.parent)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def _try() -> int:
    from autograder.walls.confine import STATUS, Quota, Walls
    from autograder.walls.room import Room
    from autograder.walls.syscalls import compiled

    source, sink = os.pipe()
    room = Room.of_this_python(Path(__file__).resolve().parents[1])
    keeper = Walls(room, Quota(), compiled()).fork(lambda: None, sink)
    os.close(sink)
    status = os.read(source, STATUS.size)
    os.waitpid(keeper, 0)
    return 0 if status == STATUS.pack(0) else 1


if __name__ == "__main__":
    sys.exit(_try())
