"""Files beside a notebook are available when it runs: plain files up to a size, and none from outside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.submission import read_data_files
from autograder.submission.submission import SubmittedFiles


@pytest.fixture
def handed_in(tmp_path: Path) -> Path:
    """Return a folder with a notebook and files beside it."""
    folder = tmp_path / "submitted" / "ada" / "hw"
    (folder / "sets").mkdir(parents=True)
    for name in ("hw.ipynb", "data.csv", "sets/a.txt", "helper.py", ".hidden", "timestamp.txt"):
        (folder / name).write_text(name)
    return folder


def test_data_comes_along_and_code_does_not(handed_in: Path) -> None:
    """Data files are read by path; notebooks, code and nbgrader's own files are not."""
    found = read_data_files.read_data_files(handed_in)

    assert {"data.csv": b"data.csv", "sets/a.txt": b"sets/a.txt"} == found.files and () == found.eye


def test_nothing_behind_a_link(handed_in: Path, tmp_path: Path) -> None:
    """Links and pipes are not read."""
    (tmp_path / "secret.txt").write_text("the exam")
    (handed_in / "sets" / "link.txt").symlink_to(tmp_path / "secret.txt")
    (handed_in / "out").symlink_to(tmp_path)
    os.mkfifo(handed_in / "pipe.csv")

    assert {"data.csv", "sets/a.txt"} == set(read_data_files.read_data_files(handed_in).files)


def test_what_is_too_large_is_told(handed_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files beyond the total size are left out and reported to the teacher."""
    monkeypatch.setattr(read_data_files, "MOST_BYTES", 30)
    (handed_in / "big.csv").write_bytes(b"1" * 31)

    found = read_data_files.read_data_files(handed_in)

    assert {"data.csv", "sets/a.txt"} == set(found.files) and "'big.csv'" in "".join(found.eye)


def test_another_file_is_another_submission() -> None:
    """A changed data file changes the digest of the submission."""
    parcels = [
        SubmittedFiles(b"a"),
        SubmittedFiles(b"a", files={"d.csv": b"1"}),
        SubmittedFiles(b"a", files={"d.csv": b"2"}),
    ]

    assert 3 == len({each.digest for each in parcels})
