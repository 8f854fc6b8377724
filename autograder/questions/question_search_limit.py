"""Limits on how long questions are looked for: by the clock, or by steps that are counted."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count


@dataclass(frozen=True)
class SearchLimit:
    """The point at which the search for questions ends: where `now()` is above `end`."""

    now: Callable[[], float]
    end: float

    def is_over(self) -> bool:
        """Return whether the limit is reached."""
        return self.now() > self.end


def limit_seconds(seconds: float) -> SearchLimit:
    """Return a limit that is reached so many seconds from now."""
    return SearchLimit(time.monotonic, time.monotonic() + seconds)


def limit_steps(steps: int) -> SearchLimit:
    """Return a limit that is reached at the same place of the same program on any machine.

    It counts how often it is asked: a traced program asks at each of its steps.
    """
    return SearchLimit(count().__next__, steps)
