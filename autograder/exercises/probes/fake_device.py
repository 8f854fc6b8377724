"""`FakeDevice`: a simulated asynchronous device and clock, for exercises that measure time."""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from autograder.exercises.patched_names import replaced_for
from autograder.exercises.probe import Answer


class FakeDevice:
    """A simulated device with a simulated clock, which only work moves forward. All times are in seconds.

    `takes` holds the duration of each piece of work; the last one is used for further pieces. If `asynchronous`, the
    host waits for the device only in `sync`. `left_over` is the duration of work queued before.
    """

    def __init__(self, takes: list[float], asynchronous: bool, left_over: float = 0.0) -> None:
        self.now = 100.0
        self.calls = 0
        self.waits = False
        self._takes = takes
        self._asynchronous = asynchronous
        self._done = self.now + left_over  # the time at which all queued work is done

    def work(self) -> None:
        """Start the next piece of work: an asynchronous device costs the host 1/64 second, another the whole time."""
        begin = max(self._done, self.now)
        self._done = begin + self._takes[min(self.calls, len(self._takes) - 1)]
        self.calls += 1
        self.now = self.now + 1 / 64 if self._asynchronous else self._done

    def sync(self) -> None:
        """Wait until all work is done."""
        self.now = max(self.now, self._done)
        self.waits = True

    @contextmanager
    def clock(self, answer: Answer) -> Iterator[None]:
        """Let the answer read this clock in place of Python's monotonic clocks; `time.time` always returns 0."""
        now, nanoseconds = (lambda: self.now), (lambda: int(self.now * 1e9))
        clocks: tuple[tuple[Any, str, Callable[[], float]], ...] = (
            (time, "perf_counter", now),
            (time, "perf_counter_ns", nanoseconds),
            (time, "monotonic", now),
            (time, "monotonic_ns", nanoseconds),
            (time, "time", lambda: 0.0),
            (time, "time_ns", lambda: 0),
            (timeit, "default_timer", now),  # the same object as perf_counter
        )
        with ExitStack() as stack:
            for module, name, read in clocks:
                stack.enter_context(replaced_for(answer, module, name, read))
            yield
