"""Exercises: the cases that an answer is called on, the probe that watches it, and the set of a chapter's exercises."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import torch

from autograder.difference import Difference, Tolerance, first_difference
from autograder.errors import UnknownExercise
from autograder.observation import Observation
from autograder.rules import Note, Rule

Tier = Literal["warm-up", "core", "stretch"]


@dataclass(frozen=True, eq=False, init=False)
class Case:
    """One call of the answer: the requirement that it shows, and the arguments (plain data)."""

    requirement: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __init__(self, requirement: str, /, *args: Any, **kwargs: Any) -> None:
        object.__setattr__(self, "requirement", requirement)
        object.__setattr__(self, "args", args)
        object.__setattr__(self, "kwargs", kwargs)


Probe = Callable[[Callable[..., Any], Case], Observation]
Compare = Callable[[Observation, Observation, Tolerance], Difference | None]


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


def _everything(seen: Observation) -> Observation:
    return seen


@dataclass(frozen=True, eq=False)
class Exercise:
    """One task: its cases, how an answer is watched, what it must not use, and its hints."""

    name: str
    chapter: str
    tier: Tier
    goal: str
    draw_cases: Callable[[Draw], Iterator[Case]]
    probe: Probe
    hints: tuple[str, ...]
    rules: tuple[Rule, ...] = ()
    notes: tuple[Note, ...] = ()
    tolerance: Tolerance = field(default_factory=Tolerance)
    compare: Compare = first_difference
    keep: Callable[[Observation], Observation] = _everything  # what is shipped of an observation: no last bits
    tells: dict[str, str] = field(default_factory=dict)  # the sentence for a facet of the exercise's own probe
    seconds: float = 10.0
    spelled: Callable[[str, Case], str] | None = None  # the call in a report, where a case is no plain call

    def cases(self, seed: int) -> tuple[Case, ...]:
        """The cases of this seed: 0 draws the visible ones, a grading run draws its own."""
        return tuple(self.draw_cases(Draw(seed)))

    def observe(self, answer: Callable[..., Any], cases: tuple[Case, ...]) -> tuple[Observation, ...]:
        """Probe an answer on each case, each time under torch's usual settings, whatever was set before."""
        seen = []
        for case in cases:
            with usual_settings():
                seen.append(self.probe(answer, case))
        return tuple(seen)


@contextmanager
def usual_settings() -> Iterator[None]:
    """Set torch's default dtype and gradient mode to what a new process has, and back afterwards."""
    dtype, tracking = torch.get_default_dtype(), torch.is_grad_enabled()
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(tracking)


class ExerciseSet:
    """The exercises of one chapter, in order, by name."""

    def __init__(self, chapter: str) -> None:
        self.chapter = chapter
        self._exercises: dict[str, Exercise] = {}

    def add(
        self, name: str, *, tier: Tier, hints: tuple[str, ...], probe: Probe, **options: Any
    ) -> Callable[[Callable[[Draw], Iterator[Case]]], Callable[[Draw], Iterator[Case]]]:
        """Register the decorated generator of cases as an exercise; its docstring is the exercise's goal."""

        def register(draw_cases: Callable[[Draw], Iterator[Case]]) -> Callable[[Draw], Iterator[Case]]:
            goal = (draw_cases.__doc__ or "").strip()
            if not goal or not hints:
                raise ValueError(f"exercise {name!r} needs a docstring that states its goal, and at least one hint")
            if name in self._exercises:
                raise ValueError(f"exercise {name!r} is there already")
            self._exercises[name] = Exercise(name, self.chapter, tier, goal, draw_cases, probe, hints, **options)
            return draw_cases

        return register

    def __iter__(self) -> Iterator[Exercise]:
        return iter(self._exercises.values())

    def __getitem__(self, name: str) -> Exercise:
        if name not in self._exercises:
            raise UnknownExercise(name, self._exercises)
        return self._exercises[name]

    def __contains__(self, name: object) -> bool:
        return name in self._exercises
