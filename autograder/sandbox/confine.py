"""Runs a function in a confined process, forked from this one.

Two processes, of which only the second runs what is not trusted:

    first    number 1 of a new PID namespace, in new namespaces altogether; it ends with the process that forked it,
             and when it ends, the kernel kills everything in there
    inner    confined; an ordinary user without rights, with limits and a filter on its system calls
"""

from __future__ import annotations

import contextlib
import os
import platform
import resource
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from autograder.sandbox.linux_calls import (
    Namespace,
    die_with_parent,
    drop_privileges,
    fork_into,
    hide_memory,
    show_memory,
    unshare,
)
from autograder.sandbox.root_filesystem import Room
from autograder.sandbox.seccomp_filter import Rules

STATUS = struct.Struct("=i")  # as os.waitpid gives it
NOBODY = 65534
UMASK = 0o022
NOWHERE = "localhost"  # what the machine is called in there
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
    rules: Rules

    def fork(self, inner: Callable[[], None], status: int, keep: tuple[int, ...] = ()) -> int:
        """Fork, confine, call `inner`; returns the id of the first process. Killing that one ends all.

        How the inner process ended is written to the descriptor `status`, as `STATUS`; nothing is written where it
        was killed together with the first. `keep` are the descriptors that it has beside 0, 1 and 2.
        """
        owner = None if os.geteuid() == 0 else (os.geteuid(), os.getegid())
        self.room.places  # noqa: B018  # looked for here, once, and not by each child
        first = fork_into(_OWN if owner is None else _OWN | Namespace.USER)
        if first == 0:
            _never_return(lambda: self._lead(inner, status, keep, owner))
        return first

    def _lead(
        self, inner: Callable[[], None], status: int, keep: tuple[int, ...], owner: tuple[int, int] | None
    ) -> None:
        # Where the process that forked this one has ended already, nobody sends a program, and nothing is run.
        die_with_parent()
        os.setsid()
        # The room is made by root and read by nobody. (The teacher's umask, 077 say, would lock it, and its folders
        # are nowhere but in there.)
        os.umask(UMASK)
        proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)  # in the room, nothing can be written there
        if owner is not None:
            _map_to(proc, *owner)
        socket.sethostname(NOWHERE)
        vars(platform)["_uname_cache"] = None  # Python remembers the name that it was told before
        self.room.enter()
        child = os.fork()
        if child == 0:
            _close_all_but(0, 1, 2, *keep, proc)
            _never_return(lambda: self._confine(inner, proc, as_root=owner is None))
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # what number 1 does not handle, nobody in there can send it
        hide_memory()
        _close_all_but(status)
        while True:
            ended, how = os.wait()
            if ended == child:
                with contextlib.suppress(BrokenPipeError):  # nobody wants to know any more
                    os.write(status, STATUS.pack(how))
                return

    def _confine(self, inner: Callable[[], None], proc: int, as_root: bool) -> None:
        os.setsid()
        _write(proc, "oom_score_adj", "1000")  # where memory runs out, this is what should go
        if as_root:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            show_memory()
            # The kernel counts a user's processes by user namespace: one of its own keeps submissions apart.
            _become_owner(proc)
        os.close(proc)
        _limit(self.quota)
        drop_privileges()
        self.rules.load()
        inner()


def _never_return(work: Callable[[], None]) -> NoReturn:
    failed = 1
    try:
        work()
        failed = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:  # also where nobody can be told
        os._exit(failed)


def _become_owner(proc: int) -> None:
    """Make a user namespace in which this user is itself."""
    user, group = os.geteuid(), os.getegid()
    unshare(Namespace.USER)
    _map_to(proc, user, group)


def _map_to(proc: int, user: int, group: int) -> None:
    """Let this user, in a user namespace just made, be the one that it is outside."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        _write(proc, name, text)


def _write(proc: int, name: str, text: str) -> None:
    """Write to a file about this process, in a /proc that is open."""
    with open(os.open(f"self/{name}", os.O_WRONLY, dir_fd=proc), "w") as file:
        file.write(text)


def _limit(quota: Quota) -> None:
    megabyte = 2**20
    limits = {
        resource.RLIMIT_CPU: quota.cpu_seconds,
        resource.RLIMIT_AS: _mapped() + quota.memory_mb * megabyte,
        resource.RLIMIT_NPROC: quota.processes,
        resource.RLIMIT_NOFILE: quota.open_files,
        resource.RLIMIT_FSIZE: quota.file_mb * megabyte,
        resource.RLIMIT_CORE: 1,  # 0 keeps files away, and not a program of the system's that takes crashes
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_SIGPENDING: 1024,
        resource.RLIMIT_RTPRIO: 0,
        resource.RLIMIT_NICE: 0,
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
    low = 0
    for descriptor in (*sorted(kept), os.sysconf("SC_OPEN_MAX")):
        if low < descriptor:
            os.closerange(low, descriptor)
        low = descriptor + 1
