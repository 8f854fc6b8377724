"""Functions that tests run in other processes; in a small module, because those import it."""

from __future__ import annotations

import os


def process_of(_student: str) -> str:
    """Return the id of the process that runs this."""
    return f"{os.getpid()}"


def dies_with(doomed: str, student: str) -> str:
    """End this process at one student; otherwise return its id."""
    if student == doomed:
        os._exit(1)
    return process_of(student)
