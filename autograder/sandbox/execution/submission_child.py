"""The child process that runs a submission's cells in an IPython shell, and sends the observations of its probes.

What the cells print is discarded.
"""

from __future__ import annotations

import os
import random
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder.course.course import course_in
from autograder.course.faulty_program_names import exercise_of_faulty_program
from autograder.errors import WorkFailed
from autograder.exercises.exercise import ExerciseSet
from autograder.exercises.observation import ExceptionSnapshot, Observation, encode_plain_data
from autograder.exercises.probe import snapshot_exception
from autograder.pipe_messages import Frame, FrameError, receive_frame, redirect_to_null, send_frame
from autograder.sandbox.execution.course_function_stubs import STUBS
from autograder.sandbox.execution.data_file_transfer import unpack_files
from autograder.sandbox.execution.packed_cases import Cases, unpack_cases
from autograder.sandbox.execution.questions_about_answer import observe_questions_about_answer
from autograder.sandbox.execution.run_specification import SharedSetup

# Magics that do nothing here: they start programs, load files, or change the machine.
_IGNORED_MAGICS = frozenset(
    {
        "bash",
        "conda",
        "file",
        "load",
        "load_ext",
        "mamba",
        "pip",
        "reload_ext",
        "run",
        "script",
        "sh",
        "sx",
        "system",
        "uv",
        "writefile",
    }
)


class RestrictedShell(InteractiveShell):
    """A shell that returns errors in its results instead of printing them, and starts no other programs."""

    # The arguments of these two methods differ between versions of IPython.
    def showtraceback(self, *args: Any, **kwargs: Any) -> None:
        """Print nothing."""

    def showsyntaxerror(self, *args: Any, **kwargs: Any) -> None:
        """Print nothing."""

    def enable_gui(self, gui: str | None = None) -> None:
        """Do nothing: `%matplotlib inline` asks for it."""

    def ask_exit(self) -> None:
        """Do nothing: in a notebook, the lines below `exit()` run all the same."""

    def system(self, cmd: str) -> None:
        """Do nothing: `!nvidia-smi` and `!pip install` concern the student's machine."""

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> list[str] | str:
        """Return an empty result, for code such as `files = !ls`."""
        return [] if split else ""

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> Any:
        """Run a line magic; one that starts programs or changes the machine, or is not installed, does nothing."""
        if magic_name not in _IGNORED_MAGICS and self.find_line_magic(magic_name):  # type: ignore[no-untyped-call]
            return super().run_line_magic(magic_name, line, _stack_depth + 1)

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> Any:
        """Run a cell magic, under the same conditions as a line magic."""
        if magic_name not in _IGNORED_MAGICS and self.find_cell_magic(magic_name):  # type: ignore[no-untyped-call]
            return super().run_cell_magic(magic_name, line, cell)  # type: ignore[no-untyped-call]


class PreparedChapter:
    """A chapter's exercises and a shell in which its setup cell has run: prepared once, the same for all submissions.

    Raises WorkFailed if the setup cell fails: it is the course's own, so no student is to blame.
    """

    def __init__(self, ground: SharedSetup) -> None:
        torch.set_num_threads(1)
        course = course_in(Path(ground.course))
        found = (each for stem in ground.chapters for each in course.exercises(stem))
        self.exercises = ExerciseSet(" and ".join(ground.chapters), found)
        asked = ground.chapters if ground.asks else ()
        self.keys = {name: key for stem in asked for name, key in course.keys(stem).items()}
        for exercise in self.exercises:
            exercise.requirements  # noqa: B018  # compute this cached property here, not again in each forked child
        self.shell = new_shell()
        problem = run_cell(self.shell, ground.setup)
        if problem is not None:
            raise WorkFailed(f"the setup cell raised {problem.type}: {problem.message}")
        self.shell.user_ns.update({name: each for name, each in STUBS.items() if name in self.shell.user_ns})

    def serve(self, source: int, sink: int, cases: Cases | None = None) -> None:
        """Run the program that arrives from `source`, and send a frame to `sink` for each step.

        `cases` are given if the fork server has read them before it forked this process; the program then brings none.
        """
        frame = receive_frame(source)
        os.close(source)
        if frame is not None:
            # If a cell forks this process, the copy must not write to the grader.
            os.register_at_fork(after_in_child=lambda: os.close(sink))
            redirect_to_null(2)
            # `@torch.compile` changes no result, and compiling takes longer than an answer may.
            os.environ["TORCHDYNAMO_DISABLE"] = "1"
            size = frame.head["cases"]
            unpack_files(frame.head["files"], frame.body[size:])
            known = cases if not size and cases is not None else unpack_cases(frame.body[:size])
            _run_steps(self, sink, frame.head["steps"], known)

    def observe(self, step: dict[str, Any], cases: Cases) -> Sequence[Observation]:
        """Return the observations of a probing, or of a question step, on the answer that the step names."""
        name = step["exercise"]
        exercise = self.exercises[exercise_of_faulty_program(name, (each.name for each in self.exercises)) or name]
        if "text" in step:
            key = self.keys[name]
            return observe_questions_about_answer(
                exercise, key, self.shell.user_ns, step["called"], step["text"], step["draw"]
            )
        return exercise.observe(self.shell.user_ns[step["called"]], cases[name])


