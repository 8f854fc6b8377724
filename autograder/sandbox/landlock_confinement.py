"""Run a function in a confined process, forked from this one, where the kernel gives no namespaces, as in containers.

There are two processes here too, and only the second one runs untrusted code:

    first    waits for the inner one, ends it if its scratch folder is full, and removes that folder afterwards; it ends
             with the process that forked it
    inner    confined; Landlock guards the files, a filter on system calls lets it start no processes and reach none,
             and where root grades, it belongs to another user; it ends with the first one
"""

from __future__ import annotations

import contextlib
import os
import platform
import select
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.sandbox.import_from_unlistable_folders import UnlistedFolderImporter
from autograder.sandbox.landlock_rules import restrict_files
from autograder.sandbox.linux_calls import (
    SETGID,
    SETUID,
    change_user_for_good,
    check_one_thread,
    drop_capabilities,
    empty_capability_bounding_set,
    end_when_parent_ends,
    has_capability,
    make_process_dumpable,
    make_process_undumpable,
)
from autograder.sandbox.namespace_confinement import (
    SANDBOX_HOST_NAME,
    UMASK,
    WAIT_STATUS_FORMAT,
    Confinement,
    close_other_descriptors,
    run_and_exit_process,
    set_limits,
)
from autograder.sandbox.scratch_folder import ScratchFolder

# User ids without an account: systemd's table of ids leaves them free, and so do distributions. Two submissions that
# run at the same time may get the same id; then the filter and Landlock still keep them apart.
_USERS = range(60578, 60706)
_LOOK_SECONDS = 0.1  # between two looks at the scratch folder
_PATIENCE_SECONDS = 10.0  # that a first process gets to end the inner one and remove its folder


@dataclass(frozen=True)
class LandlockConfinement(Confinement):
    """A confinement without namespaces. Its filter of system calls must be compiled for a lone process.

    Where root grades, code runs as another user; without `own_files`, that user keeps root's access to files,
    within what Landlock allows. Where another user grades, the process belongs to that user.
    """

    own_files: bool = True

    @property
    def name(self) -> str:
        """What confines the code, and whose rights to files it has."""
        if not can_change_user():
            return "Landlock, this user"
        return "Landlock" if self.own_files else "Landlock, root's files"

    def fork(self, inner: Callable[[], None], status: int, keep: tuple[int, ...] = ()) -> int:
        """Fork, confine the new process, and call `inner` in it, as with namespaces; return the first process's id."""
        self.room.readable_paths  # noqa: B018  # compute this cached property once here, not again in each child
        check_one_thread()
        first = os.fork()
        if first == 0:
            run_and_exit_process(lambda: self._begin(inner, status, keep))
        return first

    def end(self, first: int) -> None:
        """Let a first process kill the inner one and remove its folder; reap it. Kill both if that takes too long."""
        os.kill(first, signal.SIGTERM)
        handle = os.pidfd_open(first)
        if not select.select([handle], [], [], _PATIENCE_SECONDS)[0]:
            os.kill(first, signal.SIGKILL)
        os.close(handle)
        os.waitpid(first, 0)

    def _begin(self, inner: Callable[[], None], status: int, keep: tuple[int, ...]) -> None:
        # Signals are waited for below, and none of them interrupts the rest.
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD, signal.SIGTERM))
        end_when_parent_ends()
        os.setsid()
        os.umask(UMASK)
        first = os.getpid()
        user = _USERS[first % len(_USERS)] if can_change_user() else os.geteuid()
        # A single file of the greatest size is no misuse, hence room for two.
        scratch = ScratchFolder(self.room.scratch_mb + self.quota.file_mb, self.quota.file_mb)
        if user != os.geteuid() and self.own_files:
            os.chown(scratch.path, user, user)
        # Until the inner process is confined, it cannot be looked at as its user, and runs no untrusted code.
        is_confined, confined = os.pipe()
        child = os.fork()
        if child == 0:
            close_other_descriptors(0, 1, 2, *keep, confined)
            run_and_exit_process(lambda: self._run_beside(inner, scratch.path, user, first, confined))
        make_process_undumpable()
        close_other_descriptors(status, is_confined)
        os.chdir("/")
        how = self._wait_for(child, scratch, user, is_confined)
        with contextlib.suppress(BrokenPipeError):  # the grader no longer reads the status
            os.write(status, WAIT_STATUS_FORMAT.pack(how))
        scratch.remove()

    def _wait_for(self, child: int, scratch: ScratchFolder, user: int, is_confined: int) -> int:
        """Wait until a child has ended, and return its wait status. Kill it at SIGTERM, and if it uses too much.

        It is looked at once the pipe `is_confined` has no writer any more.

        The kernel limits the number of threads too, but not for root, which this user may be where no other one is.
        """
        while True:
            ended, how = os.waitpid(child, os.WNOHANG)
            if ended == child:
                return how
            came = signal.sigtimedwait((signal.SIGCHLD, signal.SIGTERM), _LOOK_SECONDS)
            if came is not None:
                too_much = came.si_signo == signal.SIGTERM
            elif select.select([is_confined], [], [], 0)[0]:
                too_much = _threads(child) > self.quota.processes or scratch.is_full(child, user)
            else:
                too_much = False
            if too_much:
                os.kill(child, signal.SIGKILL)

    def _run_beside(self, inner: Callable[[], None], scratch: str, user: int, first: int, confined: int) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.setsid()
        Path("/proc/self/oom_score_adj").write_text("1000")  # if memory runs out, kill this process first
        os.chdir(scratch)
        quota = self.quota
        empty_capability_bounding_set()
        if user != os.geteuid():
            change_user_for_good(user, files_of_root=not self.own_files)
            make_process_dumpable()  # to the first process, which looks for files that this one has open
        else:
            quota = replace(quota, processes=quota.processes + _tasks_of(user))
        end_when_parent_ends()  # now, for the kernel forgets it when the user changes
        if os.getppid() != first:
            os._exit(1)
        _hide_name()
        sys.meta_path.append(UnlistedFolderImporter)
        set_limits(quota)
        drop_capabilities()
        restrict_files(self.room.readable_paths, ".")
        self.rules.load()
        os.close(confined)
        inner()


def can_change_user() -> bool:
    """Return whether this process may run code as one of the users without an account: as root, in most containers."""
    if os.geteuid() != 0 or not (has_capability(SETUID) and has_capability(SETGID)):
        return False
    maps = (Path(f"/proc/self/{kind}_map").read_text().splitlines() for kind in ("uid", "gid"))
    return all(any(_covers(*map(int, line.split())) for line in lines) for lines in maps)


def _covers(inside: int, _: int, number: int) -> bool:
    return inside <= _USERS[0] and _USERS[-1] < inside + number


def _tasks_of(user: int) -> int:
    """Return the number of a user's tasks (processes and threads): the kernel's limit counts them all together."""
    number = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # ended meanwhile
            if os.stat(f"/proc/{name}").st_uid == user:
                number += _threads(int(name))
    return number


def _threads(process: int) -> int:
    return len(os.listdir(f"/proc/{process}/task"))


def _hide_name() -> None:
    """Give the machine another name in Python. The filter denies the system call that tells the real one."""
    names: Any = os.uname()
    hidden = os.uname_result((names.sysname, SANDBOX_HOST_NAME, names.release, names.version, names.machine))
    vars(os)["uname"] = lambda: hidden
    vars(socket)["gethostname"] = lambda: SANDBOX_HOST_NAME
    vars(platform)["_uname_cache"] = None
    platform.uname()
