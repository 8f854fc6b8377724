"""The Linux calls that confinement needs and that Python 3.11 has no name for. Each raises OSError, named.

The numbers are those of the kernel's headers: linux/sched.h, linux/mount.h, linux/prctl.h, linux/capability.h,
linux/seccomp.h, linux/filter.h and asm-generic/mman-common.h.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import signal
from enum import IntFlag
from pathlib import Path
from typing import Any

_libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
# What is called in here keeps Python's lock, as os.fork does: the child must find it held by itself.
_locked_libc = ctypes.PyDLL(None, use_errno=True) if os.name == "posix" else None
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CLONE = {"x86_64": 56, "aarch64": 220}
_SET_PDEATHSIG, _SET_DUMPABLE, _SET_SECCOMP, _CAPBSET_DROP, _SET_NO_NEW_PRIVS = 1, 4, 22, 24, 38
_MODE_FILTER, _INSTRUCTION = 2, 8  # a mode of seccomp; the bytes of an instruction
_CAPABILITY_VERSION_3 = 0x20080522
_MOUNT_SETATTR, _HERE, _RECURSIVE, _READ_ONLY, _NO_SETUID = 442, -100, 0x8000, 1, 2
_DETACH = 2
_COLLAPSE = 25


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


def fork_into(namespaces: Namespace) -> int:
    """os.fork, the child in namespaces of its own: number 1 in a PID namespace. For a process of one thread.

    The C library does not know of this fork: what another thread had locked would stay locked in the child.
    """
    assert _locked_libc is not None
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        raise OSError(errno.EAGAIN, f"expected one thread before a fork, found {threads}")
    flags = int(namespaces) | signal.SIGCHLD
    ctypes.pythonapi.PyOS_BeforeFork()
    child = int(_locked_libc.syscall(_CLONE[platform.machine()], flags, 0, 0, 0, 0))
    number = ctypes.get_errno()
    if child == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return 0
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    if child < 0:
        raise OSError(number, f"clone: {os.strerror(number)}")
    return child


def unshare(namespaces: Namespace) -> None:
    """Give this process namespaces of its own."""
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


class _Filter(ctypes.Structure):
    """A program of a filter: how many instructions, and where they are."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def filter_calls(program: bytes) -> None:
    """Run this program before each system call from now on, also in what this process starts; for good."""
    _prctl(_SET_SECCOMP, _MODE_FILTER, ctypes.byref(_Filter(len(program) // _INSTRUCTION, program)))


def use_large_pages() -> None:
    """Put this process's own memory into pages of 2 MB where the kernel can: a fork copies the table of all pages."""
    assert _libc is not None
    size = 2**21
    advise = _libc.madvise
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for line in Path("/proc/self/maps").read_text().splitlines():
        where, rights, *_, name = (*line.split(maxsplit=5), "")[:6]
        if rights == "rw-p" and name in ("", "[heap]"):
            begin, end = (int(number, 16) for number in where.split("-"))
            for page in range(-(-begin // size) * size, end // size * size, size):
                advise(page, size, _COLLAPSE)  # a kernel before 6.1 says no, and so does a page that is not in use


def _prctl(option: int, value: int, about: Any = 0) -> None:
    _call("prctl", option, value, about, 0, 0)


def _call(name: str, *args: object) -> None:
    assert _libc is not None
    if getattr(_libc, name)(*args) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
