"""Run an answer of another notebook in a separate namespace, with only the statements on which it depends."""

from __future__ import annotations

import builtins
import ctypes
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from IPython.utils.capture import capture_output

from autograder.can_start_threads import can_start_threads, start_thread
from autograder.exec_with_linecache import run_source_with_linecache
from autograder.grading.execution_plan import ExerciseTask, plan_run
from autograder.notebook.time_limit import warn_once_that_time_limits_do_not_work
from autograder.sandbox.execution.course_function_stubs import STUBS, do_nothing
from autograder.sandbox.execution.run_specification import CellStep, SharedSetup, StatementsStep, Step
from autograder.submission.extract_submitted_cells import SubmittedCell
from autograder.submission.order_repaired_cells import CellInRun, CellRole

MAX_RUN_SECONDS = 5.0  # the time limit for the answer and the statements before it; the lesson waits for them


class AnswerRunError(Exception):
    """An answer could not be run; the message says why."""


@dataclass(frozen=True)
class SavedAnswer:
    """An answer in a saved notebook.

    It has the exercise, the name of the answer (`called`) and of the notebook, the code cells, and the indices of the
    answer's cell (`place`) and of its check.
    """

    exercise: str
    called: str
    notebook: str
    code: tuple[SubmittedCell, ...]
    place: int
    check: int


def rerun_answer(answer: SavedAnswer) -> object:
    """Run an answer and return its function or class; raise AnswerRunError if that fails or takes too long.

    It runs the statements that grading would run of the notebook. It shows no output, and restores the states of the
    random number generators. Without threads nothing stops it, and a line says so.
    """
    if not can_start_threads():
        warn_once_that_time_limits_do_not_work()
    program = plan_run(
        list(_parts(answer)), [ExerciseTask(answer.exercise, (), MAX_RUN_SECONDS)], SharedSetup("", (), "")
    ).program
    with _isolated():
        names = _run_within(MAX_RUN_SECONDS, lambda: _executed(program.steps, answer.notebook))
    found = names.get(answer.called)
    if not callable(found):
        raise AnswerRunError(f"{answer.notebook}, run anew, gives no function of that name")
    return found


def _parts(answer: SavedAnswer) -> Iterator[CellInRun]:
    """Yield the notebook's cells for a plan. The setup cell is an ordinary one: only what is needed of it is run."""
    check = max(answer.place, answer.check)
    yield from (_part(cell, answer) for cell in answer.code if cell.index <= check)
    yield CellInRun(CellRole.CHECK, exercises=(answer.exercise,), called=answer.called)
    yield from (_part(cell, answer) for cell in answer.code if cell.index > check)


def _part(cell: SubmittedCell, answer: SavedAnswer) -> CellInRun:
    is_answer = cell.index == answer.place
    return (
        CellInRun(CellRole.ANSWER, cell.source, (answer.exercise,))
        if is_answer
        else CellInRun(CellRole.GIVEN, cell.source)
    )


def _executed(steps: tuple[Step, ...], notebook: str) -> dict[str, Any]:
    """Run the steps and return their namespace; as in grading, only errors in the answer itself are raised."""
    names: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins, "get_ipython": _NoShell, **STUBS}
    for number, (text, is_answer) in enumerate(_texts(steps)):
        try:
            run_source_with_linecache(text, f"<{notebook}, statement {number}>", names)
        except Exception:
            if is_answer:
                raise
    return names


def _texts(steps: tuple[Step, ...]) -> Iterator[tuple[str, bool]]:
    """Yield each statement to run, and whether it belongs to the answer; the rest of the answer's cell is left out."""
    for step in steps:
        if isinstance(step, StatementsStep):
            yield from ((text, False) for text in step.statements)
        elif isinstance(step, CellStep):
            yield from ((text, True) for _, text in step.needed)


class _NoShell:
    """A stand-in for the IPython shell, in which `%magic` and `!command` do nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return do_nothing


@contextmanager
def _isolated() -> Iterator[None]:
    """Suppress all output, and restore the random number generators. CUDA's only if it runs, so as not to start it."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    state = random.getstate()
    try:
        with capture_output(), torch.random.fork_rng(devices):
            yield
    finally:
        random.setstate(state)


class _Work(threading.Thread):
    """A thread that can be stopped between two Python instructions; an operation of torch runs to its end."""

    def __init__(self, work: Callable[[], dict[str, Any]]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self.result: dict[str, Any] | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Do the work, and keep its result or its exception."""
        try:
            self.result = self._work()
        except BaseException as error:  # SystemExit and KeyboardInterrupt too
            self.error = error

    def stop(self) -> None:
        """Raise SystemExit in the thread."""
        if self.is_alive():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident or 0), ctypes.py_object(SystemExit))


def _run_within(seconds: float, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the result of `work`; raise AnswerRunError if it fails or exceeds the time limit."""
    thread = _Work(work)
    if start_thread(thread):
        _wait_for(thread, seconds)
    else:
        thread.run()
        if isinstance(thread.error, KeyboardInterrupt):  # the reader has pressed Stop
            raise thread.error
    if thread.result is None:
        raise AnswerRunError(f"yours stopped with {' '.join(f'{type(thread.error).__name__}: {thread.error}'.split())}")
    return thread.result


def _wait_for(thread: _Work, seconds: float) -> None:
    """Wait for a thread that runs; stop it and raise AnswerRunError if it exceeds the time limit."""
    try:
        thread.join(seconds)
        in_time = not thread.is_alive()
    finally:  # the reader may have pressed Stop
        thread.stop()
    if not in_time:
        thread.join(1.0)
        raise AnswerRunError(f"yours did not come to an end within {seconds:g} seconds")
