"""Remembers how checks went, in a small file beside the notebook. Nothing that happens to the file stops a check.

Each check adds one line, in one write: notebooks that run at the same time do not disturb each other, and of a line
that was cut off only that line is lost.
"""

from __future__ import annotations

import errno
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from IPython import get_ipython

from autograder.diagnosis.verdict import Report, Status

NAME = ".pytorch-basics-progress"  # nbgrader leaves names with a dot alone
OFF = "PYTORCH_BASICS_PROGRESS"  # with the value `off` nothing is kept: for runs that are no reader's
_MOST_BYTES = 2**20  # of a longer file, the end is read
_HARMLESS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)  # a pipe is not waited for, a link not followed


@dataclass(frozen=True)
class Entry:
    """The last check of an exercise: how many of its requirements held, and what tells the answer that passed."""

    passed: int
    of: int
    answer: str = ""

    @property
    def share(self) -> float:
        """0 to 1."""
        return self.passed / self.of


class Logbook:
    """The checks in one folder, and those of this kernel, which count where the folder keeps nothing."""

    def __init__(self) -> None:
        self._own: dict[str, Entry] = {}
        self._complained = False

    def note(self, report: Report, answer: str = "") -> str:
        """Remember how a check went; returns what to tell the reader: nothing, or once, why it is not kept.

        `answer` tells the text that passed from another one, and does not give it away.
        """
        folder = folder_of_notebook()
        if folder is None or report.verdicts[0].status is Status.NOT_ATTEMPTED:
            return ""
        entry = Entry(len(report.passed_checks), len(report.verdicts), answer)
        try:
            _append(folder / NAME, report.exercise, entry)
        except OSError as error:
            self._own[report.exercise] = entry
            return self._complaint(error)
        self._own.pop(report.exercise, None)
        return ""

    def _complaint(self, error: OSError) -> str:
        if self._complained:
            return ""
        self._complained = True
        return f"(This check counts; `progress` will forget it with this kernel: no writing to {NAME}, {_why(error)}.)"

    def read(self) -> tuple[dict[str, Entry], str]:
        """The last check of each exercise, and what to tell the reader of the file: nothing, or what is wrong."""
        folder = folder_of_notebook()
        if folder is None:
            return dict(self._own), ""
        try:
            lines = _lines(folder / NAME)
        except FileNotFoundError:
            return dict(self._own), ""
        except OSError as error:
            return dict(self._own), f"{NAME} cannot be read ({_why(error)}): what it held is not shown."
        entries = list(map(_entry, lines))
        lost = entries.count(None)
        told = f"{lost} line{'s' if lost > 1 else ''} of {NAME} cannot be read: run those checks again." if lost else ""
        return dict(filter(None, entries)) | self._own, told


def folder_of_notebook() -> Path | None:
    """The folder in which the kernel started; None outside notebooks, and where no reader works."""
    shell = shell_of_reader()
    return None if shell is None or os.environ.get(OFF) == "off" else Path(shell.starting_dir)


def shell_of_reader() -> Any | None:
    """The shell of a notebook's kernel; None in scripts, in the process that grades, and where nbgrader runs cells."""
    shell = get_ipython()
    return shell if hasattr(shell, "kernel") and "NBGRADER_EXECUTION" not in os.environ else None


def _append(path: Path, exercise: str, entry: Entry) -> None:
    # The line break comes first: what is added stands on a line of its own, whatever was cut off before.
    said = {"exercise": exercise, "passed": entry.passed, "of": entry.of}
    line = "\n" + json.dumps(said | ({"answer": entry.answer} if entry.answer else {}))
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _HARMLESS, 0o666)
    try:
        if os.write(file, line.encode()) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(file)


def _lines(path: Path) -> list[str]:
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no file")
    with open(os.open(path, os.O_RDONLY | _HARMLESS), "rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _MOST_BYTES))
        lines = file.read(_MOST_BYTES).decode("utf-8", "replace").split("\n")
    return [line for line in lines if line.strip()]


def _entry(line: str) -> tuple[str, Entry] | None:
    """What a line says; None where it is not one of ours."""
    try:
        item = json.loads(line)
        name, passed, of, answer = item["exercise"], item["passed"], item["of"], item.get("answer", "")
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    sound = isinstance(name, str) and type(passed) is int and type(of) is int and 0 <= passed <= of and of > 0
    return (name, Entry(passed, of, answer if isinstance(answer, str) else "")) if sound else None


def _why(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


LOGBOOK = Logbook()
