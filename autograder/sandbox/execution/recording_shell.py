"""An IPython shell whose cells end as they do in a notebook that nbgrader executes, and whose outputs are kept."""

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

from autograder.sandbox.execution.cell_outputs import Given, GivenStream, Output

INLINE = "module://matplotlib_inline.backend_inline"
# A cell has its seconds of computing, and so many times that where it waits: on a busy machine others compute.
WAITS = 4
_CLOCKS = "_ring(self, _number, _frame)"  # the frame in which a cell is stopped
_AGAIN = 2.0  # seconds after which a cell that did not stop is told once more


class RecordingShell(InteractiveShell):
    """A shell of which nothing is printed; `outputs` has it."""

    outputs = Given()

    # IPython calls these with what each of its versions likes.
    def _showtraceback(self, etype: Any, evalue: Any, stb: list[str]) -> None:
        told = [each for each in stb if _CLOCKS not in each]  # a path of the grader's machine
        self.outputs.error(etype.__name__, str(evalue), _with_colors(told, etype.__name__))

    def _format_exception_for_storage(self, *_: Any, **__: Any) -> dict[str, str]:
        return {}  # the history keeps nothing, and telling an error a second time takes as long as the first

    def enable_gui(self, gui: str | None = None) -> None:
        """Do nothing: there is no screen."""

    def ask_exit(self) -> None:
        """Do nothing: the notebook goes on."""

    def system(self, cmd: str) -> None:
        """Run a line that begins with `!`; what it prints is the cell's."""
        ran = subprocess.run(
            self.var_expand(cmd, depth=1),  # type: ignore[no-untyped-call]
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        sys.stdout.write(ran.stdout.decode(errors="replace"))
        self.user_ns["_exit_code"] = ran.returncode


def _with_colors(lines: Sequence[str], name: str) -> list[str]:
    """A traceback with its arrows, and the error's name, in red.

    IPython would colour the code too, which takes six times as long as all else about an error.
    """
    telling = re.compile(rf"^(?:-+> \d+|{re.escape(name)}\b)", re.MULTILINE)
    return [telling.sub("\x1b[31m\\g<0>\x1b[39m", each) for each in lines]


class _Shows(DisplayPublisher):
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
        RecordingShell.outputs.display(data, str((transient or {}).get("display_id", "")), update)

    def clear_output(self, wait: bool = False) -> None:
        RecordingShell.outputs.clear(wait)


class _Results(DisplayHook):
    def write_output_prompt(self) -> None:
        """Write none."""

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        RecordingShell.outputs.result(format_dict, self.prompt_count)


def new_recording_shell() -> RecordingShell:
    """A shell that writes no history, reads no profile, and draws as a notebook does."""
    os.environ["MPLBACKEND"] = INLINE
    config = Config()
    config.HistoryManager.enabled = False
    config.RecordingShell.colors = "NoColor"  # but for `_with_colors`
    config.RecordingShell.display_pub_class = _Shows
    shell = RecordingShell.instance(config=config, display_pub_class=_Shows, displayhook_class=_Results)
    return shell


def fail_once(shell: RecordingShell) -> None:
    """Run a cell that fails, for what the first cell and the first error import; nothing of it is left.

    To tell an error takes more time than most cells, and ten times that where it is the first.
    """
    shell.run_cell("1 / 0", store_history=False, silent=True)  # type: ignore[no-untyped-call]
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        vars(sys).pop(name, None)  # nobody's cell has failed yet


def take_streams() -> None:
    """Let all that is printed from now on be the outputs', and nothing be asked: nobody is there to answer."""
    outputs = RecordingShell.outputs
    sys.stdout, sys.stderr = GivenStream(outputs, "stdout"), GivenStream(outputs, "stderr")
    vars(builtins)["input"] = _refuse("raw_input")
    vars(getpass)["getpass"] = _refuse("getpass")


def _refuse(name: str) -> Callable[..., NoReturn]:
    def asked(*_: object, **__: object) -> NoReturn:
        raise StdinNotImplementedError(f"{name} was called, but this frontend does not support input requests.")

    return asked


def run_recorded(shell: RecordingShell, source: str, seconds: float) -> list[Output]:
    """Run one cell; an error in it, or the end of its time, is among its outputs."""
    shell.outputs.begin()
    clock = _Clock(seconds)
    try:
        with clock:
            result = shell.run_cell(source, store_history=True)  # type: ignore[no-untyped-call]
            stopped = result.error_before_exec or result.error_in_exec
    except BaseException as failure:  # some texts stop IPython itself, and time may end outside the cell
        stopped = failure
    if clock.rang:
        shell.outputs.error("CellTimeoutError", "", ["CellTimeoutError: No reply from kernel before timeout"])
    elif stopped is not None and not _is_told(shell.outputs.kept, stopped):
        told = f"{type(stopped).__name__}: {stopped}"
        shell.outputs.error(type(stopped).__name__, str(stopped), [told])
    return shell.outputs.kept


def _is_told(outputs: list[Output], stopped: BaseException) -> bool:
    name = type(stopped).__name__
    return any(each["output_type"] == "error" and each["ename"] == name for each in outputs)


class _Clock:
    """Interrupts a cell when its time is over, as Ctrl-C does."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self.rang = seconds, False

    def __enter__(self) -> None:
        for number in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(number, self._ring)
        signal.setitimer(signal.ITIMER_PROF, self._seconds, _AGAIN)
        signal.setitimer(signal.ITIMER_REAL, WAITS * self._seconds, _AGAIN)

    def __exit__(self, *_: object) -> None:
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)

    def _ring(self, _number: int, _frame: FrameType | None) -> None:
        self.rang = True
        raise KeyboardInterrupt
