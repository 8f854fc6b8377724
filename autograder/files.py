"""Write several files without losing old ones, compute digests, and move files out of the way.

After a full disk or an interrupted run, every file is complete: either the old one or the new one.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.errors import WorkFailed


def write_all(contents: Mapping[Path, bytes]) -> None:
    """Write files, and create the folders that they need.

    Every file is first written beside its destination. Only when all of them are on the disk does each replace the old
    one, in one step. Raises WorkFailed if the system refuses to write; no old file is then damaged.
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
            with contextlib.suppress(OSError):  # the error to report is the first one
                new.unlink()


def create_marker_file(path: Path) -> None:
    """Create an empty file. Its existence is the information."""
    write_all({path: b""})


def has_any_changed_since(moment: float, paths: Iterable[Path]) -> bool:
    """Return whether any of these files was written, renamed or removed since `moment` (seconds, as of `time.time`)."""
    return any(_last_touched(path) >= moment for path in paths)


def _last_touched(path: Path) -> float:
    try:
        status = path.stat()
    except OSError:  # the file no longer exists
        return math.inf
    return max(status.st_mtime, status.st_ctime)


def _write(path: Path, data: bytes) -> None:
    path.unlink(missing_ok=True)
    with path.open("xb") as file:  # "x" does not follow a link that somebody placed under this name
        file.write(data)
        file.flush()
        os.fsync(file.fileno())  # some file systems report a full disk only here


def sha256_of_texts(*parts: str | bytes) -> str:
    """Return one SHA-256 digest for several texts. The digests of ("ab", "c") and ("a", "bc") differ."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        whole.update(hashlib.sha256(data).digest())
    return whole.hexdigest()


def move_to_build_aside(path: Path, project: Path) -> Path:
    """Move a file of the project to build/aside/, under a name that is free there; return its new path."""
    place = project / "build" / "aside" / path.relative_to(project)
    place.parent.mkdir(parents=True, exist_ok=True)
    free, number = place, 1
    while free.exists():
        number += 1
        free = place.with_name(f"{place.stem}-{number}{place.suffix}")
    return path.rename(free)
