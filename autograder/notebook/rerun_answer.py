"""Runs an answer of another notebook with what it needs, and nothing else, in a namespace of its own."""

from __future__ import annotations

import builtins
import ctypes
import linecache
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from IPython.utils.capture import capture_output

from autograder.grading.execution_plan import Task, plan
from autograder.sandbox.execution.course_function_stubs import STUBS, say_nothing
from autograder.sandbox.execution.program import AnswerStep, AssignmentSetup, DefinitionStep, Step
from autograder.submission.cell_order import OrderedCell, Role
from autograder.submission.submitted_cells import SubmittedCell

SECONDS = 5.0  # for all that an answer needs; a lesson waits so long


class StoppedError(Exception):
    """An answer did not come about; the message says why."""


@dataclass(frozen=True)
class Written:
    """An answer in a notebook: its exercise, its name there, the cells with code, its place and that of its check."""

    exercise: str
    called: str
    notebook: str
    code: tuple[SubmittedCell, ...]
    place: int
    check: int


def rerun(answer: Written) -> object:
    """The function or class that an answer is; raises StoppedError where that fails or takes too long.

    What it needs is what grading would run of the notebook. Nothing is shown, and random numbers go on as if it had
    not run.
    """
    program = plan(list(_parts(answer)), [Task(answer.exercise, (), SECONDS)], AssignmentSetup("", (), "")).program
    with _apart():
        names = _within(SECONDS, lambda: _executed(program.steps, answer.notebook))
    found = names.get(answer.called)
    if not callable(found):
        raise StoppedError(f"{answer.notebook}, run anew, gives no function of that name")
    return found


def _parts(answer: Written) -> Iterator[OrderedCell]:
    """The notebook's cells; the setup cell is one of them, so that of it too only what is needed is run."""
    check = max(answer.place, answer.check)
    yield from (_part(cell, answer) for cell in answer.code if cell.index <= check)
    yield OrderedCell(Role.CHECK, exercises=(answer.exercise,), called=answer.called)
    yield from (_part(cell, answer) for cell in answer.code if cell.index > check)


def _part(cell: SubmittedCell, answer: Written) -> OrderedCell:
    is_answer = cell.index == answer.place
    return (
        OrderedCell(Role.ANSWER, cell.source, (answer.exercise,)) if is_answer else OrderedCell(Role.GIVEN, cell.source)
    )


def _executed(steps: tuple[Step, ...], notebook: str) -> dict[str, Any]:
    """The names that the steps give; what only leads to an answer may fail, as it may where a submission is graded."""
    names: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins, "get_ipython": _NoShell, **STUBS}
    for number, (text, is_answer) in enumerate(_texts(steps)):
        try:
            _execute(text, f"<{notebook}, statement {number}>", names)
        except Exception:
            if is_answer:
                raise
    return names


def _texts(steps: tuple[Step, ...]) -> Iterator[tuple[str, bool]]:
    """The statements, and which of them the answer consists of; what else its cell does is not done again."""
    for step in steps:
        if isinstance(step, DefinitionStep):
            yield from ((text, False) for text in step.statements)
        elif isinstance(step, AnswerStep):
            yield from ((text, True) for _, text in step.needed)


def _execute(text: str, place: str, names: dict[str, Any]) -> None:
    """Run a statement so that a traceback, and who asks for its source, find the text."""
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
    exec(compile(text, place, "exec", dont_inherit=True), names)


class _NoShell:
    """What `%magic` and `!command` find: their work was for another run."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return say_nothing


@contextmanager
def _apart() -> Iterator[None]:
    """Show nothing, and put the generators of random numbers back. A look at CUDA would start it."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    state = random.getstate()
    try:
        with capture_output(), torch.random.fork_rng(devices):
            yield
    finally:
        random.setstate(state)


class _Work(threading.Thread):
    """Work that may be given up; an endless loop is stopped, and what torch itself computes goes on to its end."""

    def __init__(self, work: Callable[[], dict[str, Any]]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self.result: dict[str, Any] | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        """Keep what comes out, or what was raised."""
        try:
            self.result = self._work()
        except BaseException as error:  # also what would end the process
            self.error = error

    def stop(self) -> None:
        """Raise SystemExit in it."""
        if self.is_alive():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident or 0), ctypes.py_object(SystemExit))


def _within(seconds: float, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What work gives; raises StoppedError where it fails or does not come to an end."""
    thread = _Work(work)
    thread.start()
    try:
        thread.join(seconds)
        in_time = not thread.is_alive()
    finally:  # the reader may have pressed Stop
        thread.stop()
    if not in_time:
        thread.join(1.0)
        raise StoppedError(f"yours did not come to an end within {seconds:g} seconds")
    if thread.result is None:
        raise StoppedError(f"yours stopped with {' '.join(f'{type(thread.error).__name__}: {thread.error}'.split())}")
    return thread.result
