"""The child process: executes a submission's cells in an IPython shell, and sends what the probes saw.

It is told the setup, the solution cells and the cases through its standard input, and answers through its
standard output: both are put out of the cells' way before any of the student's code runs. Whatever the cells
print is discarded.
"""

from __future__ import annotations

import ast
import os
import random
import sys
from importlib import import_module
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder.errors import WorkFailed
from autograder.exercise import Case, Exercise, ExerciseSet
from autograder.frames import HELPERS, READY, Frame, FrameError, receive, send
from autograder.observation import Raised, from_bytes, to_bytes
from autograder.probe import raised


class QuietShell(InteractiveShell):
    """A shell that keeps errors in its results instead of printing them."""

    def showtraceback(self, *args: Any, **kwargs: Any) -> None:
        """Print nothing."""

    def showsyntaxerror(self, *args: Any, **kwargs: Any) -> None:
        """Print nothing."""

    def enable_gui(self, gui: str | None = None) -> None:
        """Do nothing: `%matplotlib inline` asks for it."""


def main() -> None:
    """Serve one program in a process of its own: the chapter first, then the program, both over standard input."""
    source, sink = _take_pipes()
    frame = receive(source)
    if frame is None:
        return
    try:
        chapter = Chapter(**frame.head)
    except WorkFailed as error:
        send(sink, Frame({"problem": str(error)}))
    else:
        send(sink, Frame({"stage": READY}))
        serve(chapter, source, sink)


class Chapter:
    """What is the same for all submissions of a chapter: its probes, and a shell in which its setup cell has run.

    Raises WorkFailed where the setup cell fails: the chapter is ours.
    """

    def __init__(self, exercises: str, setup: str) -> None:
        torch.set_num_threads(1)
        self.exercises: ExerciseSet = import_module(exercises).EXERCISES
        self.shell = new_shell()
        problem = run_cell(self.shell, setup)
        if problem is not None:
            raise WorkFailed(f"the setup cell raised {problem.type}: {problem.message}")


def serve(chapter: Chapter, source: int, sink: int) -> None:
    """Run the program that comes from `source`; a frame to `sink` for each stage."""
    frame = receive(source)
    os.close(source)
    if frame is not None:
        # A copy of this process that a cell forks has nothing to say to the grader.
        os.register_at_fork(after_in_child=lambda: os.close(sink))
        discard(2)
        _serve(chapter.shell, chapter.exercises, sink, frame)


def _take_pipes() -> tuple[int, int]:
    """Move the pipes away from descriptors 0 and 1, where the cells could read or print into them."""
    source, sink = os.dup(0), os.dup(1)
    discard(0)
    discard(1)
    return source, sink


def discard(fd: int) -> None:
    """Let a descriptor lead nowhere."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, fd)
    os.close(null)


def _serve(shell: QuietShell, exercises: ExerciseSet, sink: int, program: Frame) -> None:
    for statement in split(program.head["helpers"]):
        run_cell(shell, statement)  # one that fails is missed only by the answers that need it
    send(sink, Frame({"stage": HELPERS}))
    for task, rows in zip(program.head["tasks"], from_bytes(program.body), strict=True):
        cases = tuple(Case(requirement, *args, **kwargs) for requirement, args, kwargs in rows)
        _answer(sink, _outcome(shell, exercises[task["exercise"]], task["source"], cases))


def _answer(sink: int, frame: Frame) -> None:
    try:
        send(sink, frame)
    except FrameError as error:
        send(sink, Frame({"stage": frame.head["stage"], "raised": [type(error).__name__, str(error), ""]}))


def _outcome(shell: QuietShell, exercise: Exercise, source: str, cases: tuple[Case, ...]) -> Frame:
    head: dict[str, Any] = {"stage": exercise.name}
    random.seed(0)
    torch.default_generator.manual_seed(0)  # torch.manual_seed also seeds devices, which takes its time
    problem = run_cell(shell, source)
    if problem is not None:
        return Frame(head | {"raised": [problem.type, problem.message, problem.line]})
    if not cases:
        return Frame(head)
    if exercise.name not in shell.user_ns:
        return Frame(head | {"raised": ["NameError", f"name {exercise.name!r} is not defined", ""]})
    try:
        return Frame(head, to_bytes(list(exercise.observe(shell.user_ns[exercise.name], cases))))
    # KeyboardInterrupt can only come from the answer: nobody sits at this process's keyboard. Anything else is a
    # result that a probe cannot write down.
    except (Exception, KeyboardInterrupt) as error:
        problem = raised(error)
        return Frame(head | {"raised": [problem.type, problem.message, problem.line]})


def new_shell() -> QuietShell:
    """A shell that writes no history and reads no profile."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "NoColor"
    return QuietShell.instance(config=config)


def run_cell(shell: QuietShell, source: str) -> Raised | None:
    """Execute one cell; returns what it raised."""
    try:
        result = shell.run_cell(source, store_history=False)  # type: ignore[no-untyped-call]
        error: BaseException | None = result.error_before_exec or result.error_in_exec
    except Exception as failure:  # some texts stop IPython itself
        error = failure
    if isinstance(error, SyntaxError):
        return Raised(type(error).__name__, error.msg or "", (error.text or "").strip())
    return None if error is None else raised(error)


def split(source: str) -> list[str]:
    """The statements of a text, each as a text of its own: one that fails does not stop the others."""
    try:
        return [ast.unparse(node) for node in ast.parse(source).body]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


if __name__ == "__main__":
    if sys.argv[1:] == ["--try"]:
        new_shell()
        print("The process that runs submissions starts: IPython and torch are there.")
    else:
        main()
