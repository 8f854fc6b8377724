"""Chapters that use `mine` run with nothing solved, everything solved, and each answer alone.

By day those cells run that `mine` touches, and of one answer alone those that it touches. Where nothing is solved, only
the cells that take an answer: the notebooks that are handed out run as a whole beside (`make nbval`), and nobody has
solved anything there. A chapter that can be short is short. `NIGHT=1` runs all cells, as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from matplotlib import pyplot as plt

from autograder.notebook import last_checked_answer, progress_log
from tests.asked import NIGHT
from tests.made_reader import new_kernel
from tests.mine_in_chapters import Cell, Chapter, chapter, lay_beside, using
from tests.our_course import COURSE

pytestmark = pytest.mark.night

STUB = "raise NotImplementedError()"
FLATTEN = "def flatten_images(x):\n    {}"
SETUP = Cell(*["import torch\nfrom autograder import check, mine"] * 2, is_setup=True)
ANSWER = "n, c = x.shape[:2]\n    return x.reshape(n, c, -1).transpose(1, 2)"
USED = "flat = flatten(torch.zeros(2, 3, 4, 5))\nassert flat.shape == (2, 20, 3)"
TAKEN = 'flatten = mine("flatten_images", lambda x: x.flatten(2).mT)'


def made(stem: str, *lesson: str, own: bool) -> Chapter:
    """Return a small chapter of our course, with or without its own exercise."""
    exercise = Cell(FLATTEN.format(STUB), FLATTEN.format(ANSWER), exercise="flatten_images")
    check = Cell(*['check("flatten_images", flatten_images)'] * 2, checks="flatten_images")
    return Chapter(stem, (SETUP, *((exercise, check) if own else ()), *(Cell(text, text) for text in lesson)))


FIRST = made("ch01a_tensors", TAKEN, USED, "raise ValueError('no cell that is touched')", own=True)
SECOND = made("ch02a_gradients", f"{TAKEN}\n{USED}", own=False)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield a shell like a kernel in an empty folder."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    for variable in ("NBGRADER_EXECUTION", progress_log.PROGRESS_VARIABLE):
        monkeypatch.delenv(variable, raising=False)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # a second thread makes such small models slower
    yield new_kernel(tmp_path)
    torch.set_num_threads(threads)
    InteractiveShell.clear_instance()
    last_checked_answer.LAST_CHECKS.clear()
    plt.close("all")  # as a notebook does after each cell


def told(
    shell: Any, capsys: pytest.CaptureFixture[str], shown: Chapter, others: Collection[Chapter], solved: Collection[str]
) -> dict[str, bool]:
    """Run a chapter beside others, and return for each answer that it takes whether the reader's version was used."""
    lay_beside(Path(shell.starting_dir), others, COURSE.listed, solved)
    shell.user_ns["__vsc_ipynb_file__"] = f"{shell.starting_dir}/{shown.stem}.ipynb"  # as one editor sets it
    alone = [name for name in shown.taken if list(solved) == [name]] or shown.taken
    is_ours = shown not in (FIRST, SECOND)
    cells = shown.cells if NIGHT and is_ours else shown.touched(alone, used=bool(solved) or not is_ours)
    for text in shown.texts(cells, solved, short=not NIGHT):
        shell.run_cell(text, store_history=True).raise_error()
    lines = capsys.readouterr().out.splitlines()
    taken = list(dict.fromkeys(name for cell in cells for name in cell.taken))
    yours = {name for name in taken if any(line.endswith(f" is your `{name}`") for line in lines)}
    ending = ", until yours passes"
    until = {name for name in taken if any(line.endswith(f" is the lesson's `{name}`{ending}") for line in lines)}
    assert set(taken) == yours | until
    return {name: name in yours for name in taken}


@pytest.mark.parametrize("shown", [FIRST, SECOND], ids=["its own", "an earlier one's"])
@pytest.mark.parametrize("solved", [(), ("flatten_images",)], ids=["open", "solved"])
def test_small_chapter(shell: Any, capsys: pytest.CaptureFixture[str], shown: Chapter, solved: tuple[str, ...]) -> None:
    """The reader's version is used exactly if it was solved, with real checks and progress."""
    others = [FIRST] if shown is SECOND else []

    assert told(shell, capsys, shown, others, solved) == {"flatten_images": bool(solved)}


def test_lesson_that_suits_one_version_only_is_seen(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A lesson that works only with the plain version raises an error when solved."""
    only_plain = made("ch01a_tensors", 'pair = mine("flatten_images", lambda x: (x, x))', "a, b = pair(3)", own=True)
    told(shell, capsys, only_plain, (), ())

    with pytest.raises(AttributeError):
        told(shell, capsys, only_plain, (), ("flatten_images",))


def forms() -> list[tuple[str, str]]:
    """Return each chapter that uses `mine`, with nothing, everything, and each single answer solved."""
    return [(stem, form) for stem in using() for form in ("nothing", "everything", *chapter(stem).taken)]


@pytest.mark.parametrize(("stem", "form"), forms())
def test_our_chapters(shell: Any, capsys: pytest.CaptureFixture[str], stem: str, form: str) -> None:
    """Each chapter runs with any of its answers solved."""
    exercises = {name for each in COURSE.listed for name in each.exercises}
    solved = {"nothing": set(), "everything": exercises}.get(form, {form})
    others = [chapter(each.stem) for each in COURSE.listed if each.stem < stem]

    found = told(shell, capsys, chapter(stem), others, solved)

    assert found == {name: name in solved for name in found} and set(found) >= solved.intersection(chapter(stem).taken)
