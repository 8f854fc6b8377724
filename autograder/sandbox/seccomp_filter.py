"""The system calls that confined code cannot make: those that reach the kernel's less guarded doors.

libseccomp compiles the filter, once for all children. Ordinary computing needs none of these calls; a program that
tries one is told that it is not permitted, and goes on.
"""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autograder.sandbox.linux_calls import filter_calls

if TYPE_CHECKING:
    from pyseccomp import SyscallFilter

# Namespaces and mounts, other processes' memory, the kernel's own interfaces, and memory that belongs to no process:
# no limit counts it, and it stays when its maker is killed for taking too much.
DENIED = (
    *("mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount"),
    *("fspick", "mount_setattr", "unshare", "setns"),
    *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "process_madvise"),
    *("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("keyctl", "add_key", "request_key", "fanotify_init", "quotactl", "acct", "swapon", "swapoff", "reboot"),
    *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "open_by_handle_at"),
    *("name_to_handle_at", "personality", "iopl", "ioperm", "settimeofday", "clock_settime", "adjtimex"),
    *("syslog", "vhangup", "lookup_dcookie", "nfsservctl", "memfd_secret", "landlock_create_ruleset"),
    *("shmget", "msgget", "semget", "memfd_create"),
    # What the kernel tells of files that are shown, whoever uses them; and what makes everybody's disk busy.
    *("inotify_init", "inotify_init1", "fanotify_mark", "clock_adjtime", "sync", "syncfs", "modify_ldt"),
    # What the machine has so many of (io_setup), who is served first by its disk, and the second name of quotactl.
    *("io_setup", "ioprio_set", "quotactl_fd"),
)
# A careful program waits until its file is on a disk, says which files it is done with, and locks those that others
# might write, as sqlite3 does. Here all that can be written is one program's alone, in memory, and the rest is
# everybody's, whose programs would wait for a lock. So there is nothing to do, and it is done.
DONE_AT_ONCE = ("fsync", "fdatasync", "sync_file_range", "fadvise64", "flock")
_DONE_USES = tuple(
    ("fcntl", 1, command) for command in (fcntl.F_SETLK, fcntl.F_SETLKW, fcntl.F_OFD_SETLK, fcntl.F_OFD_SETLKW)
)
_FIRST = 1  # the number of the process that waits for a submission's, in the namespace of both
# Of calls that are needed, what of them is not: to be told who opens a shown file, or have others wait until it may be
# opened; to change what becomes of a crash, which some systems hand to a program of their own; and to change what the
# process may do that waits for this one, which belongs to the same user.
_DENIED_USES = (
    *(("fcntl", 1, command) for command in (fcntl.F_NOTIFY, fcntl.F_SETLEASE)),
    ("setrlimit", 0, resource.RLIMIT_CORE),
    ("prlimit64", 0, _FIRST),
)
_LOWER = 0xFFFFFFFF  # the kernel looks at this half of such a number, and the other may hold anything
# Other families reach drivers or, as vsock does, the host of a virtual machine past the network namespace.
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
# Protocols of greater numbers than UDP's are modules, which the kernel loads as soon as somebody asks for them.
_KIND, _DATAGRAMS_WITH_CONGESTION = 0xF, 6  # the lower part of a socket's type; DCCP, which needs no number
_NEW_NAMESPACES = 0x7E020000  # every CLONE_NEW... flag that clone takes


@dataclass(frozen=True)
class Rules:
    """A filter as the kernel takes it: what libseccomp makes of its rules, which takes longer than a fork."""

    program: bytes

    def load(self) -> None:
        """Install it in this process, for good, and in all that the process starts."""
        filter_calls(self.program)


def compiled() -> Rules:
    """The filter, as a program that the kernel runs before each call."""
    with open(os.memfd_create("rules"), "w+b") as file:
        _listed().export_bpf(file)
        file.seek(0)
        return Rules(file.read())


def _listed() -> SyscallFilter:
    """All that is denied, rule by rule."""
    import pyseccomp  # raises where there is no libseccomp

    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    denied, done = pyseccomp.ERRNO(errno.EPERM), pyseccomp.ERRNO(0)
    for told, names, uses in ((denied, DENIED, _DENIED_USES), (done, DONE_AT_ONCE, _DONE_USES)):
        for name in names:
            if pyseccomp.resolve_syscall(pyseccomp.system_arch(), name) >= 0:
                rules.add_rule(told, name)
        for name, place, value in uses:
            rules.add_rule(told, name, _is(place, value))
    told_new = pyseccomp.Arg(2, pyseccomp.NE, 0)  # the same call tells what the limit is
    rules.add_rule(denied, "prlimit64", _is(1, resource.RLIMIT_CORE), told_new)
    for flag in (1 << bit for bit in range(32) if _NEW_NAMESPACES >> bit & 1):
        rules.add_rule(denied, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, flag, flag))
    # Its flags lie in memory, where no filter sees them; the C library falls back to clone.
    rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    _deny_sockets(rules, denied)
    return rules


def _deny_sockets(rules: SyscallFilter, denied: int) -> None:
    import pyseccomp

    for call in ("socket", "socketpair"):
        for family in range(64):
            if family not in _FAMILIES:
                rules.add_rule(denied, call, _is(0, family))
        rules.add_rule(denied, call, pyseccomp.Arg(1, pyseccomp.MASKED_EQ, _KIND, _DATAGRAMS_WITH_CONGESTION))
        rules.add_rule(denied, call, pyseccomp.Arg(2, pyseccomp.GT, socket.IPPROTO_UDP))


def _is(place: int, value: int) -> Any:
    """The condition that an argument has a value, as the kernel reads it."""
    import pyseccomp

    return pyseccomp.Arg(place, pyseccomp.MASKED_EQ, _LOWER, value)
