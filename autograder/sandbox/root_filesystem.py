"""The files that confined code sees: the interpreter, its packages, a few devices, and an empty scratch folder."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from autograder.sandbox.linux_calls import Mount, change_root, detach, make_read_only, mount

SCRATCH = "/tmp"
HOME = f"{SCRATCH}/home"
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/nix/store")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_PLAIN = Mount.NO_SETUID | Mount.NO_DEVICES


@dataclass(frozen=True)
class Room:
    """What is shown, read-only, and how much may be written, in megabytes.

    `shown` are absolute paths; of the folders above them nothing else is to be seen. `hidden` folders below them are
    shown empty, but for what is shown of them by name.
    """

    shown: tuple[Path, ...]
    hidden: tuple[Path, ...] = ()
    scratch_mb: int = 64

    @classmethod
    def of_this_python(cls, *also: Path, hidden: tuple[Path, ...] = ()) -> Room:
        """What this interpreter needs, and `also`; where an environment is a link, what it leads to as well."""
        prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
        prefixes |= set(map(os.path.realpath, prefixes))
        paths = {Path(name) for name in (*_SYSTEM, *prefixes)} | set(also)
        return cls(tuple(sorted(path for path in paths if not paths & set(path.parents))), hidden)

    @cached_property
    def places(self) -> list[tuple[Path, str]]:
        """What is there of what is shown, each with the place where it is really."""
        return [(path, os.path.realpath(path)) for path in self.shown if os.path.lexists(path)]

    def enter(self) -> None:
        """See these files from now on and no others; for a process alone in its mount and PID namespaces."""
        mount(None, "/", None, Mount.RECURSIVE | Mount.PRIVATE)
        # Two steps, as the old files must be in sight while the new root is furnished, whichever place it covers.
        mount("tmpfs", SCRATCH, "tmpfs", _PLAIN, "size=64k,mode=755")
        os.makedirs(f"{SCRATCH}/old")
        os.makedirs(f"{SCRATCH}/new")
        change_root(Path(SCRATCH), "old")
        os.chdir("/")
        mount("tmpfs", "/new", "tmpfs", _PLAIN, "size=1m,nr_inodes=4k,mode=755")
        self._furnish(self.places)
        detach("/old")
        change_root(Path("/new"), ".")
        detach(".")
        os.chdir("/")
        mount(None, "/", None, Mount.REMOUNT | Mount.BIND | Mount.READ_ONLY | _PLAIN)
        os.chdir(SCRATCH)

    def _furnish(self, places: list[tuple[Path, str]]) -> None:
        # The scratch folder first: what is shown may lie below it.
        for place in (SCRATCH, "/dev/shm"):
            _folder(place.strip("/"), "tmpfs", _PLAIN, f"size={self.scratch_mb}m,nr_inodes=10k,mode=1777")
        # Read-only: a process could write there how willingly it is killed where memory runs out.
        # With the kernel's own files: without /proc/cpuinfo torch refuses to compute in float16.
        _folder("proc", "proc", _PLAIN | Mount.NO_EXEC | Mount.READ_ONLY)
        for path, real in places:
            if os.path.islink(f"/old{path}"):
                _make_parents(f"/new{path}")
                os.symlink(os.readlink(f"/old{path}"), f"/new{path}")
            else:
                _show(f"/old{real}", f"/new{path}")
                make_read_only(f"/new{path}")
        for name in _DEVICES:
            _show(f"/old/dev/{name}", f"/new/dev/{name}")
            make_read_only(f"/new/dev/{name}")  # what is written to a device goes there all the same; its time stays
        for folder in self.hidden:
            if os.path.isdir(f"/new{folder}"):
                self._hide(folder, places)

    def _hide(self, folder: Path, places: list[tuple[Path, str]]) -> None:
        """Cover a folder with an empty one, and show again what was to be shown of it."""
        mount("tmpfs", f"/new{folder}", "tmpfs", _PLAIN, "size=64k,mode=755")
        for path, real in places:
            if folder in path.parents:
                _show(f"/old{real}", f"/new{path}")
                make_read_only(f"/new{path}")
        make_read_only(f"/new{folder}")


def move_in() -> None:
    """Make a home in the scratch folder, and work there; for a process in its room."""
    os.environ.update(HOME=HOME, TMPDIR=HOME, IPYTHONDIR=HOME)
    os.makedirs(HOME, exist_ok=True)
    os.chdir(HOME)


def _show(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        _make_parents(target)
        with open(target, "wb"):
            pass
    mount(source, target, None, Mount.BIND | Mount.RECURSIVE)


def _folder(name: str, kind: str, flags: Mount, options: str | None = None) -> None:
    os.makedirs(f"/new/{name}", exist_ok=True)
    mount(kind, f"/new/{name}", kind, flags, options)


def _make_parents(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
