"""Every chapter that uses `mine` runs from top to bottom: nothing solved, everything solved, each answer alone.

By day those cells run that `mine` touches; `THOROUGH=1` runs the whole chapters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from autograder.notebook import checked, logbook
from autograder.reuse import beside
from autograder.reuse import mine as choosing
from tests.asked import THOROUGH
from tests.mine_in_chapters import Cell, Chapter, chapter, lay_beside, using
from tests.our_course import COURSE

STUB = "raise NotImplementedError()"
FLATTEN = "def flatten_images(x):\n    {}"
SETUP = Cell(*["import torch\nfrom autograder import check, mine"] * 2, is_setup=True)
ANSWER = "n, c = x.shape[:2]\n    return x.reshape(n, c, -1).transpose(1, 2)"
USED = "flat = flatten(torch.zeros(2, 3, 4, 5))\nassert flat.shape == (2, 20, 3)"
TAKEN = 'flatten = mine("flatten_images", lambda x: x.flatten(2).mT)'


def made(stem: str, *lesson: str, own: bool) -> Chapter:
    """A small chapter of our course, with an exercise of its own or without."""
    exercise = Cell(FLATTEN.format(STUB), FLATTEN.format(ANSWER), exercise="flatten_images")
    check = Cell(*['check("flatten_images", flatten_images)'] * 2, checks="flatten_images")
    return Chapter(stem, (SETUP, *((exercise, check) if own else ()), *(Cell(text, text) for text in lesson)))


FIRST = made("ch01_tensors", TAKEN, USED, "raise ValueError('no cell that is touched')", own=True)
SECOND = made("ch02_autograd", f"{TAKEN}\n{USED}", own=False)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A kernel in an empty folder."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    for variable in ("NBGRADER_EXECUTION", logbook.OFF):
        monkeypatch.delenv(variable, raising=False)
    for known in (checked.CHECKED, choosing._told, beside._given):
        known.clear()  # type: ignore[attr-defined]
    InteractiveShell.clear_instance()
    shell: Any = InteractiveShell.instance()
    shell.kernel, shell.starting_dir = object(), str(tmp_path)
    yield shell
    InteractiveShell.clear_instance()
    checked.CHECKED.clear()


def told(
    shell: Any, capsys: pytest.CaptureFixture[str], shown: Chapter, others: Collection[Chapter], solved: Collection[str]
) -> dict[str, bool]:
    """Run a chapter beside others; returns of each answer that it takes whether it was the reader's."""
    lay_beside(Path(shell.starting_dir), others, COURSE.listed, solved)
    cells = shown.cells if THOROUGH and shown not in (FIRST, SECOND) else shown.touched
    for text in shown.texts(cells, solved):
        shell.run_cell(text, store_history=True).raise_error()
    lines = capsys.readouterr().out.splitlines()
    yours = {name for name in shown.taken if f"with your `{name}`" in lines}
    assert all(name in yours or f"with the lesson's `{name}`, until yours passes" in lines for name in shown.taken)
    return {name: name in yours for name in shown.taken}


@pytest.mark.parametrize("shown", [FIRST, SECOND], ids=["its own", "an earlier one's"])
@pytest.mark.parametrize("solved", [(), ("flatten_images",)], ids=["open", "solved"])
def test_small_chapter(shell: Any, capsys: pytest.CaptureFixture[str], shown: Chapter, solved: tuple[str, ...]) -> None:
    """With the real check, and with progress as it is kept."""
    others = [FIRST] if shown is SECOND else []

    assert told(shell, capsys, shown, others, solved) == {"flatten_images": bool(solved)}


def test_lesson_that_suits_one_version_only_is_seen(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Where only the plain version gives what the lesson goes on with, the solved chapter stops."""
    only_plain = made("ch01_tensors", 'pair = mine("flatten_images", lambda x: (x, x))', "a, b = pair(3)", own=True)
    told(shell, capsys, only_plain, (), ())

    with pytest.raises(AttributeError):
        told(shell, capsys, only_plain, (), ("flatten_images",))


def forms() -> list[tuple[str, str]]:
    """Each chapter that uses `mine`, with nothing solved, with everything, and with each answer that it uses alone."""
    return [(stem, form) for stem in using() for form in ("nothing", "everything", *chapter(stem).taken)]


@pytest.mark.parametrize(("stem", "form"), forms())
def test_our_chapters(shell: Any, capsys: pytest.CaptureFixture[str], stem: str, form: str) -> None:
    """Whatever the reader has solved, the lessons go on."""
    exercises = {name for each in COURSE.listed for name in each.exercises}
    solved = {"nothing": set(), "everything": exercises}.get(form, {form})
    others = [chapter(each.stem) for each in COURSE.listed if each.stem < stem]

    assert told(shell, capsys, chapter(stem), others, solved) == {name: name in solved for name in chapter(stem).taken}
