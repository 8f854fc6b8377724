"""Copy a folder safely while its owner may change it, for instance replace a file by a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

Ignored = Callable[[str, list[str]], set[str]]
_CHUNK = 2**20


def copy_untrusted_folder(source: Path, target: Path, ignored: Ignored) -> None:
    """Copy plain files, folders and links (as links); skip pipes, devices and the names that `ignored` returns.

    Files are opened without following links and examined only when they are open; at most the size that a file had
    then is copied. A hard link to another user's file is skipped, since the folder's owner may have no right to read
    that file. Raises OSError.
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
    except FileNotFoundError:  # removed in the meantime
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
