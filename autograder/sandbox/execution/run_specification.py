"""Data types of one run of a submission: steps, limits and outcomes, and the interface of the process that runs it.

Grading knows nothing else about how students' code is run. A `Runner` takes a program and its limits, and returns an
outcome for each exercise. A `Children` function provides the processes to run programs in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # these import torch, which notebooks without exercises do not need
    from autograder.exercises.exercise import Case
    from autograder.exercises.observation import ExceptionSnapshot, Observation


@dataclass(frozen=True)
class StatementsStep:
    """A step that runs statements one by one. If one fails, the next still run."""

    statements: tuple[str, ...]
    seconds: float = 10.0


@dataclass(frozen=True)
class CellStep:
    """A step that runs a cell with answers, as a notebook would.

    `needed` are the statements that define its answers, each with the line where it ends. If the cell raises an error,
    those below the failing line still run. If it hangs or ends the process, they run in a new process, without the rest
    of the cell.
    """

    source: str
    needed: tuple[tuple[int, str], ...] = ()
    seconds: float = 10.0


@dataclass(frozen=True)
class ProbeStep:
    """A step that probes the answer to an exercise, as it is at this point of the notebook.

    `called` is the global name of the answer, usually the exercise's own. `cell` is the index of the step that ran the
    answer's cell. `again` marks a second probing, at the end of the notebook.
    """

    exercise: str
    called: str
    cell: int | None = None
    again: bool = False
    seconds: float = 10.0


@dataclass(frozen=True)
class QuestionStep(ProbeStep):
    """A step that asks about an answer that passes, instead of probing it.

    `text` is the answer's text, and `draw` decides which questions are drawn: a number those that a notebook draws with
    it. The outcome's observations are those that `questions_about_answer` describes.
    """

    text: str = ""
    draw: str | int = ""


Step = StatementsStep | CellStep | ProbeStep


@dataclass(frozen=True)
class SharedSetup:
    """What all programs of an assignment share: the course's folder, the chapters with its exercises, the setup cell.

    With `whole`, whole notebooks are run from top to bottom, and no exercise is probed. With `asks`, programs may have
    question steps, which need the observations that are shipped with the course.
    """

    course: str
    chapters: tuple[str, ...]
    setup: str
    whole: bool = False
    asks: bool = False


@dataclass(frozen=True)
class Program:
    """What one child process runs: the setup cell, then the steps in the order of the notebook.

    `cases` are the cases of each exercise, and `files` the data files in the working folder, by relative path.
    """

    ground: SharedSetup
    steps: tuple[Step, ...]
    cases: Mapping[str, tuple[Case, ...]]
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def probings(self) -> tuple[ProbeStep, ...]:
        """The steps that probe an answer at its check, without those at the end of the notebook."""
        return tuple(step for step in self.steps if isinstance(step, ProbeStep) and not step.again)

    @property
    def seconds(self) -> float:
        """The CPU time that all exercises together may use."""
        return sum(step.seconds for step in self.probings)

    def only(self, exercise: str) -> Program:
        """Return this program with the probings of one exercise only. Cells still run: the answer may need them."""
        # Other probings become empty steps, because steps refer to each other by index.
        steps = tuple(
            StatementsStep(()) if isinstance(step, ProbeStep) and step.exercise != exercise else step
            for step in self.steps
        )
        return replace(self, steps=steps)


@dataclass(frozen=True)
class Limits:
    """The limits of a run: seconds to start in (torch is imported), a factor for each step's time, and message sizes.

    Of `message_bytes`, at most `text_bytes` may be JSON, which takes far more memory and time to read than tensors.
    """

    start_seconds: float = 120.0
    time_factor: float = 1.0
    message_bytes: int = 64 * 2**20
    text_bytes: int = 2**20


@dataclass(frozen=True)
class ExerciseOutcome:
    """How one exercise ended: with `observations` if its probe ran, else with an error (`raised`) or `timed_out`.

    `digest` identifies the observations, if it is known. `cell` is the outcome of the answer's cell, if the cell failed
    but the answer was defined nevertheless. `later` is the outcome of the second probing, at the end of the notebook.
    """

    observations: tuple[Observation, ...] | None = None
    digest: str = ""
    raised: ExceptionSnapshot | None = None
    timed_out: bool = False
    cell: ExerciseOutcome | None = None
    later: ExerciseOutcome | None = None


class PreparedChild(Protocol):
    """A process that has prepared the chapter and waits for a program at `to`; its frames arrive from `source`."""

    @property
    def knows_cases(self) -> bool:
        """Whether the process already has the program's cases, so that they need not be sent."""

    @property
    def to(self) -> int:
        """The descriptor to write to."""

    @property
    def source(self) -> int:
        """The descriptor to read from."""

    def cpu_seconds(self) -> float:
        """Return the CPU time in seconds that the process running the program has used so far."""

    def ended(self, within: float) -> int | None:
        """Return the wait status of the process, as os.waitpid does; None if it still runs after `within` seconds."""


ChildProvider = Callable[[Program, Limits], AbstractContextManager[PreparedChild]]
Runner = Callable[[Program, Limits], dict[str, ExerciseOutcome]]

LIMITS = Limits()
