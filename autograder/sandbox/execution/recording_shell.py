"""An IPython shell that records the outputs of each cell, and ends cells as nbgrader's execution of a notebook does."""

from __future__ import annotations

import builtins
import getpass
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NoReturn

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder.sandbox.execution.cell_outputs import Output, RecordedOutputs, RecordingStream

INLINE_BACKEND = "module://matplotlib_inline.backend_inline"
# A cell may use its seconds of CPU time, and this many times as much elapsed time: on a busy machine it has to wait.
CELL_WAITING_FACTOR = 4
_INTERRUPTING_FRAME = "_interrupt(self, _number, _frame)"  # the line of a traceback that shows our signal handler
_REPEAT = 2.0  # seconds after which a cell that did not stop is interrupted once more


class RecordingShell(InteractiveShell):
    """A shell that prints nothing, and adds everything to `outputs`."""

    outputs = RecordedOutputs()

    # The arguments of these methods differ between versions of IPython.
    def _showtraceback(self, etype: Any, evalue: Any, stb: list[str]) -> None:
        lines = [each for each in stb if _INTERRUPTING_FRAME not in each]  # it shows a path of the grader's machine
        self.outputs.add_error(etype.__name__, str(evalue), _with_colors(lines, etype.__name__))

    def _format_exception_for_storage(self, *_: Any, **__: Any) -> dict[str, str]:
        return {}  # nothing is stored, and formatting an error a second time takes as long as the first

    def enable_gui(self, gui: str | None = None) -> None:
        """Do nothing: there is no screen."""

    def ask_exit(self) -> None:
        """Do nothing: the rest of the notebook still runs."""

    def system(self, cmd: str) -> None:
        """Run a line that begins with `!`, and add what it prints to the cell's outputs."""
        try:
            ran = subprocess.run(
                self.var_expand(cmd, depth=1),  # type: ignore[no-untyped-call]
                shell=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
            )
        except OSError as problem:  # the code may start no other program; in a notebook, the cell would go on
            sys.stdout.write(f"{problem}\n")
            self.user_ns["_exit_code"] = 1
            return
        sys.stdout.write(ran.stdout.decode(errors="replace"))
        self.user_ns["_exit_code"] = ran.returncode


def _with_colors(lines: Sequence[str], name: str) -> list[str]:
    """Return a traceback with its arrows and the error's name in red.

    IPython would color the code too, which takes six times as long as everything else about an error.
    """
    marked = re.compile(rf"^(?:-+> \d+|{re.escape(name)}\b)", re.MULTILINE)
    return [marked.sub("\x1b[31m\\g<0>\x1b[39m", each) for each in lines]


class _RecordingPublisher(DisplayPublisher):
    def publish(
        self,
        data: Any,
        metadata: Any = None,
        source: Any = None,
        *,
        transient: Any = None,
        update: bool = False,
        **_: Any,
    ) -> None:
        RecordingShell.outputs.add_display(data, str((transient or {}).get("display_id", "")), update)

    def clear_output(self, wait: bool = False) -> None:
        RecordingShell.outputs.clear(wait)


class _RecordingDisplayHook(DisplayHook):
    def write_output_prompt(self) -> None:
        """Write no prompt."""

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        RecordingShell.outputs.add_result(format_dict, self.prompt_count)


def new_recording_shell() -> RecordingShell:
    """Return a shell that writes no history, reads no profile, and draws as a notebook does."""
    os.environ["MPLBACKEND"] = INLINE_BACKEND
    config = Config()
    config.HistoryManager.enabled = False
    config.RecordingShell.colors = "NoColor"  # `_with_colors` adds the few that are wanted
    config.RecordingShell.display_pub_class = _RecordingPublisher
    shell = RecordingShell.instance(
        config=config, display_pub_class=_RecordingPublisher, displayhook_class=_RecordingDisplayHook
    )
    return shell


def preload_error_handling(shell: RecordingShell) -> None:
    """Run a cell that fails, so that IPython imports now what the first cell and the first error need.

    Formatting an error takes longer than most cells, and ten times as long for the first error. The cell leaves no
    trace in the shell.
    """
    shell.run_cell("1 / 0", store_history=False, silent=True)  # type: ignore[no-untyped-call]
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        vars(sys).pop(name, None)  # as before the first error


def redirect_streams() -> None:
    """Redirect stdout and stderr to the recorded outputs, and make `input` and `getpass` raise: nobody could answer."""
    outputs = RecordingShell.outputs
    sys.stdout, sys.stderr = RecordingStream(outputs, "stdout"), RecordingStream(outputs, "stderr")
    vars(builtins)["input"] = _refuse("raw_input")
    vars(getpass)["getpass"] = _refuse("getpass")


def _refuse(name: str) -> Callable[..., NoReturn]:
    def asked(*_: object, **__: object) -> NoReturn:
        raise StdinNotImplementedError(f"{name} was called, but this frontend does not support input requests.")

    return asked


def run_recorded(shell: RecordingShell, source: str, seconds: float) -> list[Output]:
    """Run one cell for at most `seconds` of CPU time, and return its outputs, which include an error or a timeout."""
    shell.outputs.begin_cell()
    timer = _Timer(seconds)
    try:
        with timer:
            result = shell.run_cell(source, store_history=True)  # type: ignore[no-untyped-call]
            stopped = result.error_before_exec or result.error_in_exec
    except BaseException as failure:  # some code crashes IPython itself, and the timer may fire outside the cell
        stopped = failure
    if timer.has_fired:
        shell.outputs.add_error("CellTimeoutError", "", ["CellTimeoutError: No reply from kernel before timeout"])
    elif stopped is not None and not _has_error(shell.outputs.kept, stopped):
        line = f"{type(stopped).__name__}: {stopped}"
        shell.outputs.add_error(type(stopped).__name__, str(stopped), [line])
    return shell.outputs.kept


def _has_error(outputs: list[Output], stopped: BaseException) -> bool:
    name = type(stopped).__name__
    return any(each["output_type"] == "error" and each["ename"] == name for each in outputs)


class _Timer:
    """Raises KeyboardInterrupt in a cell when its time is over, as Ctrl-C does."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self.has_fired = seconds, False

    def __enter__(self) -> None:
        for number in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(number, self._interrupt)
        signal.setitimer(signal.ITIMER_PROF, self._seconds, _REPEAT)
        signal.setitimer(signal.ITIMER_REAL, CELL_WAITING_FACTOR * self._seconds, _REPEAT)

    def __exit__(self, *_: object) -> None:
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        self.has_fired = True
        raise KeyboardInterrupt
