"""One at a time: whoever writes into a course folder holds its lock, which ends with the process."""

from __future__ import annotations

import contextlib
import os
import re
import socket
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from autograder.errors import WorkFailed

LOCK = Path("verdicts") / ".at-work"  # in the course folder; its text says who holds it
_MOST = 500  # characters of that text
_UNFINISHED = re.compile(r"\..+\.\d+\.tmp")  # as `write_all` names what it has not finished
_held: dict[Path, int] = {}  # how often this process holds the lock of a course


@contextlib.contextmanager
def alone(course: Path, what: str) -> Iterator[None]:
    """Hold the lock of a course folder while `what` is done; raises WorkFailed where another process holds it.

    A process that is killed leaves no lock behind: the system takes it away. Who holds it may take it again. Where a
    file system has no locks, as some network drives, and on Windows, nothing is locked. What a killed process was
    writing is removed.
    """
    place = course.resolve()
    with contextlib.ExitStack() as stack:
        if place not in _held:
            fd = _locked(place / LOCK)
            if fd is not None:
                stack.callback(os.close, fd)
                os.ftruncate(fd, 0)
                told = f"`{what}`, process {os.getpid()} on {socket.gethostname()}, since {datetime.now():%H:%M:%S}"
                os.pwrite(fd, told.encode("utf-8", "replace"), 0)
                _remove_unfinished(place)
        _held[place] = _held.get(place, 0) + 1
        try:
            yield
        finally:
            _held[place] -= 1
            if not _held[place]:
                del _held[place]


def _locked(path: Path) -> int | None:
    """A descriptor that holds the lock, for as long as it is open; None where there are no locks."""
    try:
        import fcntl

        path.parent.mkdir(exist_ok=True)
        # Not handed on to programs that are started. A link in its place is not followed.
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except (ImportError, OSError):  # Windows; a folder that cannot be written to, of which others tell more
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
    """Remove what a process that was killed had not finished writing; nothing behind a link."""
    for pattern in ("verdicts/*", "verdicts/*/.keys", "submitted/*/*"):
        for folder in course.glob(pattern):
            with contextlib.suppress(OSError):
                entries = folder.iterdir() if folder.resolve() == folder else ()
                for path in entries:
                    if _UNFINISHED.fullmatch(path.name):
                        path.unlink()
