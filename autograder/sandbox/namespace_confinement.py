"""Run a function in a confined process, forked from this one, in namespaces of its own.

There are two processes, and only the second one runs untrusted code:

    first    process 1 of a new PID namespace, in new mount, UTS, IPC and network namespaces, and a user namespace where
             it is not root's; it ends with the process that forked it, and when it ends, the kernel kills every process
             in its namespace
    inner    confined; an ordinary user without privileges, with resource limits and a filter on its system calls

Where the kernel gives no namespaces, `landlock_confinement.py` confines otherwise; `choose_confinement.py` chooses.
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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NoReturn

from autograder.sandbox.linux_calls import (
    SYS_ADMIN,
    Namespace,
    drop_capabilities,
    end_when_parent_ends,
    fork_into_namespaces,
    has_capability,
    make_process_dumpable,
    make_process_undumpable,
    unshare,
)
from autograder.sandbox.root_filesystem import RootFilesystem
from autograder.sandbox.seccomp_filter import SeccompFilter

WAIT_STATUS_FORMAT = struct.Struct("=i")  # a wait status, as os.waitpid returns it
NOBODY = 65534
UMASK = 0o022
SANDBOX_HOST_NAME = "localhost"  # the host name that confined code sees
_NEW_NAMESPACES = Namespace.MOUNT | Namespace.NAMES | Namespace.IPC | Namespace.PID | Namespace.NETWORK


@dataclass(frozen=True)
class Quota:
    """The resources that a confined process may use. Memory that it was forked with does not count."""

    cpu_seconds: int = 600
    memory_mb: int = 2048
    processes: int = 64
    open_files: int = 256
    file_mb: int = 64


@dataclass(frozen=True)
class Confinement:
    """A confinement: the files that code sees, the resources that it may use, the system calls that it cannot make."""

    room: RootFilesystem
    quota: Quota
    rules: SeccompFilter

    @property
    def name(self) -> str:
        """What confines the code."""
        return "namespaces"

    def fork(self, inner: Callable[[], None], status: int, keep: tuple[int, ...] = ()) -> int:
        """Fork, confine the new process, and call `inner` in it; return the id of the first process.

        Killing the first process ends both. When the inner process has ended, the first writes its wait status to the
        descriptor `status`; if both were killed together, nothing is written. `keep` are the descriptors that stay open
        in the inner process, beside 0, 1 and 2.
        """
        self.room.places  # noqa: B018  # compute this cached property once here, not again in each child
        if os.geteuid() == 0 and has_capability(SYS_ADMIN):
            return self._fork(inner, status, keep, None)
        with _without_root():
            return self._fork(inner, status, keep, (os.geteuid(), os.getegid()))

    def end(self, first: int) -> None:
        """Kill a first process with everything that it started, and reap it.

        When process 1 of a PID namespace is killed, the kernel kills all processes in it before that one is gone.
        """
        os.kill(first, signal.SIGKILL)  # it has not been reaped yet, so no other process can have its id
        os.waitpid(first, 0)

    def _fork(
        self, inner: Callable[[], None], status: int, keep: tuple[int, ...], owner: tuple[int, int] | None
    ) -> int:
        first = fork_into_namespaces(_NEW_NAMESPACES if owner is None else _NEW_NAMESPACES | Namespace.USER)
        if first == 0:
            run_and_exit_process(lambda: self._run_first(inner, status, keep, owner))
        return first

    def _run_first(
        self, inner: Callable[[], None], status: int, keep: tuple[int, ...], owner: tuple[int, int] | None
    ) -> None:
        # If the process that forked this one ended before this call, no program arrives, and nothing runs.
        end_when_parent_ends()
        os.setsid()
        # Root creates the new root file system, and the user nobody reads it. A teacher's umask of 077 would lock it.
        # This umask makes nothing readable outside: the folders exist in these namespaces only.
        os.umask(UMASK)
        proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)  # in the new root file system, /proc is read-only
        if owner is not None:
            make_process_dumpable()
            _map_ids(proc, *owner)
            os.setresgid(*3 * (owner[1],))
            os.setresuid(*3 * (owner[0],))
        socket.sethostname(SANDBOX_HOST_NAME)
        vars(platform)["_uname_cache"] = None  # Python has cached the real host name
        self.room.enter()
        child = os.fork()
        if child == 0:
            close_other_descriptors(0, 1, 2, *keep, proc)
            run_and_exit_process(lambda: self._run_inner(inner, proc, as_root=owner is None))
        # Processes in a PID namespace can send its process 1 only signals that it has a handler for: so it has none.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        make_process_undumpable()
        close_other_descriptors(status)
        while True:
            ended, how = os.wait()
            if ended == child:
                with contextlib.suppress(BrokenPipeError):  # the grader no longer reads the status
                    os.write(status, WAIT_STATUS_FORMAT.pack(how))
                return

    def _run_inner(self, inner: Callable[[], None], proc: int, as_root: bool) -> None:
        os.setsid()
        _write(proc, "oom_score_adj", "1000")  # if the machine runs out of memory, kill this process first
        if as_root:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            make_process_dumpable()
            # The kernel counts a user's processes per user namespace: in new ones, submissions share no limit.
            _enter_user_namespace(proc)
        os.close(proc)
        set_limits(self.quota)
        drop_capabilities()
        self.rules.load()
        inner()


@contextlib.contextmanager
def _without_root() -> Iterator[None]:
    """Act as an ordinary user in this block: root that may not administrate the system gets no namespaces otherwise."""
    if os.geteuid() != 0:
        yield
        return
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)
        make_process_dumpable()


def run_and_exit_process(work: Callable[[], None]) -> NoReturn:
    """Call a function in a process just forked, and end the process; exit code 1 says that it raised an error."""
    failed = 1
    try:
        work()
        failed = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:  # even if printing the traceback failed
        os._exit(failed)


def _enter_user_namespace(proc: int) -> None:
    """Create a user namespace in which this user has the same id as outside."""
    user, group = os.geteuid(), os.getegid()
    unshare(Namespace.USER)
    _map_ids(proc, user, group)


def _map_ids(proc: int, user: int, group: int) -> None:
    """Map this user and group, in a user namespace just created, to the same ids outside."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        _write(proc, name, text)


def _write(proc: int, name: str, text: str) -> None:
    """Write to a file in /proc/self; `proc` is a descriptor of /proc."""
    with open(os.open(f"self/{name}", os.O_WRONLY, dir_fd=proc), "w") as file:
        file.write(text)


def set_limits(quota: Quota) -> None:
    """Limit the resources of this process, and of each process that it starts."""
    megabyte = 2**20
    limits = {
        resource.RLIMIT_CPU: quota.cpu_seconds,
        resource.RLIMIT_AS: _address_space_bytes() + quota.memory_mb * megabyte,
        resource.RLIMIT_NPROC: quota.processes,
        resource.RLIMIT_NOFILE: quota.open_files,
        resource.RLIMIT_FSIZE: quota.file_mb * megabyte,
        resource.RLIMIT_CORE: 1,  # prevents core files, as 0 does, and also core dumps to a crash handler's pipe
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


def _address_space_bytes() -> int:
    """Return the size of this process's address space in bytes: torch maps gigabytes that it never touches."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def close_other_descriptors(*kept: int) -> None:
    """Close all descriptors of this process but these."""
    low = 0
    for descriptor in (*sorted(kept), os.sysconf("SC_OPEN_MAX")):
        if low < descriptor:
            os.closerange(low, descriptor)
        low = descriptor + 1
