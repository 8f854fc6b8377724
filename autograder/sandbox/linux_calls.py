"""Linux system calls that confinement needs and that Python 3.11 has no function for. Each raises OSError.

The numbers are those of the kernel's headers: linux/sched.h, linux/mount.h, linux/prctl.h, linux/capability.h,
linux/seccomp.h, linux/filter.h, linux/landlock.h and asm-generic/mman-common.h.
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
# Calls through PyDLL keep Python's global lock, as os.fork does: the child must start with the lock held by itself.
_locked_libc = ctypes.PyDLL(None, use_errno=True) if os.name == "posix" else None
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CLONE = {"x86_64": 56, "aarch64": 220}
_SET_PDEATHSIG, _SET_DUMPABLE, _SET_SECCOMP, _CAPBSET_DROP, _SET_NO_NEW_PRIVS = 1, 4, 22, 24, 38
_MODE_FILTER, _INSTRUCTION_BYTES = 2, 8  # a mode of seccomp; the bytes of an instruction
_CAPABILITY_VERSION_3, _SET_KEEPCAPS = 0x20080522, 8
_MOUNT_SETATTR, _AT_FDCWD, _RECURSIVE, _READ_ONLY, _NO_SETUID = 442, -100, 0x8000, 1, 2
_MNT_DETACH = 2
_MADV_COLLAPSE = 25
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT, _LANDLOCK_BENEATH = 444, 445, 446, 1
# Capabilities: to change user and group, and to mount and to create namespaces.
SETGID, SETUID, SYS_ADMIN = 6, 7, 21


class Namespace(IntFlag):
    """The kinds of namespaces that a process can have of its own (the CLONE_NEW... flags of clone)."""

    MOUNT = 0x00020000
    NAMES = 0x04000000  # host name and domain name (UTS)
    IPC = 0x08000000
    USER = 0x10000000
    PID = 0x20000000
    NETWORK = 0x40000000


class Mount(IntFlag):
    """How a file system is mounted (the MS_... flags of mount)."""

    READ_ONLY = 1
    NO_SETUID = 2
    NO_DEVICES = 4
    NO_EXEC = 8
    REMOUNT = 32
    BIND = 4096
    RECURSIVE = 16384
    PRIVATE = 1 << 18


def fork_into_namespaces(namespaces: Namespace) -> int:
    """Fork like os.fork, and put the child into new namespaces; it becomes process 1 of a new PID namespace.

    The process must have only one thread. The C library is not informed of this fork, so a lock that another thread
    holds would stay locked in the child for ever.
    """
    assert _locked_libc is not None
    check_one_thread()
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


def check_one_thread() -> None:
    """Raise OSError if this process has more than one thread: a lock of another one would stay locked after a fork."""
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:
        raise OSError(errno.EAGAIN, f"expected one thread before a fork, found {threads}")


def unshare(namespaces: Namespace) -> None:
    """Move this process into new namespaces."""
    _call("unshare", int(namespaces))


def mount(source: str | None, target: str | Path, kind: str | None, flags: Mount, options: str | None = None) -> None:
    """Mount a file system of this kind, or another folder or file, at `target`."""
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    _call("mount", *encoded[:3], int(flags), encoded[3])


def make_read_only(target: str | Path) -> None:
    """Make a mount and all mounts below it read-only, and let no program there gain privileges by setuid."""
    attributes = (ctypes.c_uint64 * 4)(_READ_ONLY | _NO_SETUID, 0, 0, 0)
    _call("syscall", _MOUNT_SETATTR, _AT_FDCWD, os.fsencode(target), _RECURSIVE, attributes, ctypes.sizeof(attributes))


def pivot_root(root: Path, old: str) -> None:
    """Make a mounted folder the root file system of this process; move the old root to `old`, a path in the new one.

    With "." as `old`, the old root covers the new one until it is unmounted.
    """
    os.chdir(root)
    _call("syscall", _PIVOT_ROOT[platform.machine()], b".", os.fsencode(old))


def unmount(target: str) -> None:
    """Unmount a file system and everything that is mounted below it."""
    _call("umount2", os.fsencode(target), _MNT_DETACH)


def end_when_parent_ends() -> None:
    """Make the kernel kill this process when its parent ends, however the parent ends."""
    _prctl(_SET_PDEATHSIG, signal.SIGKILL)


def make_process_undumpable() -> None:
    """Deny other processes of the same user access to this process's memory and descriptors in /proc."""
    _prctl(_SET_DUMPABLE, 0)


def make_process_dumpable() -> None:
    """Undo `make_process_undumpable`. Changing the user hides the memory too, and then no uid_map can be written."""
    _prctl(_SET_DUMPABLE, 1)


