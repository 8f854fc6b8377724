"""Runs a submission's solution cells and probes in a child process, and gathers what the probes saw.

This module is the seam of the grading engine: whatever runs student code has the shape of `run`, takes a
`Program` and gives an `Outcome` for each exercise. Here a plain child process does it, started fresh, with a
scrubbed environment and a scratch folder; it is told the cases and nothing of the reference, the answer bank
or the gradebook.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.errors import DamagedData, WorkFailed
from autograder.exercise import Case
from autograder.frames import HELPERS, READY, Frame, FrameError, receive, send
from autograder.observation import Observation, Raised, clean, from_bytes, to_bytes

ENDED = "the code ended the Python process"
SILENCED = "the code closed the line to the grader"
UNREADABLE = "the code sent back something that cannot be read"


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
    """How long starting may take (torch's import), and what share of each exercise's time it gets."""

    start_seconds: float = 120.0
    time_factor: float = 1.0
    message_bytes: int = 64 * 2**20


@dataclass(frozen=True)
class Outcome:
    """How one exercise ended: `observations` where its probes ran, else what was raised, or `timed_out`."""

    observations: tuple[Observation, ...] | None = None
    raised: Raised | None = None
    timed_out: bool = False


Engine = Callable[[Program, Limits], dict[str, Outcome]]


LIMITS = Limits()


def run(program: Program, limits: Limits = LIMITS) -> dict[str, Outcome]:
    """Run every task; one that hangs or kills the process costs only itself: the rest runs in a new one."""
    outcomes: dict[str, Outcome] = {}
    lost: set[str] = set()
    while any(task.exercise not in outcomes for task in program.tasks):
        stage = _run_until_lost(_remaining(program, outcomes, lost), limits, outcomes)
        if stage is not None:
            lost.add(stage)
    return outcomes


def _remaining(program: Program, outcomes: dict[str, Outcome], lost: set[str]) -> Program:
    """What is still to do. Cells that ran well run again, without their cases: later cells may call them."""
    tasks = []
    for task in program.tasks:
        outcome = outcomes.get(task.exercise)
        if outcome is None:
            tasks.append(task)
        elif outcome.observations is not None and task.exercise not in lost:
            tasks.append(replace(task, cases=()))
    return Program(program.exercises, program.setup, "" if HELPERS in lost else program.helpers, tuple(tasks))


def _run_until_lost(program: Program, limits: Limits, outcomes: dict[str, Outcome]) -> str | None:
    """Run in one process, adding outcomes; returns the stage that hung or killed it, else None."""
    with _child(limits) as child:
        child.start(program)
        helpers = Task(HELPERS, program.helpers)
        for task in (helpers, *program.tasks):
            outcome = child.outcome(task.exercise, task.seconds * limits.time_factor)
            if task is not helpers:
                outcomes.setdefault(task.exercise, outcome)
            if child.lost:
                return task.exercise
    return None


class _Child:
    """The parent's end of one child process."""

    def __init__(self, process: subprocess.Popen[bytes], complaints: Path, limits: Limits) -> None:
        assert process.stdin and process.stdout
        self._process, self._complaints, self._limits = process, complaints, limits
        self._to, self._from = process.stdin.fileno(), process.stdout.fileno()
        self.lost = False

    def start(self, program: Program) -> None:
        """Hand over the program and wait until the child is set up; raises WorkFailed: this part is ours."""
        deadline = time.monotonic() + self._limits.start_seconds
        try:
            send(self._to, _packed(program), deadline)
            frame = receive(self._from, deadline, self._limits.message_bytes)
        except (TimeoutError, FrameError, OSError) as error:
            raise self._failed(str(error)) from error
        if frame is None or frame.head.get("stage") != READY:
            raise self._failed("it ended before it was ready" if frame is None else str(frame.head.get("problem")))

    def _failed(self, reason: str) -> WorkFailed:
        told = self._complaints.read_text(errors="replace").strip().splitlines()
        last = f" Its last words: {told[-1]}" if told else ""
        return WorkFailed(
            f"the process that runs submissions did not start: {reason}.{last} "
            "Nothing was graded. Run `python -m autograder.grading.child --try` to see the whole error."
        )

    def outcome(self, stage: str, seconds: float) -> Outcome:
        """Wait for the outcome of one stage; sets `lost` where the child cannot go on."""
        try:
            frame = receive(self._from, time.monotonic() + seconds, self._limits.message_bytes)
            if frame is None:
                return self._lose(Outcome(raised=Raised(*self._epitaph())))
            if frame.head.get("stage") != stage:
                raise FrameError("the message is about another exercise")
            return _unpacked(frame)
        except TimeoutError:
            return self._lose(Outcome(timed_out=True))
        except (FrameError, DamagedData) as error:
            return self._lose(Outcome(raised=Raised(type(error).__name__, UNREADABLE)))

    def _lose(self, outcome: Outcome) -> Outcome:
        self.lost = True
        return outcome

    def _epitaph(self) -> tuple[str, str]:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "LineClosed", SILENCED
        if code < 0:
            return "ProcessEnded", f"{ENDED} (signal {signal.Signals(-code).name})"
        return "ProcessEnded", f"{ENDED} (exit code {code})"

    def end(self) -> None:
        """Kill the child and everything it started in its process group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream
            with contextlib.suppress(OSError):
                stream.close()


@contextlib.contextmanager
def _child(limits: Limits) -> Iterator[_Child]:
    with tempfile.TemporaryDirectory(prefix="submission-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        complaints = scratch / "stderr"
        (scratch / "work").mkdir()
        with complaints.open("wb") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-m", "autograder.grading.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=scratch / "work",
                env=environment(scratch),
                bufsize=0,
                start_new_session=True,
            )
        child = _Child(process, complaints, limits)
        try:
            yield child
        finally:
            child.end()


def environment(scratch: Path) -> dict[str, str]:
    """The whole environment of a child: nothing of the teacher's but what finds libraries."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    home = str(scratch / "work")
    return kept | {
        "HOME": home,
        "TMPDIR": home,
        "IPYTHONDIR": home,
        "MPLBACKEND": "agg",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        # The scratch folder must not be searched for modules: a file torch.py there would be imported.
        "PYTHONSAFEPATH": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }


def _packed(program: Program) -> Frame:
    tasks = [{"exercise": task.exercise, "source": task.source} for task in program.tasks]
    cases = [[(case.requirement, case.args, case.kwargs) for case in task.cases] for task in program.tasks]
    return Frame(
        {"exercises": program.exercises, "setup": program.setup, "helpers": program.helpers, "tasks": tasks},
        to_bytes(cases),
    )


def _unpacked(frame: Frame) -> Outcome:
    raised = frame.head.get("raised")
    if raised is not None:
        return Outcome(raised=Raised(*(clean(str(item)) for item in raised[:3])))
    if not frame.body:
        return Outcome(observations=())
    observations = from_bytes(frame.body)
    if not isinstance(observations, list) or not all(isinstance(item, dict) for item in observations):
        raise DamagedData("expected a list of observations")
    return Outcome(observations=tuple(observations))
