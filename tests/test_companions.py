"""Files beside a notebook are there when it runs: plain ones, so many, and nothing that lies outside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.submission import data_files
from autograder.submission.submission import SubmittedFiles


@pytest.fixture
def handed_in(tmp_path: Path) -> Path:
    """A folder with a notebook and what students lay beside one."""
    folder = tmp_path / "submitted" / "ada" / "hw"
    (folder / "sets").mkdir(parents=True)
    for name in ("hw.ipynb", "data.csv", "sets/a.txt", "helper.py", ".hidden", "timestamp.txt"):
        (folder / name).write_text(name)
    return folder


def test_data_comes_along_and_code_does_not(handed_in: Path) -> None:
    """What a cell may open is there, by its place; notebooks, code and nbgrader's own files are not."""
    found = data_files.read_data_files(handed_in)

    assert {"data.csv": b"data.csv", "sets/a.txt": b"sets/a.txt"} == found.files and () == found.eye


def test_nothing_behind_a_link(handed_in: Path, tmp_path: Path) -> None:
    """A link to a file or a folder of the teacher's shows nothing of it; a pipe keeps nobody waiting."""
    (tmp_path / "secret.txt").write_text("the exam")
    (handed_in / "sets" / "link.txt").symlink_to(tmp_path / "secret.txt")
    (handed_in / "out").symlink_to(tmp_path)
    os.mkfifo(handed_in / "pipe.csv")

    assert {"data.csv", "sets/a.txt"} == set(data_files.read_data_files(handed_in).files)


def test_what_is_too_large_is_told(handed_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files have so much room together; a person reads which one was not there, and the others are."""
    monkeypatch.setattr(data_files, "MOST_BYTES", 30)
    (handed_in / "big.csv").write_bytes(b"1" * 31)

    found = data_files.read_data_files(handed_in)

    assert {"data.csv", "sets/a.txt"} == set(found.files) and "'big.csv'" in "".join(found.eye)


def test_another_file_is_another_submission() -> None:
    """A changed file beside the same notebook is graded again."""
    parcels = [
        SubmittedFiles(b"a"),
        SubmittedFiles(b"a", files={"d.csv": b"1"}),
        SubmittedFiles(b"a", files={"d.csv": b"2"}),
    ]

    assert 3 == len({each.digest for each in parcels})