def has_capability(capability: int) -> bool:
    """Return whether this process has a capability, such as `SYS_ADMIN`."""
    status = Path("/proc/self/status").read_text()
    return bool(int(status.partition("CapEff:")[2].split()[0], 16) >> capability & 1)


def change_user_for_good(user: int, *, files_of_root: bool) -> None:
    """Change from root to another user, and a group with the same id, for good.

    With `files_of_root`, the process keeps the rights that root has to its own files, and no other ones of root's.
    An ordinary user may not call setfsuid(0), so CAP_SETUID is kept for that call across the change of user.
    """
    assert _libc is not None
    os.setgroups([])
    os.setresgid(user, user, user)
    _prctl(_SET_KEEPCAPS, int(files_of_root))
    os.setresuid(user, user, user)
    if files_of_root:
        _set_capabilities(1 << SETUID)
        _libc.setfsuid(0)


def drop_capabilities() -> None:
    """Give up every capability, and the ability to gain new ones."""
    _prctl(_SET_NO_NEW_PRIVS, 1)
    empty_capability_bounding_set()
    _set_capabilities(0)


def _set_capabilities(low: int) -> None:
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)(low, low))


def empty_capability_bounding_set() -> None:
    """Empty the set of capabilities that programs may give to this process, as far as it may."""
    for capability in range(64):
        try:
            drop_from_capability_bounding_set(capability)
        except OSError:  # this kernel knows no more capabilities, or the process may not drop any
            break


def drop_from_capability_bounding_set(capability: int) -> None:
    """Remove one capability from those that programs may give to this process."""
    _prctl(_CAPBSET_DROP, capability)


class _Filter(ctypes.Structure):
    """A filter program as the kernel expects it: the number of its instructions, and their address (sock_fprog)."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def install_seccomp_filter(program: bytes) -> None:
    """Install a seccomp filter: from now on the kernel runs this program before each system call.

    It also applies to processes that this one starts, and cannot be removed.
    """
    _prctl(_SET_SECCOMP, _MODE_FILTER, ctypes.byref(_Filter(len(program) // _INSTRUCTION_BYTES, program)))


def landlock_version() -> int:
    """Return the version of Landlock that the kernel has; raises OSError if it has none, or a filter denies it."""
    return _call("syscall", _LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)


def create_landlock_ruleset(*handled: int) -> int:
    """Create a Landlock ruleset, and return its descriptor.

    `handled` are bit sets of rights that are denied unless a rule grants them: on files, on TCP ports, and towards
    processes outside, for which there are no rules. A version of Landlock that knows fewer sets must be given
    fewer.
    """
    attributes = (ctypes.c_uint64 * len(handled))(*handled)
    return _call("syscall", _LANDLOCK_CREATE, attributes, ctypes.c_size_t(ctypes.sizeof(attributes)), 0)


class _Beneath(ctypes.Structure):
    """A rule that allows some uses of a file, or of all files in a folder (landlock_path_beneath_attr)."""

    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("place", ctypes.c_int32))


def add_landlock_rule(ruleset: int, allowed: int, place: int) -> None:
    """Add a rule that allows some uses of the file or folder with the descriptor `place`."""
    _call("syscall", _LANDLOCK_ADD, ruleset, _LANDLOCK_BENEATH, ctypes.byref(_Beneath(allowed, place)), 0)


def enforce_landlock_ruleset(ruleset: int) -> None:
    """Apply a ruleset to this process, which has one thread, and to all that it starts; it cannot be removed."""
    _call("syscall", _LANDLOCK_RESTRICT, ruleset, 0)


def use_large_pages() -> None:
    """Ask the kernel to move this process's private memory into pages of 2 MB.

    A fork copies the table of all pages, so fewer pages make each fork faster.
    """
    assert _libc is not None
    size = 2**21
    advise = _libc.madvise
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for line in Path("/proc/self/maps").read_text().splitlines():
        where, rights, *_, name = (*line.split(maxsplit=5), "")[:6]
        if rights == "rw-p" and name in ("", "[heap]"):
            begin, end = (int(number, 16) for number in where.split("-"))
            for page in range(-(-begin // size) * size, end // size * size, size):
                advise(page, size, _MADV_COLLAPSE)  # fails on kernels before 6.1 and for unused pages; nothing is lost


def _prctl(option: int, value: int, argument: Any = 0) -> None:
    _call("prctl", option, value, argument, 0, 0)


def _call(name: str, *args: object) -> int:
    assert _libc is not None
    result = int(getattr(_libc, name)(*args))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result
