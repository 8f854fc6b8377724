"""`about` and the line in which `check` offers it, in a notebook's shell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from autograder import about, check
from autograder.errors import UnknownExercise
from autograder.notebook.last_checked_answer import LAST_CHECKS
from explorers.quiz_widget import Quiz
from tests.made_reader import new_kernel

pytestmark = pytest.mark.usefixtures("in_the_sample")

NAME = "flatten_images"
RIGHT = """\
def flatten_images(x):
    n, c = x.shape[:2]
    rows = x.reshape(n, c, -1)
    return rows.transpose(1, 2)
"""
PASS = f'check("{NAME}", {NAME})'
OFFER = "For questions about your code, run"


class Notebook:
    """A notebook's shell, and what its cells print."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.shell, self._capsys = new_kernel(folder), capsys
        self.run("import torch")
        self.shell.user_ns.update(check=check, about=about)

    def run(self, *cells: str) -> str:
        """Run cells, and return what they print, in one line."""
        for cell in cells:
            self.shell.run_cell(cell, store_history=True).raise_error()
        return " ".join(self._capsys.readouterr().out.split())

    def asked(self, name: str = NAME) -> Any:
        """Return what `about` returns."""
        self.run(f"asked = about({name!r})")
        return self.shell.user_ns["asked"]


@pytest.fixture
def notebook(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Notebook]:
    """A notebook in an empty folder."""
    yield Notebook(tmp_path, capsys)
    InteractiveShell.clear_instance()
    LAST_CHECKS.clear()


def test_a_pass_offers_questions_in_one_line(notebook: Notebook) -> None:
    """After a pass one line says how to be asked, with the import if it is needed; after a failed check none does."""
    assert OFFER not in notebook.run(RIGHT.replace("transpose(1, 2)", "clone()"), PASS)
    assert notebook.run(RIGHT, PASS).count(f'{OFFER} about("{NAME}") in a new cell.') == 1
    del notebook.shell.user_ns["about"]
    assert f'{OFFER} from autograder import about; about("{NAME}") in a new cell.' in notebook.run(PASS)


def test_questions_show_the_readers_text(notebook: Notebook) -> None:
    """The questions are about the text of the cell, come anew at each call, and are answered like every quiz."""
    notebook.run(RIGHT, PASS)
    quizzes = [notebook.asked() for _ in range(4)]
    assert all(isinstance(each, Quiz) and "x.reshape(n, c, -1)" in each.picture for each in quizzes)
    assert len({each.tell() for each in quizzes}) > 1 and "def flatten_images" in str(quizzes[0].at_rest())
    for _ in range(3):
        quizzes[0].answer("a")

    assert len(quizzes[0].answers) == 3 and "Running it" in quizzes[0].tell()


def test_helpers_and_other_names(notebook: Notebook) -> None:
    """An answer of another name, with a function of another cell in it and a global, is asked about too."""
    helper = "AXES = (1, 2)\ndef turned(rows):\n    return rows.transpose(*AXES)"
    text = RIGHT.replace(f"def {NAME}", "def mine").replace("rows.transpose(1, 2)", "turned(rows)")
    notebook.run(helper, text, f'check("{NAME}", mine)')
    quiz = notebook.asked()

    assert isinstance(quiz, Quiz) and "def turned" in quiz.tell() and "<code>mine</code>" in quiz.at_rest()


def test_before_a_pass(notebook: Notebook) -> None:
    """Nobody is asked about an answer that has not passed in this kernel."""
    assert "`check` of `flatten_images` first" in notebook.run(f"about({NAME!r})")
    notebook.run(RIGHT.replace("transpose(1, 2)", "clone()"), PASS)

    assert "Questions are about an answer that passes" in notebook.run(f"about({NAME!r})")
    with pytest.raises(UnknownExercise, match="Did you mean 'flatten_images'"):
        about("flaten_images")


def test_no_readable_text(notebook: Notebook) -> None:
    """Code from exec and a lambda in a list pass without an offer, and `about` says why there is no question."""
    for cell in (f"exec({RIGHT!r})", f"{NAME} = [lambda x: x.reshape(*x.shape[:2], -1).transpose(1, 2)][0]"):
        told = notebook.run(cell, PASS)
        assert "checks passed" in told and OFFER not in told
        assert f"No questions about your `{NAME}`: its text is not to be found" in notebook.run(f"about({NAME!r})")


def test_without_threads(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no thread can be started the questions come all the same."""
    monkeypatch.setattr("autograder.notebook.time_limit.can_start_threads", lambda: False)
    notebook.run(RIGHT, PASS)

    assert isinstance(notebook.asked(), Quiz)


def test_a_program_that_prints_and_shows_is_quiet(notebook: Notebook) -> None:
    """What the program prints and displays while questions are made is not shown."""
    noisy = RIGHT.replace("    rows", "    print('seen')\n    display('shown')\n    rows")
    notebook.run("from IPython.display import display", noisy, PASS)
    told = notebook.run(f"asked = about({NAME!r})")

    assert "seen" not in told and "shown" not in told
