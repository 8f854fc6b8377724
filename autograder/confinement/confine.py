"""Runs a function in a confined process, forked from this one.

Three processes, of which only the last runs what is not trusted:

    keeper   has the new namespaces, and ends with the process that forked it
    first    number 1 of the new PID namespace; when it ends, the kernel kills everything in there
    inner    confined; an ordinary user without rights, with limits and a filter on its system calls
"""

from __future__ import annotations

import os
import resource
import struct
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from autograder.confinement.linux import (
    Namespace,
    die_with_parent,
    drop_privileges,
    hide_memory,
    show_memory,
    unshare,
)
from autograder.confinement.room import Room

if TYPE_CHECKING:
    from pyseccomp import SyscallFilter

STATUS = struct.Struct("=i")  # as os.waitpid gives it
NOBODY = 65534
_OWN = Namespace.MOUNT | Namespace.NAMES | Namespace.IPC | Namespace.PID | Namespace.NETWORK


@dataclass(frozen=True)
class Quota:
    """How much a confined process may use up. Memory is what it takes beyond what it was forked with."""

    cpu_seconds: int = 600
    memory_mb: int = 2048
    processes: int = 64
    open_files: int = 256
    file_mb: int = 64


@dataclass(frozen=True)
class Walls:
    """What stands around confined code: the files it sees, how much it may use up, the calls it cannot make."""

    room: Room
    quota: Quota
    rules: SyscallFilter

    def fork(self, inner: Callable[[], None], status: int, keep: tuple[int, ...] = ()) -> int:
        """Fork, confine, call `inner`; returns the keeper's process id. Killing the keeper ends all.

        How the inner process ended is written to the descriptor `status`, as `STATUS`; nothing is written where it
        was killed together with the keeper. `keep` are the descriptors that it has beside 0, 1 and 2.
        """
        parent = os.getpid()
        keeper = os.fork()
        if keeper == 0:
            _never_return(lambda: self._keep(parent, inner, status, keep))
        return keeper

    def _keep(self, parent: int, inner: Callable[[], None], status: int, keep: tuple[int, ...]) -> None:
        die_with_parent()
        if os.getppid() != parent:
            return
        os.setsid()
        as_root = os.geteuid() == 0
        if as_root:
            unshare(_OWN)
        else:
            _become_owner(_OWN)
        first = os.fork()
        if first == 0:
            die_with_parent()
            _never_return(lambda: self._lead(inner, status, keep, as_root))
        _close_all_but(2)
        os.waitpid(first, 0)

    def _lead(self, inner: Callable[[], None], status: int, keep: tuple[int, ...], as_root: bool) -> None:
        self.room.enter()
        child = os.fork()
        if child == 0:
            _close_all_but(0, 1, 2, *keep)
            _never_return(lambda: self._confine(inner, as_root))
        hide_memory()
        _close_all_but(status)
        while True:
            ended, how = os.wait()
            if ended == child:
                os.write(status, STATUS.pack(how))
                return

    def _confine(self, inner: Callable[[], None], as_root: bool) -> None:
        os.setsid()
        with open("/proc/self/oom_score_adj", "w") as file:  # where memory runs out, this is what should go
            file.write("1000")
        if as_root:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            show_memory()
            # The kernel counts a user's processes by user namespace: one of its own keeps submissions apart.
            _become_owner(Namespace(0))
        _limit(self.quota)
        drop_privileges()
        self.rules.load()
        inner()


def _never_return(work: Callable[[], None]) -> NoReturn:
    try:
        work()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def _become_owner(also: Namespace) -> None:
    """Make a user namespace in which this user is itself, and `also` in it."""
    user, group = os.geteuid(), os.getegid()
    unshare(Namespace.USER | also)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def _limit(quota: Quota) -> None:
    megabyte = 2**20
    limits = {
        resource.RLIMIT_CPU: quota.cpu_seconds,
        resource.RLIMIT_AS: _mapped() + quota.memory_mb * megabyte,
        resource.RLIMIT_NPROC: quota.processes,
        resource.RLIMIT_NOFILE: quota.open_files,
        resource.RLIMIT_FSIZE: quota.file_mb * megabyte,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 0,
    }
    for which, most in limits.items():
        _, hard = resource.getrlimit(which)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (most, most))


def _mapped() -> int:
    """The bytes of address space that this process has: torch maps gigabytes that it never touches."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _close_all_but(*kept: int) -> None:
    # Not by /proc/self/fd: the keeper may find there the /proc of the room, in which it is not.
    low = 0
    for descriptor in (*sorted(kept), os.sysconf("SC_OPEN_MAX")):
        if low < descriptor:
            os.closerange(low, descriptor)
        low = descriptor + 1
