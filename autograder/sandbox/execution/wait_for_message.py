"""Wait for a child's message until its CPU time limit is reached, and report how a child process has ended."""

from __future__ import annotations

import os
import select
import signal
import time
from dataclasses import dataclass

from autograder.sandbox.execution.run_specification import PreparedChild

PROCESS_ENDED_MESSAGE = "the code ended the Python process"
PIPE_CLOSED_MESSAGE = "the code closed the line to the grader"
PROCESS_ENDED_ERROR_NAME = "ProcessEnded"
_AT_ONCE = 0.05  # seconds
WAITING_FACTOR = 4  # an exercise may take this many times its CPU seconds of elapsed time


@dataclass
class RemainingWait:
    """The elapsed time in seconds that the grader still waits for a submission, in all its processes together."""

    seconds: float


def wait_for_child_message(child: PreparedChild, seconds: float, patience: RemainingWait) -> None:
    """Wait until the child sends something.

    Raises TimeoutError once the child has used `seconds` of CPU time, or after several times as much elapsed time. CPU
    time counts so that on a busy machine an answer does not run out of time because other processes compute.
    """
    end = time.monotonic() + min(WAITING_FACTOR * seconds, patience.seconds)
    if _has_message(child, min(_AT_ONCE, seconds)):  # most answers are that fast, and then no CPU clock is read
        return
    before, left = child.cpu_seconds(), seconds
    while left > 0 and time.monotonic() < end:
        if _has_message(child, min(left, end - time.monotonic())):
            return
        left = seconds - (child.cpu_seconds() - before)
    raise TimeoutError


def _has_message(child: PreparedChild, within: float) -> bool:
    """Return whether the child sends something, or closes its pipe, within `within` seconds."""
    return bool(select.select([child.source], [], [], max(0.0, within))[0])


def describe_process_end(child: PreparedChild) -> tuple[str, str]:
    """Return how a child that has closed its pipe ended: the name of an error, and a sentence about it."""
    status = child.ended(within=5)
    if status is None:
        return "LineClosed", PIPE_CLOSED_MESSAGE
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        return PROCESS_ENDED_ERROR_NAME, f"{PROCESS_ENDED_MESSAGE} (signal {_signal_name(-code)})"
    return PROCESS_ENDED_ERROR_NAME, f"{PROCESS_ENDED_MESSAGE} (exit code {code})"


def _signal_name(number: int) -> str:
    """Return the name of a signal, such as `SIGKILL` for 9, or the number itself for signals without a name."""
    return next((each.name for each in signal.Signals if each == number), str(number))
