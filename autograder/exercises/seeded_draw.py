"""`Draw`: the seeded source of everything random in a case."""

from __future__ import annotations

import math
import random
from typing import Any

import torch


class Draw:
    """A source of random tensors and numbers for cases; the same seed draws the same cases."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._random = random.Random(seed)
        self._generator = torch.Generator().manual_seed(seed)

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Return a tensor of standard normal numbers."""
        return torch.randn(shape, generator=self._generator, dtype=torch.float64).to(dtype)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> torch.Tensor:
        """Return a float32 tensor of uniform numbers in [low, high)."""
        return low + (high - low) * torch.rand(*shape, generator=self._generator)

    def counting(self, *shape: int) -> torch.Tensor:
        """Return the numbers 0, 1, 2, ... as floats: in order for the visible cases (seed 0), shuffled for other seeds.

        In a grid of consecutive numbers, readers see at a glance which number went where. They are shuffled for other
        seeds, so that an answer that returns the visible results as constants earns no points.
        """
        count = math.prod(shape)
        numbers = self._random.sample(range(count), count) if self.seed else range(count)
        return torch.tensor(numbers, dtype=torch.float32).reshape(shape)

    def ints(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """Return an int64 tensor of numbers in [low, high)."""
        return torch.randint(low, high, shape, generator=self._generator)

    def bools(self, *shape: int, share: float = 0.5) -> torch.Tensor:
        """Return a bool tensor in which each entry is True with probability `share`."""
        return torch.rand(*shape, generator=self._generator) < share

    def whole(self, low: int, high: int) -> int:
        """Return one int from low to high, both included."""
        return self._random.randint(low, high)

    def real(self, low: float, high: float) -> float:
        """Return one float between low and high."""
        return self._random.uniform(low, high)

    def choice(self, options: list[Any] | tuple[Any, ...]) -> Any:
        """Return one of the options."""
        return self._random.choice(options)

    def sizes(self, count: int, low: int = 2, high: int = 7) -> tuple[int, ...]:
        """Return different sizes from low to high: with a square shape, swapped dims would go unnoticed."""
        return tuple(self._random.sample(range(low, high + 1), count))
