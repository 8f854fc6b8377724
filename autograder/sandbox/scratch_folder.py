"""A scratch folder on the disk: create it, measure what a process keeps in it, and remove it.

It replaces a size-limited file system on machines where the sandbox cannot mount one.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

_MOST_ENTRIES, _DEEPEST = 10_000, 40
_BLOCK = 512  # bytes, in st_blocks
_GONE = b" (deleted)"  # how the kernel marks a removed file


@dataclass(frozen=True)
class ScratchFolder:
    """A new folder that only this user can enter, and the megabytes that may be in it, and in each file.

    A removed file that a process has only mapped into memory counts as `file_mb` megabytes, since its size cannot
    be read.
    """

    most_mb: int
    file_mb: int
    path: str = field(default_factory=lambda: tempfile.mkdtemp(prefix="scratch-"))

    def is_full(self, process: int, user: int) -> bool:
        """Return whether a user's process keeps too much in the folder; removed files that it still uses count too.

        A folder that cannot be measured counts as full.
        """
        try:
            sizes = dict(_sizes(self.path))
            with _acting_as(user):  # root needs a capability to look at another user's process
                sizes.update(self._removed_in_use(process))
        except OSError:
            return True
        return len(sizes) > _MOST_ENTRIES or sum(sizes.values()) > self.most_mb << 20

    def _removed_in_use(self, process: int) -> Iterator[tuple[int, int]]:
        """Yield inode and size of each removed file that the process has open or mapped into its memory."""
        place, sizes = os.fsencode(self.path), dict[int, int]()
        for name in os.listdir(f"/proc/{process}/fd"):
            path = f"/proc/{process}/fd/{name}"
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                if os.fsencode(os.readlink(path)).startswith(place):
                    found = os.stat(path)
                    sizes[found.st_ino] = _size(found)
        with open(f"/proc/{process}/maps", "rb") as maps:
            for line in maps:
                if line.rstrip().endswith(_GONE) and place in line:
                    sizes.setdefault(int(line.split()[4]), self.file_mb << 20)
        yield from sizes.items()

    def remove(self) -> None:
        """Remove the folder, however deep the folders in it are."""
        with contextlib.suppress(OSError):
            os.chmod(self.path, 0o700)
            top = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                _empty(top)
            finally:
                os.close(top)
            os.rmdir(self.path)


def _size(found: os.stat_result) -> int:
    return max(found.st_size, found.st_blocks * _BLOCK)


def _sizes(folder: str) -> Iterator[tuple[int, int]]:
    """Yield inode and size of everything in a folder. Raises OSError if it is too much or too deep to look at."""
    number, left = 0, [(folder, 0)]
    while left:
        path, depth = left.pop()
        with contextlib.suppress(FileNotFoundError), os.scandir(path) as entries:  # the folder may be gone
            for entry in entries:
                number += 1
                if number > _MOST_ENTRIES or depth > _DEEPEST:
                    raise OSError("expected fewer files")
                if entry.is_dir(follow_symlinks=False):
                    left.append((entry.path, depth + 1))
                with contextlib.suppress(FileNotFoundError):
                    found = entry.stat(follow_symlinks=False)
                    yield found.st_ino, _size(found)


def _empty(top: int) -> None:
    """Remove everything in a folder, given by its descriptor.

    Folders in its folders are first moved into it, since the path to a folder can be longer than any path may be.
    """
    new_names = (f"{os.urandom(8).hex()}-{number}" for number in count())
    while folders := _remove_files(top):
        for name in folders:
            folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
            try:
                for inner in _remove_files(folder):
                    os.rename(inner, next(new_names), src_dir_fd=folder, dst_dir_fd=top)
            finally:
                os.close(folder)
            os.rmdir(name, dir_fd=top)


def _remove_files(folder: int) -> list[str]:
    """Remove the files in a folder, make the folders in it accessible to their owner, and return their names."""
    folders = []
    for name in os.listdir(folder):
        try:
            os.unlink(name, dir_fd=folder)
        except OSError:
            os.chmod(name, 0o700, dir_fd=folder)
            folders.append(name)
    return folders


@contextlib.contextmanager
def _acting_as(user: int) -> Iterator[None]:
    """Act as this user in this block. Only root can act as another one."""
    if os.geteuid() == user:
        yield
        return
    os.setegid(user)
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
