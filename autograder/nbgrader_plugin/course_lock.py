"""Lock a course folder, so that only one process writes to it at a time. The lock ends with the process."""

from __future__ import annotations

import contextlib
import os
import re
import socket
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from autograder.errors import WorkFailed

LOCK_FILE = Path("verdicts") / ".at-work"  # in the course folder; its text names the command that holds it
_MOST = 500  # characters of that text
_UNFINISHED = re.compile(r"\..+\.\d+\.tmp")  # names of the temporary files of `write_all`
_held: dict[Path, int] = {}  # how often this process holds the lock of a course


@contextlib.contextmanager
def lock_course(course: Path, what: str) -> Iterator[None]:
    """Hold the lock of a course folder; raise WorkFailed if another process holds it.

    `what` names the work for the error message of the other process. The lock is reentrant, and the system releases
    it when a process is killed; then the temporary files of that process are removed. Nothing is locked on Windows and
    on file systems without locks, such as some network drives.
    """
    place = course.resolve()
    with contextlib.ExitStack() as stack:
        if place not in _held:
            fd = _locked(place / LOCK_FILE)
            if fd is not None:
                stack.callback(os.close, fd)
                os.ftruncate(fd, 0)
                text = f"`{what}`, process {os.getpid()} on {socket.gethostname()}, since {datetime.now():%H:%M:%S}"
                os.pwrite(fd, text.encode("utf-8", "replace"), 0)
                _remove_unfinished(place)
        _held[place] = _held.get(place, 0) + 1
        try:
            yield
        finally:
            _held[place] -= 1
            if not _held[place]:
                del _held[place]


def _locked(path: Path) -> int | None:
    """Return an open file descriptor that holds the lock, or None where locks are not available.

    Raises WorkFailed if another process holds the lock.
    """
    try:
        import fcntl

        path.parent.mkdir(exist_ok=True)
        # The descriptor is not inherited by child processes. O_NOFOLLOW refuses a link in place of the lock file.
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except (ImportError, OSError):  # Windows, or no write permission, which the caller reports when it writes
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(fd, _MOST, 0).decode("utf-8", "replace") or "another process"
        os.close(fd)
        raise WorkFailed(
            f"{holder}, is at work in {path.parents[1]}, and only one may write there at a time. Nothing was changed. "
            "Wait until it has ended, or end that process, and run this again: what it has done is kept."
        ) from None
    except OSError:
        os.close(fd)
        return None
    return fd


def _remove_unfinished(course: Path) -> None:
    """Remove the temporary files of a process that was killed, without following links."""
    for pattern in ("verdicts/*", "verdicts/*/.keys", "submitted/*/*"):
        for folder in course.glob(pattern):
            with contextlib.suppress(OSError):
                entries = folder.iterdir() if folder.resolve() == folder else ()
                for path in entries:
                    if _UNFINISHED.fullmatch(path.name):
                        path.unlink()
