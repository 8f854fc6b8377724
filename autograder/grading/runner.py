"""Runs a submission's solution cells and probes in a child process, and gathers what the probes saw.

The child is told the cases and nothing of the reference, the answer bank or the gradebook; what it sends back is
taken for what it is, a stranger's word.
"""

from __future__ import annotations

import os
import select
import signal
import time
from dataclasses import dataclass, replace

from autograder.errors import DamagedData, TooMuchText
from autograder.exercise import Case
from autograder.frames import HELPERS, Frame, FrameError, FrameTooLong, receive, send
from autograder.grading.program import LIMITS, Child, Children, Limits, Outcome, Program, Task
from autograder.observation import Raised, clean, from_bytes, to_bytes

ENDED = "the code ended the Python process"
SILENCED = "the code closed the line to the grader"
PATIENCE = 4  # how many times its seconds an exercise may take where it does not compute
UNREADABLE = "the code sent back something that cannot be read"
TOO_MUCH = "what your answer gives back is too much to check: more than {} MB of tensors, or {} MB of anything else"


def run(program: Program, limits: Limits = LIMITS, *, children: Children) -> dict[str, Outcome]:
    """Run every task; one that hangs or kills the process costs only itself: the rest runs in a new one.

    All of it has the time that the tasks may take one by one: cells that run again could dawdle each time.
    """
    outcomes: dict[str, Outcome] = {}
    lost: set[str] = set()
    patience = _Patience(PATIENCE * limits.time_factor * sum(task.seconds for task in program.tasks))
    while patience.seconds > 0 and any(task.exercise not in outcomes for task in program.tasks):
        stage = _run_until_lost(_remaining(program, outcomes, lost), children, limits, outcomes, patience)
        if stage is not None:
            lost.add(stage)
    return {task.exercise: Outcome(timed_out=True) for task in program.tasks} | outcomes


@dataclass
class _Patience:
    """How long a submission will still be waited for, in all its processes together."""

    seconds: float


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


def _run_until_lost(
    program: Program, children: Children, limits: Limits, outcomes: dict[str, Outcome], patience: _Patience
) -> str | None:
    """Run in one process, adding outcomes; returns the stage that hung or killed it, else None."""
    with children(program, limits) as child:
        stages = _Stages(child, limits, patience)
        stages.begin(program)
        helpers = Task(HELPERS, program.helpers)
        for task in (helpers, *program.tasks):
            outcome = stages.outcome(task.exercise, task.seconds * limits.time_factor)
            if task is not helpers:
                outcomes.setdefault(task.exercise, outcome)
            if stages.lost:
                return task.exercise
    return None


class _Stages:
    """The grader's end of a child process: its outcomes, one stage after the other."""

    def __init__(self, child: Child, limits: Limits, patience: _Patience) -> None:
        self._child, self._limits, self._patience = child, limits, patience
        self.lost = False

    def begin(self, program: Program) -> None:
        """Hand over the program; raises OSError where the child does not take it, which is our fault."""
        send(self._child.to, _packed(program), time.monotonic() + self._limits.start_seconds)

    def outcome(self, stage: str, seconds: float) -> Outcome:
        """Wait for the outcome of one stage; sets `lost` where the child cannot go on."""
        begun, most = time.monotonic(), (self._limits.message_bytes, self._limits.text_bytes)
        try:
            self._wait(seconds)
            frame = receive(self._child.source, time.monotonic() + seconds, *most)
            if frame is None:
                return self._lose(Outcome(raised=Raised(*self._epitaph())))
            if frame.head.get("stage") != stage:
                raise FrameError("the message is about another exercise")
            return unpacked(frame, self._limits.text_bytes)
        except TimeoutError:
            return self._lose(Outcome(timed_out=True))
        except (FrameTooLong, TooMuchText):
            megabytes = (limit >> 20 for limit in most)
            return self._lose(Outcome(raised=Raised("ResultTooLarge", TOO_MUCH.format(*megabytes))))
        except (FrameError, DamagedData) as error:
            return self._lose(Outcome(raised=Raised(type(error).__name__, UNREADABLE)))
        finally:
            self._patience.seconds -= time.monotonic() - begun

    def _wait(self, seconds: float) -> None:
        """Wait until something comes; TimeoutError after so many seconds of computing, or some times that without.

        On a busy machine an answer must not run out of time because others compute.
        """
        end = time.monotonic() + min(PATIENCE * seconds, self._patience.seconds)
        before, left = self._child.cpu_seconds(), seconds
        while left > 0 and time.monotonic() < end:
            if select.select([self._child.source], [], [], max(0.0, min(left, end - time.monotonic())))[0]:
                return
            left = seconds - (self._child.cpu_seconds() - before)
        raise TimeoutError

    def _lose(self, outcome: Outcome) -> Outcome:
        self.lost = True
        return outcome

    def _epitaph(self) -> tuple[str, str]:
        status = self._child.ended(within=5)
        if status is None:
            return "LineClosed", SILENCED
        code = os.waitstatus_to_exitcode(status)
        if code < 0:
            return "ProcessEnded", f"{ENDED} (signal {_signal_name(-code)})"
        return "ProcessEnded", f"{ENDED} (exit code {code})"


def _signal_name(number: int) -> str:
    """`SIGKILL` for 9; the number itself for the many that have no name."""
    return next((each.name for each in signal.Signals if each == number), str(number))


def _packed(program: Program) -> Frame:
    tasks = [{"exercise": task.exercise, "source": task.source} for task in program.tasks]
    return Frame(
        {"helpers": program.helpers, "tasks": tasks}, _last_cases.packed([task.cases for task in program.tasks])
    )


class _LastCases:
    """The bytes of the cases that were sent last: the submissions of a class all get the same."""

    def __init__(self) -> None:
        self._last: tuple[list[tuple[Case, ...]], bytes] = ([], to_bytes([]))

    def packed(self, rows: list[tuple[Case, ...]]) -> bytes:
        """The rows as bytes; made anew unless every row is the very one of the last time."""
        known, data = self._last
        if len(known) != len(rows) or any(one is not other for one, other in zip(known, rows, strict=True)):
            data = to_bytes([[(case.requirement, case.args, case.kwargs) for case in row] for row in rows])
            self._last = rows, data
        return data


_last_cases = _LastCases()


def unpacked(frame: Frame, text_bytes: int = LIMITS.text_bytes) -> Outcome:
    """The outcome that a message holds; raises DamagedData where it holds none."""
    raised = frame.head.get("raised")
    if raised is not None:
        if not isinstance(raised, list) or [str] * 3 != [type(item) for item in raised]:
            raise DamagedData("expected the type, the message and the line of an error")
        return Outcome(raised=Raised(*map(clean, raised)))
    if not frame.body:
        return Outcome(observations=())
    observations = from_bytes(frame.body, text_bytes)
    if not isinstance(observations, list) or not all(map(_is_observation, observations)):
        raise DamagedData("expected a list of observations")
    return Outcome(observations=tuple(observations))


def _is_observation(item: object) -> bool:
    """Whether an item has the form that judging relies on."""
    return isinstance(item, dict) and all(isinstance(key, str) for key in item) and _tells_error(item)


def _tells_error(item: dict[str, object]) -> bool:
    return "raised" not in item or isinstance(item["raised"], Raised)
