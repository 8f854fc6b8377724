"""Build the root file system that confined code sees: the interpreter, its packages, some devices, a scratch folder."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from autograder.sandbox.linux_calls import Mount, make_read_only, mount, pivot_root, unmount

SCRATCH = "/tmp"
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/nix/store")
DEVICES = ("null", "zero", "full", "random", "urandom")
_RESTRICTED = Mount.NO_SETUID | Mount.NO_DEVICES


@dataclass(frozen=True)
class RootFilesystem:
    """A root file system: the paths that are visible, read-only, and the size of the scratch folder in megabytes.

    `shown` are absolute paths; nothing else is visible in the folders above them. `hidden` are folders below shown ones
    that look empty, except for paths in them that `shown` names.
    """

    shown: tuple[Path, ...]
    hidden: tuple[Path, ...] = ()
    scratch_mb: int = 64

    @classmethod
    def for_this_interpreter(cls, *also: Path, hidden: tuple[Path, ...] = ()) -> RootFilesystem:
        """Show what this interpreter needs, and `also`. If a virtual environment is a link, show its target too."""
        prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
        prefixes |= set(map(os.path.realpath, prefixes))
        paths = {Path(name) for name in (*_SYSTEM, *prefixes)} | set(also)
        return cls(tuple(sorted(path for path in paths if not paths & set(path.parents))), hidden)

    @cached_property
    def places(self) -> list[tuple[Path, str]]:
        """The shown paths that exist, each with its real path (links resolved)."""
        return [(path, os.path.realpath(path)) for path in self.shown if os.path.lexists(path)]

    @cached_property
    def readable_paths(self) -> list[str]:
        """The real paths of shown files and folders that contain nothing hidden, for rules that allow all beneath.

        Instead of a folder with a hidden one in it, these are its other entries; the folder itself cannot be listed.
        To import a module, Python also reads the `__init__.py` beside it.
        """
        hidden = {os.path.realpath(folder) for folder in self.hidden}
        beside = {os.path.join(os.path.dirname(real), "__init__.py") for _, real in self.places}
        return [each for _, real in self.places for each in _without(real, hidden)] + list(
            filter(os.path.isfile, beside)
        )

    def enter(self) -> None:
        """Replace this process's root file system by this one.

        The process must be alone in its mount namespace and PID namespace.
        """
        mount(None, "/", None, Mount.RECURSIVE | Mount.PRIVATE)
        # In two steps, since the old files must stay reachable while the new root is filled: the first root holds both
        # below /old and /new, and then /new becomes the root.
        mount("tmpfs", SCRATCH, "tmpfs", _RESTRICTED, "size=64k,mode=755")
        os.makedirs(f"{SCRATCH}/old")
        os.makedirs(f"{SCRATCH}/new")
        pivot_root(Path(SCRATCH), "old")
        os.chdir("/")
        mount("tmpfs", "/new", "tmpfs", _RESTRICTED, "size=1m,nr_inodes=4k,mode=755")
        self._fill(self.places)
        unmount("/old")
        pivot_root(Path("/new"), ".")
        unmount(".")
        os.chdir("/")
        mount(None, "/", None, Mount.REMOUNT | Mount.BIND | Mount.READ_ONLY | _RESTRICTED)
        os.chdir(SCRATCH)

    def _fill(self, places: list[tuple[Path, str]]) -> None:
        # The scratch folder first: shown paths may lie below it.
        for place in (SCRATCH, "/dev/shm"):
            _mount_folder(place.strip("/"), "tmpfs", _RESTRICTED, f"size={self.scratch_mb}m,nr_inodes=10k,mode=1777")
        # /proc is read-only, for otherwise a process could change its oom_score_adj, which says how early the kernel
        # kills it when memory runs out. It is a whole /proc, since torch needs /proc/cpuinfo to compute in float16.
        _mount_folder("proc", "proc", _RESTRICTED | Mount.NO_EXEC | Mount.READ_ONLY)
        for path, real in places:
            if os.path.islink(f"/old{path}"):
                _make_parents(f"/new{path}")
                os.symlink(os.readlink(f"/old{path}"), f"/new{path}")
            else:
                _bind(f"/old{real}", f"/new{path}")
                make_read_only(f"/new{path}")
        for name in DEVICES:
            _bind(f"/old/dev/{name}", f"/new/dev/{name}")
            make_read_only(f"/new/dev/{name}")  # the device can still be written to, but not its timestamps or mode
        for folder in self.hidden:
            if os.path.isdir(f"/new{folder}"):
                self._hide(folder, places)

    def _hide(self, folder: Path, places: list[tuple[Path, str]]) -> None:
        """Cover a folder with an empty one, and show the shown paths in it again."""
        mount("tmpfs", f"/new{folder}", "tmpfs", _RESTRICTED, "size=64k,mode=755")
        for path, real in places:
            if folder in path.parents:
                _bind(f"/old{real}", f"/new{path}")
                make_read_only(f"/new{path}")
        make_read_only(f"/new{folder}")


def enter_home_folder() -> None:
    """Create a home folder in the scratch folder, and make it the working folder. For a process that is confined.

    The scratch folder is the working folder of a process that has just been confined.
    """
    home = os.path.abspath("home")
    os.environ.update(HOME=home, TMPDIR=home, IPYTHONDIR=home)
    tempfile.tempdir = None  # the process that forked this one may have settled on a folder of its own
    os.makedirs(home, exist_ok=True)
    os.chdir(home)


def _without(path: str, hidden: set[str]) -> Iterator[str]:
    """Yield the path, or in place of a folder with hidden ones below it, the entries that have none."""
    if path in hidden:
        return
    if not any(each.startswith(f"{path}/") for each in hidden):
        yield path
        return
    with contextlib.suppress(OSError):  # an unreadable folder has no entries for anybody
        for entry in os.scandir(path):
            if not entry.is_symlink():  # what it leads to must be shown itself
                yield from _without(entry.path, hidden)


def _bind(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        _make_parents(target)
        with open(target, "wb"):
            pass
    mount(source, target, None, Mount.BIND | Mount.RECURSIVE)


def _mount_folder(name: str, kind: str, flags: Mount, options: str | None = None) -> None:
    os.makedirs(f"/new/{name}", exist_ok=True)
    mount(kind, f"/new/{name}", kind, flags, options)


def _make_parents(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
