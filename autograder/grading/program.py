"""What a run of a submission is made of: the program, its limits, the outcomes, and the process that runs it.

This is the seam of the grading engine: whatever runs student code has the shape of `Engine`, takes a `Program` and
gives an `Outcome` for each exercise. Whatever offers processes to run it in has the shape of `Children`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from autograder.exercise import Case
from autograder.observation import Observation, Raised


@dataclass(frozen=True)
class Task:
    """One exercise to run: the student's solution cell, the cases to probe it on, and its time."""

    exercise: str
    source: str
    cases: tuple[Case, ...] = ()
    seconds: float = 10.0


@dataclass(frozen=True)
class Program:
    """What one child process runs: the course's setup cell, the student's helpers, the tasks in order.

    `exercises` names the module whose EXERCISES hold the probes.
    """

    exercises: str
    setup: str
    helpers: str
    tasks: tuple[Task, ...]


@dataclass(frozen=True)
class Limits:
    """How long starting may take (torch's import), what share of each exercise's time it gets, how much it may send.

    Of a message, `text_bytes` may be JSON, which takes far more memory and time to read than tensors.
    """

    start_seconds: float = 120.0
    time_factor: float = 1.0
    message_bytes: int = 64 * 2**20
    text_bytes: int = 2**20


@dataclass(frozen=True)
class Outcome:
    """How one exercise ended: `observations` where its probes ran, else what was raised, or `timed_out`."""

    observations: tuple[Observation, ...] | None = None
    raised: Raised | None = None
    timed_out: bool = False


class Child(Protocol):
    """A process that has the chapter ready and waits for a program at `to`; its frames come from `source`."""

    @property
    def to(self) -> int:
        """The descriptor to write to."""

    @property
    def source(self) -> int:
        """The descriptor to read from."""

    def cpu_seconds(self) -> float:
        """How long the process that runs the program has computed so far."""

    def ended(self, within: float) -> int | None:
        """How the process ended, as os.waitpid gives it; None where it goes on for so many seconds."""


Children = Callable[[Program, Limits], AbstractContextManager[Child]]
Engine = Callable[[Program, Limits], dict[str, Outcome]]

LIMITS = Limits()
