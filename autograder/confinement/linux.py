"""The Linux calls that confinement needs and that Python 3.11 has no name for. Each raises OSError, named.

The numbers are those of the kernel's headers (linux/sched.h, linux/mount.h, linux/prctl.h, linux/capability.h).
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
from enum import IntFlag
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_SET_PDEATHSIG, _SET_DUMPABLE, _CAPBSET_DROP, _SET_CHILD_SUBREAPER, _SET_NO_NEW_PRIVS = 1, 4, 24, 36, 38
_CAPABILITY_VERSION_3 = 0x20080522
_MOUNT_SETATTR, _HERE, _RECURSIVE, _READ_ONLY, _NO_SETUID = 442, -100, 0x8000, 1, 2
_DETACH = 2


class Namespace(IntFlag):
    """What a process can have a world of its own of."""

    MOUNT = 0x00020000
    NAMES = 0x04000000  # of the host
    IPC = 0x08000000
    USER = 0x10000000
    PID = 0x20000000
    NETWORK = 0x40000000


class Mount(IntFlag):
    """How something is mounted."""

    READ_ONLY = 1
    NO_SETUID = 2
    NO_DEVICES = 4
    NO_EXEC = 8
    REMOUNT = 32
    BIND = 4096
    RECURSIVE = 16384
    PRIVATE = 1 << 18


def unshare(namespaces: Namespace) -> None:
    """Give this process namespaces of its own; a PID namespace begins with its next child."""
    _call("unshare", int(namespaces))


def mount(source: str | None, target: str | Path, kind: str | None, flags: Mount, options: str | None = None) -> None:
    """Mount something on a folder or file."""
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind, options)]
    _call("mount", *words[:3], int(flags), words[3])


def make_read_only(target: str | Path) -> None:
    """Let nothing be written below a mounted place, nor any program there gain rights; what is mounted below too."""
    attributes = (ctypes.c_uint64 * 4)(_READ_ONLY | _NO_SETUID, 0, 0, 0)
    _call("syscall", _MOUNT_SETATTR, _HERE, os.fsencode(target), _RECURSIVE, attributes, ctypes.sizeof(attributes))


def change_root(root: Path, old: str) -> None:
    """Make a mounted folder the root of this process's files; the old root is then at `old` below the new one.

    With "." as `old` it lies over the new root until `detach(".")`.
    """
    os.chdir(root)
    _call("syscall", _PIVOT_ROOT[platform.machine()], b".", os.fsencode(old))


def detach(target: str) -> None:
    """Take a mount away with all that is mounted below it."""
    _call("umount2", os.fsencode(target), _DETACH)


def die_with_parent() -> None:
    """Be killed when the parent ends, however it ends."""
    _prctl(_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of what descendants leave behind, and so be able to wait until it is gone."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def hide_memory() -> None:
    """Close this process's memory and descriptors in /proc to other processes of the same user."""
    _prctl(_SET_DUMPABLE, 0)


def show_memory() -> None:
    """Undo `hide_memory`; a change of user hides, and then the user map of a namespace cannot be written."""
    _prctl(_SET_DUMPABLE, 1)


def drop_privileges() -> None:
    """Give up every capability, and the way to new ones."""
    _prctl(_SET_NO_NEW_PRIVS, 1)
    for capability in range(64):
        try:
            _prctl(_CAPBSET_DROP, capability)
        except OSError:  # beyond the last one that this kernel knows, or nothing left to drop it with
            break
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)())


def _prctl(option: int, value: int) -> None:
    _call("prctl", option, value, 0, 0, 0)


def _call(name: str, *args: object) -> None:
    assert _libc is not None
    if getattr(_libc, name)(*args) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
