"""Store the results of checks in a small file beside the notebook. No error of the file stops a check.

Each check appends one line in one write, so that notebooks that run at the same time do not disturb each other, and a
truncated line loses only itself.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from IPython import get_ipython

from autograder.diagnosis.verdict import Report, Status
from autograder.notebook.append_only_file import append_line, error_reason, read_lines

PROGRESS_FILE = ".pytorch-basics-progress"  # nbgrader ignores files whose name begins with a dot
# The environment variable that turns the file off with `off`, for automatic runs, or names another folder for it.
PROGRESS_VARIABLE = "PYTORCH_BASICS_PROGRESS"
_MOST_BYTES = 2**20  # read at most so much, from the end of the file


@dataclass(frozen=True)
class LoggedCheck:
    """The last check of an exercise: the passed checks, all checks, and the digest of an answer that passed."""

    passed: int
    of: int
    answer: str = ""

    @property
    def is_full(self) -> bool:
        """Return whether every check passed."""
        return self.passed == self.of

    @property
    def share(self) -> float:
        """Return the share of passed checks, from 0 to 1."""
        return self.passed / self.of


class ProgressLog:
    """The checks in the folder's file, and those of this kernel that could not be written there."""

    def __init__(self) -> None:
        self._own: dict[str, LoggedCheck] = {}
        self._complained = False

    def note(self, report: Report, answer: str = "") -> str:
        """Store the result of a check; return a message for the reader if the file cannot be written, else "".

        The message appears once per kernel. `answer` is a digest that identifies the text of an answer that passed.
        """
        folder = progress_folder()
        if folder is None or report.verdicts[0].status is Status.NOT_ATTEMPTED:
            return ""
        entry = LoggedCheck(len(report.passed_checks), len(report.verdicts), answer)
        try:
            _append(folder / PROGRESS_FILE, report.exercise, entry)
        except OSError as error:
            self._own[report.exercise] = entry
            return self._complaint(error)
        self._own.pop(report.exercise, None)
        return ""

    def _complaint(self, error: OSError) -> str:
        if self._complained:
            return ""
        self._complained = True
        why = error_reason(error)
        return f"(This check counts; `progress` will forget it with this kernel: no writing to {PROGRESS_FILE}, {why}.)"

    def read(self) -> tuple[dict[str, LoggedCheck], str]:
        """Return the last check of each exercise, and a message for the reader if the file is damaged, else ""."""
        folder = progress_folder()
        if folder is None:
            return dict(self._own), ""
        try:
            lines = read_lines(folder / PROGRESS_FILE, _MOST_BYTES)
        except FileNotFoundError:
            return dict(self._own), ""
        except OSError as error:
            return dict(
                self._own
            ), f"{PROGRESS_FILE} cannot be read ({error_reason(error)}): what it held is not shown."
        entries = list(map(_entry, lines))
        lost = entries.count(None)
        note = (
            f"{lost} line{'s' if lost > 1 else ''} of {PROGRESS_FILE} cannot be read: run those checks again."
            if lost
            else ""
        )
        return dict(filter(None, entries)) | self._own, note


def progress_folder() -> Path | None:
    """Return the folder that keeps the reader's progress files; None in scripts and grading, or if OFF is `off`.

    It is the folder in which the kernel started, unless the environment variable that OFF names gives another one.
    """
    shell, named = interactive_notebook_shell(), os.environ.get(PROGRESS_VARIABLE, "")
    return None if shell is None or named == "off" else Path(named or shell.starting_dir)


def interactive_notebook_shell() -> Any | None:
    """Return the IPython shell of a notebook's kernel; None in scripts, in the grader, and in runs of nbgrader."""
    shell = get_ipython()
    return shell if hasattr(shell, "kernel") and "NBGRADER_EXECUTION" not in os.environ else None


def _append(path: Path, exercise: str, entry: LoggedCheck) -> None:
    data = {"exercise": exercise, "passed": entry.passed, "of": entry.of}
    append_line(path, json.dumps(data | ({"answer": entry.answer} if entry.answer else {})))


def _entry(line: str) -> tuple[str, LoggedCheck] | None:
    """Parse a line of the file; return None if it is damaged."""
    try:
        item = json.loads(line)
        name, passed, of, answer = item["exercise"], item["passed"], item["of"], item.get("answer", "")
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    sound = isinstance(name, str) and type(passed) is int and type(of) is int and 0 <= passed <= of and of > 0
    return (name, LoggedCheck(passed, of, answer if isinstance(answer, str) else "")) if sound else None


PROGRESS_LOG = ProgressLog()
