"""Read one file of a submission: only a regular file, no link, and no more than a limited number of bytes."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.submission.extract_submitted_cells import MAX_BYTES_WITH_OUTPUTS, MAX_NOTEBOOK_BYTES

# The errors of opening a link, a pipe or a folder instead of a notebook; other errors are not the student's fault.
_NO_PLAIN_FILE = (errno.ELOOP, errno.ENXIO, errno.EISDIR)

# A string, up to its end or the file's, or a bracket. The quantifiers are possessive, so that each byte is read once.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_OUTPUTS = re.compile(rb'[,{]\s*+"outputs"\s*+:\s*+\Z')
_LONGEST_KEY = 100  # bytes of a key with the spaces around it
_MOST_TOKENS = 2_000_000  # strings and brackets that are read, which takes some seconds


def read_notebook_file(path: Path) -> tuple[bytes, str]:
    """Return the bytes of a submitted notebook, and, if there are none, the reason.

    Outputs do not count: if a file is too large, they are removed first. At most one byte more than the limit is
    returned. Raises WorkFailed if this machine does not allow reading the file.
    """
    data, reason = read_submitted_file(path, most=MAX_BYTES_WITH_OUTPUTS)
    if MAX_NOTEBOOK_BYTES < len(data) <= MAX_BYTES_WITH_OUTPUTS:
        data = without_outputs(data)
    return data[: MAX_NOTEBOOK_BYTES + 1], reason


def without_outputs(data: bytes) -> bytes:
    """Return a notebook's JSON with empty lists of outputs; all other lines keep their numbers.

    If the file has too many strings and brackets to be read in reasonable time, it is returned unchanged.
    """
    kept, start, depth, outer = list[bytes](), 0, 0, -1  # `outer`: depth of the list that is being left out, or -1
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


def read_submitted_file(path: Path, most: int = MAX_NOTEBOOK_BYTES) -> tuple[bytes, str]:
    """Return the bytes of a submitted file, at most `most` + 1 of them, and, if there are none, the reason.

    Raises WorkFailed if the file exists and this machine does not allow reading it.
    """
    try:
        # A link could lead to any file of the teacher's, and reading a named pipe would never end.
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return b"", "there is no such file in the submission."
    except OSError as error:
        if error.errno in _NO_PLAIN_FILE:
            return b"", f"it is no plain file that can be opened ({error.strerror}). Hand in the notebook itself."
        raise permission_error(path, error) from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        return b"", "it is no plain file. Hand in the notebook itself."
    with open(fd, "rb") as file:
        return file.read(most + 1), ""


def permission_error(path: Path, error: OSError) -> WorkFailed:
    """Return the error for a file or folder that this machine does not allow reading."""
    return WorkFailed(
        f"{path} cannot be read ({error.strerror}). This submission was not graded. "
        "Give permission to read it, then grade this student again."
    )
