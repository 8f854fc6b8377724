"""Compare two proportions (e.g. of students who solved an exercise) by Newcombe's interval, valid for small classes."""

from __future__ import annotations

import math
from dataclasses import dataclass

_Z = 1.959964  # the normal distribution's quantile for 95 %, two-sided


@dataclass(frozen=True)
class Share:
    """`count` students of `total`, which is at least 1."""

    count: int
    total: int

    @property
    def value(self) -> float:
        """The share, from 0 to 1."""
        return self.count / self.total

    @property
    def wilson(self) -> tuple[float, float]:
        """The bounds of Wilson's 95 % interval for the share (E. B. Wilson, JASA 22, 1927, pages 209 to 212).

        They never leave 0 to 1, and differ also where nobody or everybody counts.
        """
        n, p = self.total, self.value
        middle = p + _Z**2 / (2 * n)
        spread = _Z * math.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2))
        scale = 1 + _Z**2 / n
        return (middle - spread) / scale, (middle + spread) / scale


@dataclass(frozen=True)
class ShareDifference:
    """The difference `now` minus `then` of two shares of different students."""

    then: Share
    now: Share

    @property
    def value(self) -> float:
        """The difference, from -1 to 1."""
        return self.now.value - self.then.value

    @property
    def interval(self) -> tuple[float, float]:
        """The bounds of the 95 % interval of the difference, which Newcombe's method makes from two Wilson intervals.

        It is method 10 of R. G. Newcombe, "Interval estimation for the difference between independent proportions",
        Statistics in Medicine 17, 1998, pages 873 to 890. The usual interval, from the normal distribution, is too
        narrow for small classes, and has no width where everybody or nobody counts.
        """
        (then_low, then_high), (now_low, now_high) = self.then.wilson, self.now.wilson
        below = math.hypot(self.now.value - now_low, then_high - self.then.value)
        above = math.hypot(now_high - self.now.value, self.then.value - then_low)
        return self.value - below, self.value + above

    @property
    def sign(self) -> int:
        """1 if the share has grown, -1 if it has fallen, 0 if the interval includes 0: no difference can be told."""
        low, high = self.interval
        return 1 if low > 0 else -1 if high < 0 else 0
