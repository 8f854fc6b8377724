"""Reading one file of a submission: only a plain one, and only so much of it."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.reading.handed import MAX_BYTES

# What a link, a pipe or a folder in the place of a notebook gives; other errors are no fault of the student's.
_NO_PLAIN_FILE = (errno.ELOOP, errno.ENXIO, errno.EISDIR)


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
