"""Copying a folder that its owner may change meanwhile: what was a file may be a link when it is opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

Ignored = Callable[[str, list[str]], set[str]]
_CHUNK = 2**20


def copy_plain(source: Path, target: Path, ignored: Ignored) -> None:
    """Copy plain files, folders and links as such; pipes, devices and what `ignored` names stay out.

    Folders and files are opened without following a link, and looked at when they are open; of a file so much is
    copied as it had then. A file that is another user's, linked here, stays out: that user's rights are not those of
    this folder's owner. Raises OSError.
    """
    owner = source.lstat().st_uid
    for place, folders, files, at in os.fwalk(source, follow_symlinks=False):
        there = target / os.path.relpath(place, source)
        there.mkdir(parents=True)
        left_out = ignored(place, [*folders, *files])
        folders[:] = [name for name in folders if name not in left_out]
        for name in [*folders, *files]:
            if name not in left_out:
                _copy_entry(name, at, there / name, owner)


def _copy_entry(name: str, at: int, target: Path, owner: int) -> None:
    try:
        mode = os.stat(name, dir_fd=at, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            os.symlink(os.readlink(name, dir_fd=at), target)
        elif stat.S_ISREG(mode):
            _copy_file(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at), target, owner)
    except FileNotFoundError:  # taken away meanwhile
        return


def _copy_file(opened: int, target: Path, owner: int) -> None:
    with open(opened, "rb") as source:
        about = os.fstat(opened)
        is_anothers = about.st_nlink > 1 and about.st_uid != owner
        if not stat.S_ISREG(about.st_mode) or is_anothers:
            return
        with target.open("xb") as file:
            left = about.st_size
            while left > 0 and (part := source.read(min(left, _CHUNK))):
                file.write(part)
                left -= len(part)
    os.utime(target, ns=(about.st_atime_ns, about.st_mtime_ns))
    target.chmod(stat.S_IMODE(about.st_mode) & 0o777)
