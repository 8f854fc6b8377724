"""A limit of time for what runs in a notebook: code that comes to no end is stopped where it is."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TextIO

_AGAIN = 0.5  # seconds until a stop is tried again: a bare `except` may have swallowed it


class OutOfTime(KeyboardInterrupt):
    """The time is over. Like the interrupt that a reader sends, it is no Exception: `except Exception` lets it by."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in what runs in this block once so many seconds have passed.

    It comes between two steps of Python: a single operation of torch is waited for. Python can interrupt its main
    thread alone, on every system, and a notebook's cells run there; in another thread the block goes on, and one line
    says so.
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
        if not self._over.wait(self._seconds):
            self._ring()

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


def _interrupt_main() -> None:
    """Send the main thread an interrupt that wakes it from a sleep, too."""
    if sys.platform == "win32":
        signal.raise_signal(signal.SIGINT)  # Python hands it to the main thread, whichever thread raised it
    else:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
