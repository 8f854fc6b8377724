"""Run the steps of a submission's program in child processes, and collect the outcome of each exercise.

The child gets the cases, but nothing of the worked solutions, the answer bank or the gradebook. What it sends back is
untrusted: it is limited in size and reading time, and validated.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from autograder.errors import DamagedData, TooMuchText
from autograder.exercises.observation import ExceptionSnapshot, replace_surrogates
from autograder.pipe_messages import Frame, FrameError, FrameTooLong, receive_frame, send_frame
from autograder.sandbox.execution import data_file_transfer
from autograder.sandbox.execution.decoded_observation_cache import ObservationCache
from autograder.sandbox.execution.packed_cases import pack_cases
from autograder.sandbox.execution.run_specification import (
    LIMITS,
    CellStep,
    ChildProvider,
    ExerciseOutcome,
    Limits,
    PreparedChild,
    ProbeStep,
    Program,
    QuestionStep,
    StatementsStep,
    Step,
)
from autograder.sandbox.execution.wait_for_message import (
    PROCESS_ENDED_ERROR_NAME,
    WAITING_FACTOR,
    RemainingWait,
    describe_process_end,
    wait_for_child_message,
)
from autograder.untrusted_data_cpu_limit import MAX_CPU_SECONDS, CpuTimeExceeded, limit_cpu_seconds

UNDEFINED_ANSWER_OUTCOME = ExerciseOutcome()  # the answer's name is not defined
UNREADABLE_RESULT_MESSAGE = "the code sent back something that cannot be read"
_CACHE = ObservationCache()
TOO_LARGE_MESSAGE = (
    "what your answer gives back is too much to check: more than {} MB of tensors, or {} MB of anything else"
)

TOO_SLOW_TO_READ_MESSAGE = f"what your answer gives back takes more than {MAX_CPU_SECONDS:g} seconds to read"


def run_program(program: Program, limits: Limits = LIMITS, *, children: ChildProvider) -> dict[str, ExerciseOutcome]:
    """Run all steps of a program, and return the outcome of each exercise.

    If a step hangs or kills the process, the remaining steps run in a new process without it. All processes together
    may take no longer than the exercises may one by one, since steps that run again could be slow each time.
    """
    seen: dict[int, ExerciseOutcome] = {}
    lost: Counter[int] = Counter()
    patience = RemainingWait(WAITING_FACTOR * limits.time_factor * program.seconds)
    while patience.seconds > 0 and any(place not in seen for place in _probings(program)):
        place = _run_until_lost(program, _remaining_steps(program, seen, lost), children, limits, seen, patience)
        if place is not None:
            lost[place] += 1
    return _outcomes(program, seen)


def _probings(program: Program) -> dict[int, ProbeStep]:
    return {place: step for place, step in enumerate(program.steps) if isinstance(step, ProbeStep)}


def _remaining_steps(program: Program, seen: Mapping[int, ExerciseOutcome], lost: Mapping[int, int]) -> dict[int, Step]:
    """Return the steps to run in the next process, by index.

    Cells run again, because later steps need their names. A cell that hung or ended its process is replaced by the
    statements that define its answers; if these are lost too, or if the cell disturbed the connection, it is left out.
    `seen` are the outcomes so far, and `lost` counts how often a step has cost a process.
    """
    left: dict[int, Step] = {}
    for place, step in enumerate(program.steps):
        if isinstance(step, ProbeStep):
            if place not in seen:
                left[place] = step
        elif not lost[place]:
            left[place] = step
        elif isinstance(step, CellStep) and lost[place] == 1 and _may_run_in_part(seen[place]):
            left[place] = StatementsStep(tuple(text for _, text in step.needed), step.seconds)
    return left


def _may_run_in_part(cell: ExerciseOutcome) -> bool:
    """Return whether a lost cell hung or ended the process, as a line that tries an answer out may do.

    It is False for a cell that disturbed the connection to the grader.
    """
    return cell.timed_out or (cell.raised is not None and cell.raised.type == PROCESS_ENDED_ERROR_NAME)


def _run_until_lost(
    program: Program,
    steps: Mapping[int, Step],
    children: ChildProvider,
    limits: Limits,
    seen: dict[int, ExerciseOutcome],
    patience: RemainingWait,
) -> int | None:
    """Run steps in one process, and add the outcome of each to `seen`.

    Returns the index of the step that hung or killed the process, or None if all steps ended.
    """
    with children(program, limits) as child:
        process = _StepProcess(child, limits, patience)
        process.begin(program, steps)
        for place, step in steps.items():
            seen.setdefault(place, process.outcome(place, step.seconds * limits.time_factor))
            if process.lost:
                return place
    return None


def _outcomes(program: Program, seen: Mapping[int, ExerciseOutcome]) -> dict[str, ExerciseOutcome]:
    """Return the outcome of each exercise, with that of its second probing in `later`."""
    found: dict[str, ExerciseOutcome] = {}
    for place, step in _probings(program).items():
        cell = seen.get(step.cell) if step.cell is not None else None
        outcome = _with_cell(step.called, seen.get(place, ExerciseOutcome(timed_out=True)), cell)
        found[step.exercise] = replace(found[step.exercise], later=outcome) if step.again else outcome
    return found


def _with_cell(called: str, outcome: ExerciseOutcome, cell: ExerciseOutcome | None) -> ExerciseOutcome:
    """Return an exercise's outcome, together with its cell's: a cell that failed explains why the name is undefined."""
    stopped = cell if cell is not None and (cell.raised or cell.timed_out) else None
    if outcome is UNDEFINED_ANSWER_OUTCOME:
        return stopped or ExerciseOutcome(raised=ExceptionSnapshot("NameError", f"name {called!r} is not defined"))
    return replace(outcome, cell=stopped) if outcome.observations is not None else outcome


class _StepProcess:
    """A child process that runs steps: sends the steps to it, and reads the outcomes one by one."""

    def __init__(self, child: PreparedChild, limits: Limits, patience: RemainingWait) -> None:
        self._child, self._limits, self._patience = child, limits, patience
        self.lost = False

    def begin(self, program: Program, steps: Mapping[int, Step]) -> None:
        """Send the steps. Raises OSError if the child does not accept them; no student's code has run by then."""
        frame = _packed(program, steps, self._child.knows_cases)
        send_frame(self._child.to, frame, time.monotonic() + self._limits.start_seconds)

    def outcome(self, stage: int, seconds: float) -> ExerciseOutcome:
        """Wait for the outcome of one step, and return it; set `lost` if the child cannot go on."""
        begun, most = time.monotonic(), (self._limits.message_bytes, self._limits.text_bytes)
        try:
            wait_for_child_message(self._child, seconds, self._patience)
            frame = receive_frame(self._child.source, time.monotonic() + seconds, *most)
            if frame is None:
                return self._lose(ExerciseOutcome(raised=ExceptionSnapshot(*describe_process_end(self._child))))
            if frame.head.get("stage") != stage:
                raise FrameError("the message is about another step")
            with limit_cpu_seconds():
                return outcome_from_frame(frame, self._limits.text_bytes)
        except CpuTimeExceeded:
            return self._lose(ExerciseOutcome(raised=ExceptionSnapshot("ResultTooLarge", TOO_SLOW_TO_READ_MESSAGE)))
        except TimeoutError:
            return self._lose(ExerciseOutcome(timed_out=True))
        except (FrameTooLong, TooMuchText):
            megabytes = (limit >> 20 for limit in most)
            return self._lose(
                ExerciseOutcome(raised=ExceptionSnapshot("ResultTooLarge", TOO_LARGE_MESSAGE.format(*megabytes)))
            )
        except (FrameError, DamagedData) as error:
            return self._lose(
                ExerciseOutcome(raised=ExceptionSnapshot(type(error).__name__, UNREADABLE_RESULT_MESSAGE))
            )
        finally:
            self._patience.seconds -= time.monotonic() - begun

    def _lose(self, outcome: ExerciseOutcome) -> ExerciseOutcome:
        self.lost = True
        return outcome


