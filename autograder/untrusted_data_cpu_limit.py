"""Limit the CPU time that the grader spends on reading and judging one message from an untrusted process.

The size of such a message is limited, but a small message can still take very long to read or to compare.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from autograder.can_start_threads import thread_clock

MAX_CPU_SECONDS = (
    10.0  # of CPU time to read or judge one message; the messages of ordinary answers take far less than one
)
_INTERVAL = 0.25  # seconds between two measurements; each raises again, since an `except` may have caught the last one


class CpuTimeExceeded(Exception):
    """Reading or judging a message took more CPU time than its budget."""


@contextmanager
def limit_cpu_seconds(seconds: float = MAX_CPU_SECONDS) -> Iterator[None]:
    """Raise OutOfBudget in this thread once the block has used `seconds` of CPU time.

    The exception arrives between two bytecode instructions. A timer signal would not do: signals reach only the main
    thread, and the workers of a cluster judge in other threads.
    """
    watch = _Watchdog(seconds)
    watch.start()
    try:
        yield
    finally:
        watch.stop()
    if watch.is_over:  # it was raised, and then caught by the block
        raise CpuTimeExceeded


class _Watchdog:
    """A thread that measures the CPU time of another thread, and raises OutOfBudget in that one."""

    def __init__(self, seconds: float) -> None:
        self._watched, self._seconds = threading.get_ident(), seconds
        self._clock = thread_clock(self._watched)
        self._started_at = self._clock()
        self._is_stopped, self._lock = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._measure, name="time budget", daemon=True)
        self.is_over = False

    def start(self) -> None:
        """Begin to measure."""
        self._thread.start()

    def stop(self) -> None:
        """Stop measuring. An exception that has not arrived yet arrives in here, and ends here."""
        while True:
            try:
                with self._lock:
                    self._is_stopped.set()
                self._thread.join()
                return
            except CpuTimeExceeded:  # it arrived within this block
                continue

    def _measure(self) -> None:
        while not self._is_stopped.wait(_INTERVAL):
            now = self._clock()
            with self._lock:
                if now - self._started_at > self._seconds and not self._is_stopped.is_set():
                    self.is_over = True
                    _raise_in(self._watched, CpuTimeExceeded)


def _raise_in(thread: int, error: type[Exception]) -> None:
    """Make Python raise an error in a thread before its next instruction.

    It is never withdrawn by `None`: Python 3.11 would then check for a pending error before each instruction for ever,
    and the process would hang as soon as a tracer (a debugger, coverage) is at work.
    """
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))
