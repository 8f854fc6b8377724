"""Small files of lines beside a notebook, to which lines are only added, so that nothing in them is ever lost."""

from __future__ import annotations

import errno
import os
from pathlib import Path

_HARMLESS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)  # do not wait for a pipe or follow a link


def append_line(path: Path, line: str) -> None:
    """Add a line to a file, which is made if it is not there; raise OSError if that cannot be done."""
    # The line break comes first, so that this is a line of its own even after a truncated line.
    data = f"\n{line}".encode()
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _HARMLESS, 0o666)
    try:
        if os.write(file, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(file)


def read_lines(path: Path, most_bytes: int) -> list[str]:
    """Return the lines of a file that are not empty; only its last bytes are read if it is longer."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no file")
    with open(os.open(path, os.O_RDONLY | _HARMLESS), "rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - most_bytes))
        lines = file.read(most_bytes).decode("utf-8", "replace").split("\n")
    return [line for line in lines if line.strip()]


def error_reason(error: OSError) -> str:
    """Return the cause of an error, as a part of a sentence."""
    return (error.strerror or type(error).__name__).lower()