def _packed(program: Program, steps: Mapping[int, Step], knows_cases: bool = False) -> Frame:
    plain = [{"stage": place} | _plain(step) for place, step in steps.items()]
    listed, data = data_file_transfer.pack_files(program.files)
    cases = b"" if knows_cases else pack_cases(program.cases)
    return Frame({"steps": plain, "files": listed, "cases": len(cases)}, cases + data if data else cases)


def _plain(step: Step) -> dict[str, Any]:
    if isinstance(step, QuestionStep):
        return {"exercise": step.exercise, "called": step.called, "text": step.text, "draw": step.draw}
    if isinstance(step, ProbeStep):
        return {"exercise": step.exercise, "called": step.called}
    if isinstance(step, CellStep):
        return {"source": step.source, "needed": step.needed}
    return {"statements": step.statements}


def outcome_from_frame(frame: Frame, text_bytes: int = LIMITS.text_bytes) -> ExerciseOutcome:
    """Return the outcome in a frame from the child; raises DamagedData if the frame holds none."""
    raised = frame.head.get("raised")
    if raised is not None:
        if not isinstance(raised, list) or [str] * 3 != [type(item) for item in raised]:
            raise DamagedData("expected the type, the message and the line of an error")
        return ExerciseOutcome(raised=ExceptionSnapshot(*map(replace_surrogates, raised)))
    if "undefined" in frame.head:
        return UNDEFINED_ANSWER_OUTCOME
    if not frame.body:
        return ExerciseOutcome(observations=())
    return ExerciseOutcome(*_CACHE.read(frame.body, text_bytes))
