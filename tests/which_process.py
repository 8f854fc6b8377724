"""What tests let other processes do; apart, as those import it, and nothing large with it."""

from __future__ import annotations

import os


def process_of(_student: str) -> str:
    """Tells which process it is called in."""
    return f"{os.getpid()}"


def dies_with(doomed: str, student: str) -> str:
    """Ends its process at one student."""
    if student == doomed:
        os._exit(1)
    return process_of(student)
