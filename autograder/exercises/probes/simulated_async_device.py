"""`FakeDevice`: a simulated asynchronous device and clock, for exercises that measure time."""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import torch

from autograder.exercises.probe import Answer
from autograder.exercises.replace_attributes_temporarily import replace_attribute_in_answer


class FakeDevice:
    """A simulated device with a clock of its own, which advances only in `work` and `sync`. All times are in seconds.

    `takes` lists the duration of each piece of work; the last one holds for all further pieces. If `asynchronous`,
    the host waits for the device only in `sync`. `left_over` is the duration of work that was queued before. `tracked`
    holds for each piece of work whether autograd was on when it was started.
    """

    def __init__(self, takes: list[float], asynchronous: bool, left_over: float = 0.0) -> None:
        self.now = 20_000_000.0  # a machine that has been on for months: float32 holds no quarters of it
        self.calls = 0
        self.tracked: list[bool] = []
        self.waits = False
        self._takes = takes
        self._asynchronous = asynchronous
        self._done = self.now + left_over  # the time at which all queued work is done

    def work(self) -> None:
        """Start the next piece of work: an asynchronous device costs the host 1/64 second, another the whole time."""
        begin = max(self._done, self.now)
        self._done = begin + self._takes[min(self.calls, len(self._takes) - 1)]
        self.calls += 1
        self.tracked.append(torch.is_grad_enabled())
        self.now = self.now + 1 / 64 if self._asynchronous else self._done

    def sync(self) -> None:
        """Wait until all work is done."""
        self.now = max(self.now, self._done)
        self.waits = True

    @contextmanager
    def clock(self, answer: Answer) -> Iterator[None]:
        """Let the answer read this clock in place of Python's monotonic clocks; `time.time` always returns 0.

        The clock of the process goes on only while the host is busy, not while it waits.
        """
        clocks: dict[str, Callable[..., float]] = {
            "perf_counter": self._now,
            "monotonic": self._now,
            "time": lambda: 0.0,
            "process_time": self._busy,
            "thread_time": self._busy,
            "clock_gettime": self._read,
        }
        clocks |= {f"{name}_ns": partial(_nanoseconds, read) for name, read in clocks.items()}
        with ExitStack() as stack:
            for name, read in clocks.items():
                if hasattr(time, name):  # Windows has less
                    stack.enter_context(replace_attribute_in_answer(answer, time, name, read))
            # The same object as perf_counter; `timeit.repeat` and its like have it as a default.
            stack.enter_context(replace_attribute_in_answer(timeit.repeat, timeit, "default_timer", self._now))
            yield

    def _now(self) -> float:
        return self.now

    def _busy(self) -> float:
        """Return the seconds that the host was busy with starting work."""
        return self.calls / 64

    def _read(self, clock: int) -> float:
        """Return the reading of a clock of the system, as `time.clock_gettime` does."""
        if clock in (time.CLOCK_PROCESS_CPUTIME_ID, time.CLOCK_THREAD_CPUTIME_ID):
            return self._busy()
        return 0.0 if clock == time.CLOCK_REALTIME else self.now


def _nanoseconds(read: Callable[..., float], *clock: int) -> int:
    return int(read(*clock) * 1e9)
