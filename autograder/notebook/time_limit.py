"""A time limit for code in a notebook's kernel: interrupt a block that runs too long."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from time import monotonic  # by name: a probe may replace `time.monotonic` while this runs
from types import FrameType
from typing import TextIO

from autograder.can_start_threads import can_start_threads, join_thread, start_thread, thread_clock
from autograder.notebook.reveal_and_shows_error import wrap_message

_AGAIN = 0.5  # seconds between two interrupts: a bare `except` may have swallowed the first
_LOOK = 0.1  # seconds between two measurements of the time
_LOADING = 20.0  # seconds of imports that do not count towards the limit
_BUSY = 3  # of the time in which the watched thread does not run, as on a busy machine, a third counts


class TimeLimitReached(KeyboardInterrupt):
    """The time limit was reached. As a KeyboardInterrupt it is no Exception: `except Exception` does not catch it."""


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in this block after `seconds` in which it runs; of a time in which it waits, a third counts.

    The exception comes between two Python instructions, so a single operation of torch runs to its end. Python can
    interrupt only its main thread, in which a notebook's cells run; in another thread the block continues, and prints
    one line that says so.

    Imports do not count: the first optimizer of a kernel imports torch's compiler, which takes two seconds, or ten on a
    slow disk, and a module whose import was interrupted stays broken until the kernel is restarted.

    Without threads nothing can stop the block, and a line says so.
    """
    if not can_start_threads():
        warn_once_that_time_limits_do_not_work()
        yield
        return
    alarm = _Alarm(seconds) if threading.current_thread() is threading.main_thread() else _Notice(seconds)
    try:
        alarm.start()
        yield
    finally:
        alarm.end()


@cache
def warn_once_that_time_limits_do_not_work() -> None:
    """Print, at the first call in a kernel, that code has no time limit here."""
    print(
        wrap_message(
            "(No time limit: this Python can start no thread that would stop your code. "
            "If a cell does not end, interrupt or restart the kernel.)"
        )
    )


class _Notice:
    """A thread that prints a line when the time is over, and stops nothing."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._over = seconds, threading.Event()
        self._watched, self._imports = threading.get_ident(), _imports(threading.get_ident())
        self._clock = thread_clock(self._watched)
        self._out: TextIO = sys.stdout
        self._thread = threading.Thread(target=self._wait, name="deadline", daemon=True)

    def start(self) -> None:
        """Start the clock."""
        if not start_thread(self._thread):  # threads can run out later
            warn_once_that_time_limits_do_not_work()

    def end(self) -> None:
        """Stop the clock."""
        self._over.set()
        join_thread(self._thread)

    def _wait(self) -> None:
        left, loading, before, ran_before = self._seconds, _LOADING, monotonic(), self._clock()
        while not self._over.wait(min(_LOOK, left)):
            now, ran = monotonic(), self._clock()
            passed, before, ran_before = max(ran - ran_before, (now - before) / _BUSY), now, ran
            if loading > 0 and _imports(self._watched) > self._imports:
                loading -= passed
            elif (left := left - passed) <= 0:
                return self._ring()

    def _ring(self) -> None:
        line = f"This is still running after {self._seconds:g} seconds. It cannot be stopped from here: interrupt it."
        print(line, file=self._out)


class _Alarm(_Notice):
    """A thread that interrupts the main thread when the time is over, again and again until the block ends.

    It ignores an interrupt that arrives after the end of the block, and restores the former signal handler only when
    no more interrupts can arrive.
    """

    _rung = _closed = False

    def start(self) -> None:
        """Install the signal handler, and start the clock."""
        self._before = signal.signal(signal.SIGINT, self._on_signal)
        super().start()

    def end(self) -> None:
        """Stop the clock, and restore the former signal handler."""
        self._closed = True
        super().end()
        signal.signal(signal.SIGINT, self._before)

    def _ring(self) -> None:
        self._rung = True
        while not self._over.is_set():
            _interrupt_main()
            self._over.wait(_AGAIN)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._rung and not self._closed:
            raise TimeLimitReached
        if self._rung:
            return
        if callable(self._before):
            self._before(number, frame)
        elif self._before is not signal.SIG_IGN:
            raise KeyboardInterrupt


def _imports(thread: int) -> int:
    """Return the number of functions of Python's import system that are running in a thread."""
    frame, count = sys._current_frames().get(thread), 0
    while frame is not None:
        count += frame.f_code.co_filename.startswith("<frozen importlib")
        frame = frame.f_back
    return count


def _interrupt_main() -> None:
    """Send SIGINT to the main thread, which wakes it from a sleep too."""
    if sys.platform == "win32":
        signal.raise_signal(signal.SIGINT)  # Python runs the handler in the main thread
    else:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
