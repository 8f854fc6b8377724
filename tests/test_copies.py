"""A reader's copies of the notebooks: their work is never lost, and newer notebooks arrive."""

import json
import os
from pathlib import Path

import pytest

from autograder.workspace.working_copies import WORK_FOLDER, UpdateResult, WorkingCopies


def notebook(*cells: str, ran: int = 0) -> bytes:
    """Return a notebook's bytes; `ran` is an execution count, which is no work of the reader's."""
    told = [{"cell_type": "code", "source": [text], "outputs": [], "execution_count": ran} for text in cells]
    return json.dumps({"cells": told}).encode()


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Return a project with two notebooks."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "a.ipynb").write_bytes(notebook("1", "2"))
    (tmp_path / "notebooks" / "b.ipynb").write_bytes(notebook("3"))
    return tmp_path


def copies(course: Path) -> WorkingCopies:
    """Return the copies, as the command makes them."""
    return WorkingCopies(course / "notebooks", course / WORK_FOLDER)


def change(course: Path, *cells: str) -> bytes:
    """Change notebook a in the course, and return its bytes."""
    (course / "notebooks" / "a.ipynb").write_bytes(notebook(*cells))
    return notebook(*cells)


def write(course: Path, *cells: str, name: str = "a.ipynb") -> bytes:
    """Save these cells as the reader would, and return the bytes."""
    (course / WORK_FOLDER / name).write_bytes(notebook(*cells, ran=1))
    return notebook(*cells, ran=1)


def text(course: Path, name: str = "a.ipynb") -> bytes:
    """Return the bytes of a copy."""
    return (course / WORK_FOLDER / name).read_bytes()


def test_copies_are_made_once(course: Path) -> None:
    """A second run changes nothing."""
    assert UpdateResult(("a.ipynb", "b.ipynb"), (), ()) == copies(course).update_copies()
    assert notebook("1", "2") == text(course)
    assert UpdateResult((), (), ()) == copies(course).update_copies()


def test_what_was_written_stays(course: Path) -> None:
    """A changed copy is never overwritten, and a newer notebook is put beside it."""
    copies(course).update_copies()
    mine = write(course, "1", "my answer")
    assert UpdateResult((), (), ()) == copies(course).update_copies()
    new = change(course, "1", "2", "more")

    assert UpdateResult((), (), (("a.ipynb", "a-new.ipynb"),)) == copies(course).update_copies()
    assert mine == text(course) and new == text(course, "a-new.ipynb")
    assert UpdateResult((), (), ()) == copies(course).update_copies()


def test_a_copy_that_was_only_run_is_brought_up_to_date(course: Path) -> None:
    """A copy that differs only in outputs is replaced by the newer notebook."""
    copies(course).update_copies()
    write(course, "1", "2")
    new = change(course, "1", "2", "more")

    assert UpdateResult((), ("a.ipynb",), ()) == copies(course).update_copies()
    assert new == text(course)


def test_the_newer_one_is_work_as_well(course: Path) -> None:
    """A newest notebook replaces an unchanged second copy, and is put beside one with work."""
    copies(course).update_copies()
    mine = write(course, "mine")
    change(course, "newer")
    copies(course).update_copies()
    change(course, "newer still")
    assert (("a.ipynb", "a-new.ipynb"),) == copies(course).update_copies().beside

    second = write(course, "mine again", name="a-new.ipynb")
    newest = change(course, "newest")
    assert (("a.ipynb", "a-new2.ipynb"),) == copies(course).update_copies().beside
    assert [mine, second, newest] == [text(course, f"a{each}.ipynb") for each in ("", "-new", "-new2")]


@pytest.mark.parametrize("noted", [None, b"", b"[]", b'{"begun": 1}'], ids=["gone", "empty", "list", "number"])
def test_without_its_notes_nothing_is_overwritten(course: Path, noted: bytes | None) -> None:
    """Without valid notes on their origin, all copies count as the reader's work."""
    copies(course).update_copies()
    place = course / WORK_FOLDER / ".made-from.json"
    place.unlink() if noted is None else place.write_bytes(noted)
    mine = write(course, "mine")
    change(course, "newer")

    copies(course).update_copies()
    assert mine == text(course)


def test_a_damaged_copy_is_left_alone(course: Path) -> None:
    """A damaged copy is not overwritten."""
    copies(course).update_copies()
    (course / WORK_FOLDER / "a.ipynb").write_bytes(b'{"cells": [')
    change(course, "newer")

    assert (("a.ipynb", "a-new.ipynb"),) == copies(course).update_copies().beside
    assert b'{"cells": [' == text(course)


def test_the_one_to_open(course: Path) -> None:
    """The notebook to open is the first one, or the one that was saved last."""
    copies(course).update_copies()
    assert "a.ipynb" == copies(course).notebook_to_open()
    write(course, "mine", name="b.ipynb")
    assert "b.ipynb" == copies(course).notebook_to_open()


def test_a_notebook_that_the_course_no_longer_has_stays(course: Path) -> None:
    """A copy of an earlier version's notebook, and a newer one beside it, stay and are named, and are not opened."""
    copies(course).update_copies()
    mine = write(course, "mine")
    change(course, "newer")
    copies(course).update_copies()
    (course / "notebooks" / "a.ipynb").unlink()
    (course / WORK_FOLDER / "own.ipynb").write_bytes(notebook("the reader's own"))
    os.utime(course / WORK_FOLDER / "own.ipynb", (0, 0))

    assert UpdateResult((), (), (), ("a-new.ipynb", "a.ipynb")) == copies(course).update_copies()
    assert mine == text(course) and "own.ipynb" == copies(course).notebook_to_open()
    (told,) = UpdateResult((), (), (), ("a.ipynb",)).lines()
    assert told == "Of an earlier version of the course, as you left them: a.ipynb. Go on in the others."


def test_no_notebooks(tmp_path: Path) -> None:
    """Without notebooks there is nothing to copy or open."""
    made = copies(tmp_path)

    assert UpdateResult((), (), ()) == made.update_copies() and "" == made.notebook_to_open()


def test_what_is_told() -> None:
    """The summary has one line for each kind of change."""
    told = list(UpdateResult(("a", "b"), ("c",), (("d", "d-new"),)).lines())

    assert "New in work/, yours to write in: a, b." == told[0]
    assert (
        "c" in told[1]
        and "d has changed in the course. Yours is as it was; the new one is beside it: d-new." == told[2]
    )
