"""Where everything random in a case comes from."""

from __future__ import annotations

import math
import random
from typing import Any

import torch


class Draw:
    """Everything random in a case comes from here: the same seed draws the same cases."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._random = random.Random(seed)
        self._generator = torch.Generator().manual_seed(seed)

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Standard normal numbers."""
        return torch.randn(*shape, generator=self._generator, dtype=torch.float64).to(dtype)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> torch.Tensor:
        """Uniform numbers in [low, high)."""
        return low + (high - low) * torch.rand(*shape, generator=self._generator)

    def counting(self, *shape: int) -> torch.Tensor:
        """Return the whole numbers from 0 on, as floats: in order on the visible cases (seed 0), shuffled on others.

        In a grid of them, readers see at a glance what went where. Others are shuffled, so that nobody who repeats
        what is visible has points.
        """
        count = math.prod(shape)
        numbers = self._random.sample(range(count), count) if self.seed else range(count)
        return torch.tensor(numbers, dtype=torch.float32).reshape(shape)

    def ints(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """int64 numbers in [low, high)."""
        return torch.randint(low, high, shape, generator=self._generator)

    def bools(self, *shape: int, share: float = 0.5) -> torch.Tensor:
        """A bool tensor, each entry True with probability `share`."""
        return torch.rand(*shape, generator=self._generator) < share

    def whole(self, low: int, high: int) -> int:
        """One number in low..high, both included."""
        return self._random.randint(low, high)

    def real(self, low: float, high: float) -> float:
        """One number between low and high."""
        return self._random.uniform(low, high)

    def choice(self, options: list[Any] | tuple[Any, ...]) -> Any:
        """One of the options."""
        return self._random.choice(options)

    def sizes(self, count: int, low: int = 2, high: int = 7) -> tuple[int, ...]:
        """Different sizes in low..high, so that no square shape hides a swapped dim."""
        return tuple(self._random.sample(range(low, high + 1), count))
