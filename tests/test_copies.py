"""A reader's own copies of the notebooks: what one wrote is never lost, and what is newer arrives."""

import json
from pathlib import Path

import pytest

from autograder.workspace.working_copies import FOLDER, Copies, UpdateResult


def notebook(*cells: str, ran: int = 0) -> bytes:
    """A notebook's file; `ran` stands for outputs and counts, which are nobody's words."""
    told = [{"cell_type": "code", "source": [text], "outputs": [], "execution_count": ran} for text in cells]
    return json.dumps({"cells": told}).encode()


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A project with two notebooks."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "a.ipynb").write_bytes(notebook("1", "2"))
    (tmp_path / "notebooks" / "b.ipynb").write_bytes(notebook("3"))
    return tmp_path


def copies(course: Path) -> Copies:
    """As the command makes them, each time anew."""
    return Copies(course / "notebooks", course / FOLDER)


def change(course: Path, *cells: str) -> bytes:
    """A newer notebook a."""
    (course / "notebooks" / "a.ipynb").write_bytes(notebook(*cells))
    return notebook(*cells)


def write(course: Path, *cells: str, name: str = "a.ipynb") -> bytes:
    """What the reader saves."""
    (course / FOLDER / name).write_bytes(notebook(*cells, ran=1))
    return notebook(*cells, ran=1)


def text(course: Path, name: str = "a.ipynb") -> bytes:
    """What a copy holds."""
    return (course / FOLDER / name).read_bytes()


def test_copies_are_made_once(course: Path) -> None:
    """The second time there is nothing to do."""
    assert UpdateResult(("a.ipynb", "b.ipynb"), (), ()) == copies(course).renew()
    assert notebook("1", "2") == text(course)
    assert UpdateResult((), (), ()) == copies(course).renew()


def test_what_was_written_stays(course: Path) -> None:
    """Whether the course changes or not; the newer notebook lies beside it."""
    copies(course).renew()
    mine = write(course, "1", "my answer")
    assert UpdateResult((), (), ()) == copies(course).renew()
    new = change(course, "1", "2", "more")

    assert UpdateResult((), (), (("a.ipynb", "a-new.ipynb"),)) == copies(course).renew()
    assert mine == text(course) and new == text(course, "a-new.ipynb")
    assert UpdateResult((), (), ()) == copies(course).renew()


def test_a_copy_that_was_only_run_is_brought_up_to_date(course: Path) -> None:
    """Outputs are no work of the reader's."""
    copies(course).renew()
    write(course, "1", "2")
    new = change(course, "1", "2", "more")

    assert UpdateResult((), ("a.ipynb",), ()) == copies(course).renew()
    assert new == text(course)


def test_the_newer_one_is_work_as_well(course: Path) -> None:
    """A third notebook is laid beside a second that was begun, and takes the place of one that was not."""
    copies(course).renew()
    mine = write(course, "mine")
    change(course, "newer")
    copies(course).renew()
    change(course, "newer still")
    assert (("a.ipynb", "a-new.ipynb"),) == copies(course).renew().beside

    second = write(course, "mine again", name="a-new.ipynb")
    newest = change(course, "newest")
    assert (("a.ipynb", "a-new2.ipynb"),) == copies(course).renew().beside
    assert [mine, second, newest] == [text(course, f"a{each}.ipynb") for each in ("", "-new", "-new2")]


@pytest.mark.parametrize("noted", [None, b"", b"[]", b'{"begun": 1}'], ids=["gone", "empty", "list", "number"])
def test_without_its_notes_nothing_is_overwritten(course: Path, noted: bytes | None) -> None:
    """What a copy was made from is not known then; what is there counts as the reader's."""
    copies(course).renew()
    place = course / FOLDER / ".made-from.json"
    place.unlink() if noted is None else place.write_bytes(noted)
    mine = write(course, "mine")
    change(course, "newer")

    copies(course).renew()
    assert mine == text(course)


def test_a_damaged_copy_is_left_alone(course: Path) -> None:
    """Half a file may be all that is left of an evening."""
    copies(course).renew()
    (course / FOLDER / "a.ipynb").write_bytes(b'{"cells": [')
    change(course, "newer")

    assert (("a.ipynb", "a-new.ipynb"),) == copies(course).renew().beside
    assert b'{"cells": [' == text(course)


def test_the_one_to_open(course: Path) -> None:
    """The first one; later the one that was saved last."""
    copies(course).renew()
    assert "a.ipynb" == copies(course).latest()
    write(course, "mine", name="b.ipynb")
    assert "b.ipynb" == copies(course).latest()


def test_no_notebooks(tmp_path: Path) -> None:
    """Then there is none to open."""
    made = copies(tmp_path)

    assert UpdateResult((), (), ()) == made.renew() and "" == made.latest()


def test_what_is_told() -> None:
    """One line for each thing that changed."""
    told = list(UpdateResult(("a", "b"), ("c",), (("d", "d-new"),)).lines())

    assert "New in work/, yours to write in: a, b." == told[0]
    assert (
        "c" in told[1]
        and "d has changed in the course. Yours is as it was; the new one is beside it: d-new." == told[2]
    )
