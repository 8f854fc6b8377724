"""A reader of a made course of two chapters: notebooks in a folder, and kernels that run in this process."""

from __future__ import annotations

import atexit
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder import mine
from autograder.course import points_and_hints
from autograder.course.course_location import COURSE_VARIABLE
from autograder.course.points_and_hints import ExercisePoints, IndexedChapter
from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.notebook import earlier_notebooks, last_checked_answer, progress_log
from autograder.notebook import own_answer_or_fallback as choosing
from autograder.notebook.progress_log import PROGRESS_LOG

FIRST, SECOND = "ch01_first", "ch02_second"
CHAPTERS = (
    IndexedChapter(FIRST, "Chapter 1: First", {"double": ExercisePoints(2, 0), "Pair": ExercisePoints(1, 0)}),
    IndexedChapter(SECOND, "Chapter 2: Second", {"triple": ExercisePoints(2, 0)}),
)
# The condition that each exercise's answer must meet.
ASKED: dict[str, Callable[[Any], bool]] = {
    "double": lambda answer: answer(2) == 4,
    "Pair": lambda answer: answer(1, 2).sum() == 3,
    "triple": lambda answer: answer(2) == 6,
}
DOUBLE = "def double(x):\n    return 2 * x"
STUB = "def double(x):\n    raise NotImplementedError()"
PAIR = """\
class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def sum(self):
        return self.a + self.b
"""


def check(name: str, answer: Any) -> None:
    """Check an answer and log the result as a notebook does, without displaying a report."""
    try:
        passed = ASKED[name](answer)
    except Exception:
        passed = False
    report = Report(name, (Verdict("works", Status.PASS if passed else Status.FAIL),))
    PROGRESS_LOG.note(report, last_checked_answer.remember_check(name, answer, passed))


def new_kernel(folder: Path) -> Any:
    """Return a shell like that of a new kernel in a folder; it writes no history to the disk."""
    for known in (last_checked_answer.LAST_CHECKS, choosing._displayed, earlier_notebooks._given):
        known.clear()  # type: ignore[attr-defined]
    InteractiveShell.clear_instance()
    shell: Any = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    atexit.unregister(shell.atexit_operations)  # else each shell lives on, and at the end searches for garbage
    shell.kernel, shell.starting_dir = object(), str(folder)
    return shell


class Reader:
    """A reader with a folder of notebooks, and one kernel at a time."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._patch, self._capsys = folder, monkeypatch, capsys
        self.shell: Any = None

    def start(self, name: str = "") -> None:
        """Start a kernel; with a name, the server's environment names that notebook."""
        self._patch.setenv("JPY_SESSION_NAME", str(self.folder / f"{name}.ipynb") if name else "")
        self.shell = new_kernel(self.folder)
        self.shell.user_ns.update(check=check, mine=mine)

    def run(self, *cells: str) -> str:
        """Run cells, and return their output."""
        self._capsys.readouterr()
        for cell in cells:
            self.shell.run_cell(cell, store_history=True).raise_error()
        return self._capsys.readouterr().out.strip()

    def value(self, name: str) -> Any:
        """Return the value of a name in the notebook."""
        return self.shell.user_ns[name]

    def save(self, name: str, *cells: str, marked: str = "") -> Path:
        """Save a notebook with these cells; the cell that defines `marked` gets nbgrader's mark of that exercise."""
        made = [
            {
                "cell_type": "code",
                "source": cell,
                "outputs": [],
                "metadata": {"nbgrader": {"grade_id": marked}} if marked and f"def {marked}" in cell else {},
            }
            for cell in cells
        ]
        path = self.folder / f"{name}.ipynb"
        path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        return path

    def works(self, name: str, *cells: str) -> None:
        """Run a notebook from top to bottom in a new kernel, and save it."""
        self.start(name)
        self.run(*cells)
        self.save(name, *cells)


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Reader]:
    """A reader with an empty folder, in the first chapter."""
    course = tmp_path / "course"
    for name in ("exercises", "shipped"):
        (course / name).mkdir(parents=True)
    (course / "shipped" / points_and_hints.POINTS).write_bytes(points_and_hints.encode_index(list(CHAPTERS)))
    monkeypatch.setenv(COURSE_VARIABLE, str(course))
    for variable in ("NBGRADER_EXECUTION", progress_log.PROGRESS_VARIABLE):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "work").mkdir()
    made = Reader(tmp_path / "work", monkeypatch, capsys)
    made.start(FIRST)
    yield made
    InteractiveShell.clear_instance()
    last_checked_answer.LAST_CHECKS.clear()