def _run_steps(chapter: PreparedChapter, sink: int, steps: list[dict[str, Any]], cases: Cases) -> None:
    shell = chapter.shell
    for step in steps:
        head = {"stage": step["stage"]}
        if "exercise" in step:
            _send(sink, _probe(head, chapter, step, cases))
        elif "source" in step:
            _send(sink, Frame(head | _error_fields(_run_answers(shell, step["source"], step["needed"]))))
        else:
            for statement in step["statements"]:
                run_cell(shell, statement)  # an error is ignored: only answers that need the statement are affected
            _send(sink, Frame(head))


def _send(sink: int, frame: Frame) -> None:
    try:
        send_frame(sink, frame)
    except FrameError as error:
        send_frame(sink, Frame({"stage": frame.head["stage"], "raised": [type(error).__name__, str(error), ""]}))


def _error_fields(problem: ExceptionSnapshot | None) -> dict[str, Any]:
    return {} if problem is None else {"raised": [problem.type, problem.message, problem.line]}


def _run_answers(shell: RestrictedShell, source: str, needed: list[tuple[int, str]]) -> ExceptionSnapshot | None:
    """Run a cell with answers, and return its error; after one, still run the needed statements below that line."""
    _seed()
    stopped = _executed(shell, source)
    if stopped is None:
        return None
    line = _line_of(stopped)
    for last_line, statement in needed:
        if last_line > line:
            run_cell(shell, statement)
    return _raised(stopped)


def _line_of(error: BaseException) -> int:
    """Return the line of the cell that raised the error; 0 if the traceback does not show it."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno or 0 for frame in frames if frame.name == "<module>"), 0)


def _probe(head: dict[str, Any], chapter: PreparedChapter, step: dict[str, Any], cases: Cases) -> Frame:
    """Return a frame with the observations of the step on the answer that it names, or with an error."""
    if step["called"] not in chapter.shell.user_ns:
        return Frame(head | {"undefined": True})
    _seed()
    try:
        return Frame(head, encode_plain_data(list(chapter.observe(step, cases))))
    # A KeyboardInterrupt can only come from the answer's code. Other errors come from results that cannot be packed.
    except (Exception, KeyboardInterrupt) as error:
        return Frame(head | _error_fields(snapshot_exception(error)))


def _seed() -> None:
    random.seed(0)
    torch.default_generator.manual_seed(0)  # torch.manual_seed also seeds devices, which takes long


def new_shell() -> RestrictedShell:
    """Return a shell that writes no history and reads no profile."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "NoColor"
    return RestrictedShell.instance(config=config)


def run_cell(shell: RestrictedShell, source: str) -> ExceptionSnapshot | None:
    """Execute one cell; return the error that it raised, or None."""
    error = _executed(shell, source)
    return None if error is None else _raised(error)


def _executed(shell: RestrictedShell, source: str) -> BaseException | None:
    """Execute one cell; return the exception that stopped it, or None."""
    try:
        result = shell.run_cell(source, store_history=False)  # type: ignore[no-untyped-call]
        error: BaseException | None = result.error_before_exec or result.error_in_exec
    except Exception as failure:  # some code crashes IPython itself
        return failure
    return error


def _raised(error: BaseException) -> ExceptionSnapshot:
    if isinstance(error, SyntaxError):
        return ExceptionSnapshot(type(error).__name__, error.msg or "", (error.text or "").strip())
    return snapshot_exception(error)
