"""What `check` says of an answer in a notebook, grading says of it in the file: of every answer of the bank.

Each answer's cell runs as a student runs it, then its check. Grading reads the same answer from a notebook's file. Both
judge on the visible cases what was seen of it here; that the key which is shipped to notebooks tells every answer the
same as the judge's own belongs to the proof of an exercise.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
from ipykernel.compiler import XCachingCompiler
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from autograder.example.made_students import ClassMaker
from autograder.grading.plan import Task, plan
from autograder.judging.judgement import judge
from autograder.notebook import checked, logbook
from autograder.reading.reader import read
from autograder.running.program import Ground
from autograder.telling.feedback import Feedback
from autograder.watching.exercise import Case, Exercise
from autograder.watching.observation import Observation
from tests.made_reader import new_kernel
from tests.our_course import COURSE
from tests.small_chapter import PROJECT
from tests.test_bank import judge_of

EXERCISES = [
    pytest.param(each.stem, name, marks=pytest.mark.xdist_group(f"answers of {each.stem}"))
    for each in COURSE.listed
    for name in each.exercises
]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A kernel's shell in an empty folder, which keeps the text of cells as ipykernel does."""
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setenv(logbook.OFF, "off")
    made = new_kernel(tmp_path)
    made.compile = XCachingCompiler()
    yield made
    InteractiveShell.clear_instance()
    checked.CHECKED.clear()


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Observation]:
    """What is observed of answers, written down on its way to whoever asks."""
    noted: list[Observation] = []
    observe = Exercise.observe

    def observed(self: Exercise, answer: Any, cases: Sequence[Case]) -> tuple[Observation, ...]:
        noted.extend(found := observe(self, answer, cases))
        return found

    monkeypatch.setattr(Exercise, "observe", observed)
    return noted


@cache
def graded(stem: str) -> dict[str, dict[str, str]]:
    """The answers to each exercise, bank, solution and starter, with the text that grading reads of each in a file."""
    known, release = judge_of(stem), nbformat.read(PROJECT / "notebooks" / f"{stem}.ipynb", as_version=4)
    tasks = [Task(name, (), 1.0) for name in known.names]
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for student in ClassMaker(known, release).students(mishaps=False, repeats=False):
        submission = read(student.data, release)
        sources = plan(submission.parts, tasks, Ground("", (stem,), known.chapter.prelude)).sources
        for name in known.names:
            found[name][submission.answers[name]] = sources[name]
    return found


def told(shell: Any, name: str) -> str:
    """What `check` shows of an answer that the shell has."""
    with capture_output() as shown:
        shell.run_cell(f'check("{name}", {name})', store_history=True).raise_error()
    return str(shown.outputs[0].data["text/plain"])


@pytest.mark.filterwarnings("ignore")  # a warning in an answer is the student's to read
@pytest.mark.parametrize(("stem", "exercise"), EXERCISES)
def test_check_says_what_grading_says(shell: Any, seen: list[Observation], stem: str, exercise: str) -> None:
    """Verdicts, sentences, calls, and what was expected and found are the same to the letter."""
    shell.run_cell(judge_of(stem).chapter.prelude, store_history=True).raise_error()
    shell.user_ns["torch"].set_num_threads(1)
    asked, key = COURSE.find(exercise), COURSE.keys(stem)[exercise]
    known = [answer.source.strip() for answer in judge_of(stem).banks[exercise]]

    assert set(known) <= {cell.strip() for cell in graded(stem)[exercise]}
    for cell, text in graded(stem)[exercise].items():
        shell.run_cell(cell, store_history=True).raise_error()
        seen.clear()
        shown = told(shell, exercise)
        assert repr(Feedback(judge(asked, key, seen, text), asked.hints)) == shown, cell
