"""A limit of time for what runs in a notebook: code that comes to no end is stopped where it is."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TextIO

_AGAIN = 0.5  # seconds until a stop is tried again: a bare `except` may have swallowed it
_LOOK = 0.1  # seconds from one look at what the block does to the next
_LOADING = 20.0  # seconds of imports that do not count


class OutOfTime(KeyboardInterrupt):
    """The time is over. Like the interrupt that a reader sends, it is no Exception: `except Exception` lets it by."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in what runs in this block once so many seconds have passed.

    It comes between two steps of Python: a single operation of torch is waited for. Python can interrupt its main
    thread alone, on every system, and a notebook's cells run there; in another thread the block goes on, and one line
    says so.

    Imports do not count: a kernel's first optimizer imports torch's compiler, which takes two seconds, on a slow disk
    ten, and a module that is stopped halfway stays broken until the kernel is restarted.
    """
    alarm = _Alarm(seconds) if threading.current_thread() is threading.main_thread() else _Word(seconds)
    try:
        alarm.start()
        yield
    finally:
        alarm.end()


class _Word:
    """Says that the time is over, and stops nothing."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._over = seconds, threading.Event()
        self._watched, self._imports = threading.get_ident(), _imports(threading.get_ident())
        self._out: TextIO = sys.stdout
        self._thread = threading.Thread(target=self._wait, name="deadline", daemon=True)

    def start(self) -> None:
        """Begin to count."""
        self._thread.start()

    def end(self) -> None:
        """Count no longer."""
        self._over.set()
        self._thread.join()

    def _wait(self) -> None:
        left, loading, before = self._seconds, _LOADING, time.monotonic()
        while not self._over.wait(min(_LOOK, left)):
            now = time.monotonic()
            passed, before = now - before, now
            if loading > 0 and _imports(self._watched) > self._imports:
                loading -= passed
            elif (left := left - passed) <= 0:
                return self._ring()

    def _ring(self) -> None:
        told = f"This is still running after {self._seconds:g} seconds. It cannot be stopped from here: interrupt it."
        print(told, file=self._out)


class _Alarm(_Word):
    """Interrupts the main thread, as often as it takes.

    A stop that arrives when all is over already is dropped: the handler is put back once none can be on its way.
    """

    _rung = _closed = False

    def start(self) -> None:
        """Begin to count."""
        self._before = signal.signal(signal.SIGINT, self._on_signal)
        super().start()

    def end(self) -> None:
        """Count no longer; what was set before is set again."""
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
            raise OutOfTime
        if self._rung:
            return
        if callable(self._before):
            self._before(number, frame)
        elif self._before is not signal.SIG_IGN:
            raise KeyboardInterrupt


def _imports(thread: int) -> int:
    """Count the functions of Python's import system that are running in a thread."""
    frame, count = sys._current_frames().get(thread), 0
    while frame is not None:
        count += frame.f_code.co_filename.startswith("<frozen importlib")
        frame = frame.f_back
    return count


def _interrupt_main() -> None:
    """Send the main thread an interrupt that wakes it from a sleep, too."""
    if sys.platform == "win32":
        signal.raise_signal(signal.SIGINT)  # Python hands it to the main thread, whichever thread raised it
    else:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
