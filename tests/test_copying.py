"""Collecting from folders that their owners can change meanwhile: nothing unchecked is read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.nbgrader_plugin.copy_untrusted_folder import copy_untrusted_folder

SECRET = "what only the teacher may read"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Return a folder of the teacher's with a secret file."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text(SECRET)
    return tmp_path / "outside"


def handed_in(tmp_path: Path) -> Path:
    """Return a student's folder with a file, and a folder with another."""
    (tmp_path / "in" / "folder").mkdir(parents=True)
    (tmp_path / "in" / "file").write_text("mine")
    (tmp_path / "in" / "folder" / "file").write_text("mine")
    return tmp_path / "in"


def collected(source: Path, meanwhile: Callable[[], None] = lambda: None) -> dict[str, str]:
    """Return the copied texts, with `meanwhile` called between the check of the folder and the copying."""

    def ignored(place: str, _names: list[str]) -> set[str]:
        if Path(place) == source:
            meanwhile()
        return set()

    copy_untrusted_folder(source, source.parent / "out", ignored)
    plain = [path for path in (source.parent / "out").rglob("*") if path.is_file() and not path.is_symlink()]
    return {path.relative_to(source.parent / "out").as_posix(): path.read_text() for path in plain}


def test_files_and_folders_are_copied(tmp_path: Path) -> None:
    """Contents and times are copied, and permissions without special bits."""
    source = handed_in(tmp_path)
    os.utime(source / "file", (1, 1))
    (source / "file").chmod(0o4755)

    assert {"file": "mine", "folder/file": "mine"} == collected(source)
    assert (1.0, 0o755) == (
        (tmp_path / "out" / "file").stat().st_mtime,
        (tmp_path / "out" / "file").stat().st_mode & 0o7777,
    )


@pytest.mark.parametrize("name", ["file", "folder"])
def test_what_becomes_a_link_is_not_followed(tmp_path: Path, outside: Path, name: str) -> None:
    """A file or folder that is replaced by a link during copying is not followed."""
    source = handed_in(tmp_path)

    def swap() -> None:
        (source / name).rename(tmp_path / "aside")
        (source / name).symlink_to(outside / "file" if name == "file" else outside)

    assert SECRET not in collected(source, swap).values()


def test_what_grows_is_copied_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that grows during copying is copied with its first size, so that it cannot fill the disk."""
    source, fstat = handed_in(tmp_path), os.fstat

    def growing(opened: int) -> os.stat_result:
        found = fstat(opened)
        with (source / "file").open("a") as file:
            file.write("and more " * 1000)
        return found

    monkeypatch.setattr(os, "fstat", growing)

    assert "mine" == collected(source)["file"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_anothers_file_is_not_copied_through_a_second_name(tmp_path: Path, outside: Path) -> None:
    """A hard link to another user's file is not copied."""
    source = handed_in(tmp_path)
    os.link(outside / "file", source / "link")
    os.chown(source, 65534, 65534)

    assert "link" not in collected(source) and SECRET == (outside / "file").read_text()


def test_pipes_stay_out(tmp_path: Path) -> None:
    """Pipes are not copied, since reading them would never end."""
    source = handed_in(tmp_path)
    os.mkfifo(source / "pipe")

    assert ["file", "folder/file"] == sorted(collected(source))
