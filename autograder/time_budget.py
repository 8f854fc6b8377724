"""A budget of computing time for reading and judging what a stranger's process sent, whose size alone is bounded."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 10.0  # of computing, for one message to be read or judged; what answers send takes a small part of one
_LOOK = 0.25  # seconds between two looks at how much has been computed; an `except` may have swallowed what was raised


class OutOfBudget(Exception):
    """A message would take longer to read or to judge than it may."""


@contextmanager
def time_budget(seconds: float = SECONDS) -> Iterator[None]:
    """Raise OutOfBudget in this thread once this block has computed for so many seconds.

    It comes between two steps of Python. Signals reach the main thread alone, and a cluster's workers judge in others.
    """
    watch = _Watch(seconds)
    watch.start()
    try:
        yield
    finally:
        watch.end()
    if watch.is_over:  # it was raised, and swallowed
        raise OutOfBudget


class _Watch:
    """Looks at the time that a thread has computed, from another one."""

    def __init__(self, seconds: float) -> None:
        self._watched, self._seconds = threading.get_ident(), seconds
        self._clock = _clock_of(self._watched)
        self._begun = time.clock_gettime(self._clock) if self._clock is not None else time.monotonic()
        self._ended, self._lock = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._look, name="time budget", daemon=True)
        self.is_over = False

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def end(self) -> None:
        """Stop watching. An error that is still to come is raised in here, and ends here."""
        while True:
            try:
                with self._lock:
                    self._ended.set()
                self._thread.join()
                return
            except OutOfBudget:
                continue

    def _look(self) -> None:
        while not self._ended.wait(_LOOK):
            now = time.clock_gettime(self._clock) if self._clock is not None else time.monotonic()
            with self._lock:
                if now - self._begun > self._seconds and not self._ended.is_set():
                    self.is_over = True
                    _raise_in(self._watched, OutOfBudget)


def _clock_of(thread: int) -> int | None:
    """The clock of what a thread computes; None where the system has none, and time itself has to do."""
    return time.pthread_getcpuclockid(thread) if sys.platform == "linux" else None


def _raise_in(thread: int, error: type[Exception]) -> None:
    """Have Python raise an error in a thread, before its next step.

    It is never taken back by `None`: Python 3.11 then looks for an error before each step for ever, and a process in
    that state hangs as soon as a tracer (a debugger, coverage) is at work.
    """
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))
