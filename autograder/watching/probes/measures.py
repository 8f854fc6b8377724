"""Measures: a device that works on its own, and the only clock there is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from autograder.watching.replaced import replaced


class FakeDevice:
    """Work takes as long as a case says; nobody waits for it but `sync` (or everybody, where it is not asynchronous).

    All times are in seconds of a clock that only work moves on.
    """

    def __init__(self, takes: list[float], asynchronous: bool, left_over: float = 0.0) -> None:
        self.now = 100.0
        self.calls = 0
        self.waits = False
        self._takes = takes
        self._asynchronous = asynchronous
        self._done = self.now + left_over  # work of somebody else, from before

    def work(self) -> None:
        """Give the device its next piece of work; the host needs 1/64 second for that."""
        begin = max(self._done, self.now)
        self._done = begin + self._takes[min(self.calls, len(self._takes) - 1)]
        self.calls += 1
        self.now = self.now + 1 / 64 if self._asynchronous else self._done

    def sync(self) -> None:
        """Wait until all work is done."""
        self.now = max(self.now, self._done)
        self.waits = True

    @contextmanager
    def clock(self) -> Iterator[None]:
        """Make this clock the one that the program reads; the clock of the wall stands still."""
        with (
            replaced(time, "perf_counter", lambda: self.now),
            replaced(time, "perf_counter_ns", lambda: int(self.now * 1e9)),
            replaced(time, "time", lambda: 0.0),
        ):
            yield
