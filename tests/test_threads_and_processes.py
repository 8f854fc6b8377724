"""Notebooks do their work where Python can start neither threads nor processes, as in a browser or a strict container.

By day one sitting runs as handed out; at night all do, and solved, beside solved notebooks whose answers they take.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

from autograder import can_start_threads, check, hunt, mend
from autograder.errors import WorkFailed
from autograder.notebook import fresh_case_check, time_limit
from autograder.notebook.progress_log import PROGRESS_VARIABLE
from autograder.notebook.run_answer_of_other_notebook import AnswerRunError, _run_within
from autograder.questions.bug_hunt_file import BugHunt, ExerciseHunts
from explorers import bug_hunt_quiz
from tests import sample_course
from tests.mine_in_chapters import OPEN, SOLVED, chapter, lay_beside
from tests.our_course import COURSE
from tests.small_chapter import PROJECT
from tests.test_bug_hunts import Folder
from tests.test_progress_travels import RIGHT

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # from pyzmq, about an unencrypted connection
STEMS = tuple(each.stem for each in COURSE.listed)
FIRST = "ch01a_tensors"
WRONG_ORDER = RIGHT.replace(".transpose(1, 2)", "")
NO_LIMIT, NO_FRESH = "(No time limit:", "(No fresh cases:"
TAKEN_AWAY = """\
import _thread, multiprocessing.process, os, subprocess, sys, threading
for name in ("grp", "pwd", "resource", "syslog"): sys.modules[name] = None
from zmq.utils.garbage import gc
gc.store(b"")  # ipykernel's own sockets start a thread with the first long message
def no_thread(*_, **__): raise RuntimeError("can't start new thread")
def no_process(*_, **__): raise OSError(138, "no processes here")
threading.Thread.start = _thread.start_new_thread = threading._start_new_thread = no_thread
os.fork = os.forkpty = os.posix_spawn = os.system = subprocess.Popen._execute_child = no_process
multiprocessing.process.BaseProcess.start = no_process
"""
ASKED_TWICE = 'check("{0}", {0}, fresh=True)\ncheck("{0}", {0}, fresh=True)'


class Run:
    """A notebook that has run in a kernel without threads and processes, with some cells more at its end."""

    def __init__(self, folder: Path, stem: str, version: str) -> None:
        notebook = nbformat.read(PROJECT / version / f"{stem}.ipynb", as_version=4)
        marks = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
        self.exercises = [mark["grade_id"].removeprefix("check_") for mark in marks if mark.get("grade")]
        self.places = [place + 1 for place, mark in enumerate(marks) if mark.get("grade")]
        last = self.exercises[-1]
        more = [f"from autograder import hint\nhint('{last}')", "progress()", ASKED_TWICE.format(last)]
        cells = [TAKEN_AWAY, *more]
        first, *rest = map(new_code_cell, cells)
        notebook.cells = [first, *notebook.cells, *rest]
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
        self.cells = notebook.cells

    def text(self, place: int) -> str:
        """Return what a cell printed and displayed."""
        outputs = self.cells[place].get("outputs", [])
        return "".join(each.get("text") or str(each.get("data", {}).get("text/plain", "")) for each in outputs)

    @property
    def whole(self) -> str:
        """Return what all cells printed and displayed."""
        return "\n".join(map(self.text, range(len(self.cells))))

    def holds(self, is_solved: bool) -> None:
        """Assert that each check answers and that each thing that is missing is named once."""
        for name, place in zip(self.exercises, self.places, strict=True):
            begins = f"{name}: all " if is_solved else f"{name}: not "
            assert begins in self.text(place), self.text(place)
        assert 1 == self.whole.count(NO_LIMIT)
        assert "Hint 1 of" in self.text(-3) and self.text(-2)
        assert 1 == self.whole.count(NO_FRESH) and 2 == self.text(-1).count(f"{self.exercises[-1]}: ")
        assert "before it is started" not in self.whole and "start new thread" not in self.whole


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a reader's empty folder."""
    for name, value in {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "IPYTHONDIR": str(tmp_path / "i"),
        PROGRESS_VARIABLE: "",
    }.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.mark.slow
@pytest.mark.parametrize("stem", [FIRST, *(pytest.param(e, marks=pytest.mark.night) for e in STEMS if e != FIRST)])
def test_a_notebook_as_handed_out(stem: str, folder: Path) -> None:
    """Every check of an unsolved notebook answers, and no cell fails."""
    Run(folder, stem, OPEN).holds(is_solved=False)


@pytest.mark.night
@pytest.mark.parametrize("stem", STEMS)
def test_a_solved_notebook(stem: str, folder: Path) -> None:
    """Every check of a solved notebook passes, and it takes the reader's answers of the notebooks beside it."""
    others = [chapter(each) for each in STEMS if each != stem]
    solved = [name for each in COURSE.listed for name in each.exercises]
    lay_beside(folder, others, COURSE.listed, solved)
    run = Run(folder, stem, SOLVED)
    run.holds(is_solved=True)

    for name in chapter(stem).taken:
        assert f"is your `{name}`" in run.whole, run.whole


