"""Waiting for a child process: as long as it may compute, and what to say of one that has ended."""

from __future__ import annotations

import os
import select
import signal
import time
from dataclasses import dataclass

from autograder.sandbox.execution.program import Child

ENDED = "the code ended the Python process"
SILENCED = "the code closed the line to the grader"
PROCESS_ENDED = "ProcessEnded"
_AT_ONCE = 0.05  # seconds
PATIENCE = 4  # how many times its seconds an exercise may take where it does not compute


@dataclass
class Patience:
    """How long a submission will still be waited for, in all its processes together."""

    seconds: float


def wait_for(child: Child, seconds: float, patience: Patience) -> None:
    """Wait until something comes; TimeoutError after so many seconds of computing, or some times that without.

    On a busy machine an answer must not run out of time because others compute.
    """
    end = time.monotonic() + min(PATIENCE * seconds, patience.seconds)
    if _comes(child, min(_AT_ONCE, seconds)):  # nearly always, and then there is no clock to be read
        return
    before, left = child.cpu_seconds(), seconds
    while left > 0 and time.monotonic() < end:
        if _comes(child, min(left, end - time.monotonic())):
            return
        left = seconds - (child.cpu_seconds() - before)
    raise TimeoutError


def _comes(child: Child, within: float) -> bool:
    """Whether something comes within so many seconds."""
    return bool(select.select([child.source], [], [], max(0.0, within))[0])


def epitaph(child: Child) -> tuple[str, str]:
    """The kind of end, and a word about it, of a child that has closed its line."""
    status = child.ended(within=5)
    if status is None:
        return "LineClosed", SILENCED
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        return PROCESS_ENDED, f"{ENDED} (signal {_signal_name(-code)})"
    return PROCESS_ENDED, f"{ENDED} (exit code {code})"


def _signal_name(number: int) -> str:
    """`SIGKILL` for 9; the number itself for the many that have no name."""
    return next((each.name for each in signal.Signals if each == number), str(number))
