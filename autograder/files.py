"""Files written all or none: a full disk or a stopped run leaves every old file as it was. And digests of texts."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.errors import WorkFailed


def write_all(contents: Mapping[Path, bytes]) -> None:
    """Write files, making their folders; raises WorkFailed, the old files untouched, where that cannot be.

    Everything is written beside its place first. Only when all of it is on the disk do the new files take the
    old ones' places, each in one step.
    """
    waiting: dict[Path, Path] = {}
    try:
        for path, data in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            waiting[path] = path.with_name(f".{path.name}.{os.getpid()}.tmp")
            _write(waiting[path], data)
        for path, new in waiting.items():
            os.replace(new, path)
    except OSError as error:
        raise WorkFailed(
            f"cannot write {error.filename or path}: {error.strerror}; no old file was lost. "
            "Make room or give permission, then run the command again."
        ) from error
    finally:
        for new in waiting.values():
            with contextlib.suppress(OSError):  # the error that is told is the one before
                new.unlink()


def remember(path: Path) -> None:
    """Leave an empty file: that it is there is all that it says."""
    write_all({path: b""})


def written_since(moment: float, paths: Iterable[Path]) -> bool:
    """Whether any of these files was written, renamed or removed after a moment (in seconds, as `time.time` tells)."""
    return any(_last_touched(path) >= moment for path in paths)


def _last_touched(path: Path) -> float:
    try:
        status = path.stat()
    except OSError:  # it is not there any more
        return math.inf
    return max(status.st_mtime, status.st_ctime)


def _write(path: Path, data: bytes) -> None:
    path.unlink(missing_ok=True)
    with path.open("xb") as file:  # a link that waits under this name is not followed
        file.write(data)
        file.flush()
        os.fsync(file.fileno())  # some disks say that they are full only now


def digest_of(*parts: str | bytes) -> str:
    """One digest for several texts, which tells ("ab", "c") from ("a", "bc")."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        whole.update(hashlib.sha256(data).digest())
    return whole.hexdigest()


def put_aside(path: Path, project: Path) -> Path:
    """Move a file of the project to build/aside/, under a free name; returns where it is."""
    place = project / "build" / "aside" / path.relative_to(project)
    place.parent.mkdir(parents=True, exist_ok=True)
    free, number = place, 1
    while free.exists():
        number += 1
        free = place.with_name(f"{place.stem}-{number}{place.suffix}")
    return path.rename(free)
