"""Reading one file of a submission: only a plain one, and only so much of it."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.submission.submitted_cells import MAX_BYTES, MAX_FILE

# What a link, a pipe or a folder in the place of a notebook gives; other errors are no fault of the student's.
_NO_PLAIN_FILE = (errno.ELOOP, errno.ENXIO, errno.EISDIR)

# A string, to its end or to the file's, or a bracket. Possessive: each byte is read once.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_OUTPUTS = re.compile(rb'[,{]\s*+"outputs"\s*+:\s*+\Z')
_LONGEST_KEY = 100  # bytes, with the spaces around it
_MOST_TOKENS = 2_000_000  # that are looked at: some seconds


def notebook_in(path: Path) -> tuple[bytes, str]:
    """The bytes of a submitted notebook, and the reason why there are none, as `handed_in`.

    Outputs count for nothing: if a file is too large to be read, they are taken out of it first.
    """
    data, reason = handed_in(path, most=MAX_FILE)
    if MAX_BYTES < len(data) <= MAX_FILE:
        data = without_outputs(data)
    return data[: MAX_BYTES + 1], reason


def without_outputs(data: bytes) -> bytes:
    """The JSON of a notebook with empty lists of outputs; its other lines keep their numbers."""
    kept, start, depth, outer = list[bytes](), 0, 0, -1  # `outer`: how deep the list lies that is being left out
    for count, token in enumerate(_TOKEN.finditer(data)):
        place = token.start()
        sign = data[place]
        if count == _MOST_TOKENS:
            return data
        if sign in b"[{":
            if sign == ord("[") and outer < 0 and _is_of_outputs(data, place):
                kept.append(data[start : place + 1])
                start, outer = place + 1, depth
            depth += 1
        elif sign in b"]}":
            depth -= 1
            if depth == outer:
                kept.append(b"\n" * data.count(b"\n", start, place))
                start, outer = place, -1
    return b"".join(kept) + (data[start:] if outer < 0 else b"")


def _is_of_outputs(data: bytes, place: int) -> bool:
    near = max(0, place - _LONGEST_KEY)
    return b'"outputs"' in data[near:place] and _OUTPUTS.search(data, near, place) is not None


def handed_in(path: Path, most: int = MAX_BYTES) -> tuple[bytes, str]:
    """The bytes of a submitted file, at most one more than is read, and the reason why there are none.

    Raises WorkFailed where the file is there and this machine does not let us read it.
    """
    try:
        # A link could lead to any file of the teacher's; a named pipe would never end.
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return b"", "there is no such file in the submission."
    except OSError as error:
        if error.errno in _NO_PLAIN_FILE:
            return b"", f"it is no plain file that can be opened ({error.strerror}). Hand in the notebook itself."
        raise unreadable(path, error) from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        return b"", "it is no plain file. Hand in the notebook itself."
    with open(fd, "rb") as file:
        return file.read(most + 1), ""


def unreadable(path: Path, error: OSError) -> WorkFailed:
    """The error for a file or a folder that this machine does not let us read."""
    return WorkFailed(
        f"{path} cannot be read ({error.strerror}). This submission was not graded. "
        "Give permission to read it, then grade this student again."
    )
