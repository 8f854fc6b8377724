"""What a run of a submission is made of: the program, its limits, the outcomes, and the process that runs it.

This is the seam of grading: whatever runs student code has the shape of `Runner`, takes a `Program` and gives an
`Outcome` for each exercise. Whatever offers processes to run it in has the shape of `Children`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # with torch, which notebooks without exercises are run without
    from autograder.exercises.exercise import Case
    from autograder.exercises.observation import Observation, Raised


@dataclass(frozen=True)
class Definitions:
    """A step that runs statements one by one: one that fails is missed only by the answers that need it."""

    statements: tuple[str, ...]
    seconds: float = 10.0


@dataclass(frozen=True)
class AnswerCell:
    """A step that runs a cell with answers as a notebook would.

    `needed` are the statements that its answers consist of, each with the line where it ends: where the cell stops,
    those below still run; where it hangs or ends the process, they run without the rest.
    """

    source: str
    needed: tuple[tuple[int, str], ...] = ()
    seconds: float = 10.0


@dataclass(frozen=True)
class Probing:
    """A step that probes what stands under a name, mostly the exercise's own, at this point of the notebook.

    `cell` is the step that ran its answer; `again` marks a second look, at the end of the notebook.
    """

    exercise: str
    called: str
    cell: int | None = None
    again: bool = False
    seconds: float = 10.0


Step = Definitions | AnswerCell | Probing


@dataclass(frozen=True)
class Ground:
    """What all programs of an assignment stand on: its exercises, in chapters of the course, and its setup cell.

    With `whole`, notebooks are run on it from top to bottom, and no exercise is probed.
    """

    course: str
    chapters: tuple[str, ...]
    setup: str
    whole: bool = False


@dataclass(frozen=True)
class Program:
    """What one child process runs: the chapter's setup cell, then the steps in the order of the notebook.

    `cases` are those of each exercise, `files` lie in the folder where it runs.
    """

    ground: Ground
    steps: tuple[Step, ...]
    cases: Mapping[str, tuple[Case, ...]]
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def probings(self) -> tuple[Probing, ...]:
        """The steps that probe an answer where its check stands."""
        return tuple(step for step in self.steps if isinstance(step, Probing) and not step.again)

    @property
    def seconds(self) -> float:
        """How long all exercises together may compute."""
        return sum(step.seconds for step in self.probings)

    def only(self, exercise: str) -> Program:
        """The program that probes one exercise; everything else runs as before, for it may lean on that."""
        # A step keeps its place, by which others name it.
        steps = tuple(
            Definitions(()) if isinstance(step, Probing) and step.exercise != exercise else step for step in self.steps
        )
        return replace(self, steps=steps)


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
    """How one exercise ended: `observations` where its probes ran, else what was raised, or `timed_out`.

    `digest` stands for the observations, where it is known: no others have it. `cell` tells how the answer's cell ended
    where that was not well and the answer was there all the same; `later` is the outcome of the second look at the end
    of the notebook.
    """

    observations: tuple[Observation, ...] | None = None
    digest: str = ""
    raised: Raised | None = None
    timed_out: bool = False
    cell: Outcome | None = None
    later: Outcome | None = None


class Child(Protocol):
    """A process that has the chapter ready and waits for a program at `to`; its frames come from `source`."""

    @property
    def knows_cases(self) -> bool:
        """Whether it has the program's cases, which then need not be sent."""

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
Runner = Callable[[Program, Limits], dict[str, Outcome]]

LIMITS = Limits()