@pytest.fixture
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let neither a thread nor a process start, and let each be tried anew, before and after."""

    def no_thread(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    def no_process(*_: object, **__: object) -> None:
        raise OSError(138, "no processes here")

    asked_anew()
    monkeypatch.setattr(threading.Thread, "start", no_thread)
    monkeypatch.setattr(subprocess.Popen, "_execute_child", no_process)
    yield
    monkeypatch.undo()
    asked_anew()


def asked_anew() -> None:
    """Forget what was tried and said."""
    for once in (
        can_start_threads.can_start_threads,
        can_start_threads.can_start_processes,
        time_limit.warn_once_that_time_limits_do_not_work,
        fresh_case_check._say_once_that_cases_are_visible,
    ):
        once.cache_clear()


class TestWithout:
    """What the parts do in a Python that can start nothing."""

    @pytest.mark.usefixtures("nothing_starts")
    def test_the_trial_says_so(self) -> None:
        """A trial that fails is no error, and is not repeated."""
        found = (can_start_threads.can_start_threads(), can_start_threads.can_start_processes())

        assert (False, False) == found
        assert not can_start_threads.start_thread(threading.Thread())

    def test_here_both_can_be_started(self) -> None:
        """In an ordinary Python both trials succeed."""
        assert can_start_threads.can_start_threads() and can_start_threads.can_start_processes()

    @pytest.mark.usefixtures("nothing_starts")
    def test_an_error_of_the_block_is_its_own(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A block with a time limit runs, its error is not hidden, and the missing limit is named once."""
        with pytest.raises(ZeroDivisionError), time_limit.interrupt_after(1):
            _ = 1 / 0
        with time_limit.interrupt_after(1):
            pass

        assert 1 == capsys.readouterr().out.count(NO_LIMIT)

    def test_threads_run_out(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        """A thread that cannot be started after others could is named in the same way, and hides no error."""
        asked_anew()
        assert can_start_threads.can_start_threads()
        monkeypatch.setattr(can_start_threads, "_starts", lambda _: False)
        with pytest.raises(ZeroDivisionError), time_limit.interrupt_after(1):
            _ = 1 / 0

        assert 1 == capsys.readouterr().out.count(NO_LIMIT)

    @pytest.mark.usefixtures("nothing_starts")
    @pytest.mark.parametrize(
        ("error", "becomes"), [(ValueError, AnswerRunError), (SystemExit, AnswerRunError), (KeyboardInterrupt,) * 2]
    )
    def test_an_answer_of_another_notebook(self, error: type[BaseException], becomes: type[BaseException]) -> None:
        """An answer runs without a thread; its errors become a reason, and the reader's interrupt stays one."""

        def fails() -> dict[str, Any]:
            raise error

        assert {"x": 1} == _run_within(1, lambda: {"x": 1})
        with pytest.raises(becomes):
            _run_within(1, fails)

    @pytest.mark.usefixtures("nothing_starts", "in_the_sample")
    def test_hunt_and_mend(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A bug hunt is shown, and the program judged as it is and mended; the missing limit is named once."""
        mistake, *others = (
            each.tag for each in sample_course.COURSE.keys(sample_course.STEM)["flatten_images"].mistakes
        )
        right, wrong = (text.replace("flatten_images", "their_flatten_images") for text in (RIGHT, WRONG_ORDER))
        program = BugHunt("flatten_images", mistake, wrong, "change", 3, (2,))
        hunts = {"flatten_images": ExerciseHunts("", {mistake: tuple(others)}, (program,))}
        monkeypatch.setattr(bug_hunt_quiz, "read_hunts", lambda folder, stem: hunts)
        monkeypatch.setattr(bug_hunt_quiz, "display", print)
        Folder(monkeypatch, tmp_path).passed("flatten_images")
        quiz = hunt()
        assert quiz is not None and "line 3: " in quiz.picture
        for text in (wrong, right):
            names: dict[str, Any] = {}
            exec(text, names)
            mend(names["their_flatten_images"])

        told = capsys.readouterr().out
        assert "checks passed" in told and "Mended." in told and 1 == told.count(NO_LIMIT)

    @pytest.mark.usefixtures("nothing_starts", "in_the_sample")
    def test_visible_cases_never_stand_for_fresh_ones_in_grading(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where nbgrader runs the notebook, a check of fresh cases without processes is an error."""
        monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
        names: dict[str, Any] = {}
        exec(f"import torch\n{RIGHT}", names)
        with pytest.raises(WorkFailed, match="this Python can start none"):
            check("flatten_images", names["flatten_images"], fresh=True)


STARTS = {"_thread", "asyncio", "concurrent", "multiprocessing", "subprocess"}  # modules that start threads, processes
ASKS = "autograder.can_start_threads"


def starts_something(path: Path) -> bool:
    """Return whether a module imports what starts processes, or names what starts threads or forks."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    return any(STARTS & {part.split(".")[0] for part in imported(node)} for node in nodes) or any(
        isinstance(node, ast.Attribute) and node.attr in ("Thread", "Timer", "fork", "posix_spawn", "system")
        for node in nodes
    )


def imported(node: ast.AST) -> list[str]:
    """Return the modules that a statement imports; of `threading`, what it takes from there."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module == "threading":
        return ["_thread" for alias in node.names if alias.name in ("Thread", "Timer")]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def test_nothing_in_notebooks_starts_anything_unasked() -> None:
    """In the room of notebooks and the explorers, whatever starts a thread or a process asks the one place."""
    paths = [path for room in ("autograder/notebook", "explorers") for path in (PROJECT / room).rglob("*.py")]
    starting = {path.name for path in paths if starts_something(path)}

    assert {
        "fresh_case_check.py",
        "run_answer_of_other_notebook.py",
        "slow_check_notice.py",
        "time_limit.py",
    } <= starting
    assert not [path.name for path in paths if path.name in starting and ASKS not in path.read_text(encoding="utf-8")]
