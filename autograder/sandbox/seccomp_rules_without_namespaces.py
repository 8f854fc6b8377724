"""Rules of the seccomp filter for a process that shares the machine's namespaces, and whose files Landlock guards.

Without namespaces, other processes, their sockets and their memory have names here, and the process may belong to the
user who grades. So it may start no process, only threads, and reach none: then nothing can outlive it, and its id is
the only one that it may send signals to. Landlock leaves open what is not the reading or writing of a file, such as
changing its mode. Denied too are calls that newer kernels add, since nobody has looked at them.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyseccomp import SyscallFilter

OWN_PROCESS_ID_PLACEHOLDER = (
    0x7F3A5C19  # stands for the process's own id in a compiled filter, since it is compiled before the fork
)
# Processes and their properties; named sockets and messages to them; memory and queues that the machine shares; the
# machine's name; owners of files, and a way to shorten files that old versions of Landlock do not see.
_DENIED = (
    *("tkill", "pidfd_send_signal", "move_pages", "migrate_pages", "process_mrelease", "get_robust_list"),
    *("bind", "connect", "listen", "sendmsg", "sendmmsg", "mq_open", "mq_unlink", "uname", "truncate"),
    *("shmat", "shmctl", "msgsnd", "msgrcv", "msgctl", "semop", "semtimedop", "semctl"),
    *("chown", "fchown", "lchown", "fchownat"),
)
# Programs that copy files also set modes and times. Here, nobody but this process can see the files that it may write.
_WITHOUT_EFFECT = ("chmod", "fchmod", "fchmodat", "fchmodat2", "utime", "utimes", "futimesat", "utimensat")
_ATTRIBUTES = tuple(f"{kind}{verb}xattr" for kind in ("", "l", "f") for verb in ("set", "get", "list", "remove"))
_TO_ITSELF = ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")  # the first argument is a process id
_OF_ITSELF = ("prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr")  # here 0
_PRIORITY_OF_A_USER = 2
# Denied uses of calls, as (call, index of the argument, its value): to outlive the waiting process (PR_SET_PDEATHSIG),
# to hide from it (PR_SET_DUMPABLE); to choose which process gets a signal, and which signal, when a pipe can be read
# (F_SETOWN, F_SETSIG, F_SETOWN_EX).
_DENIED_USES = (
    *(("prctl", 0, option) for option in (1, 4)),
    *(("fcntl", 1, command) for command in (8, 10, 15)),
    ("setpriority", 0, _PRIORITY_OF_A_USER),
)
# A thread has all three flags of clone: the same memory, the same descriptors, the same process.
_THREAD_FLAGS = (0x100, 0x400, 0x10000)
# Of ioctl, only requests about terminals and descriptors are left: others change files that are open for reading.
_FIRST_REQUEST, _LAST_REQUEST = 0x5401, 0x5460
_FIRST_UNKNOWN_CALL, _MOST_CALLS = 454, 512  # from 424 on, all processors have the same numbers
_LOWER_BITS = 0xFFFFFFFF  # the kernel reads only the lower 32 bits of these arguments; the upper ones may hold anything


def argument_equals(position: int, value: int) -> Any:
    """Return the condition that the lower half of the argument at this position equals `value`."""
    import pyseccomp

    return pyseccomp.Arg(position, pyseccomp.MASKED_EQ, _LOWER_BITS, value)


def add_lone_process_rules(rules: SyscallFilter) -> None:
    """Add the rules for a process that is alone, and reaches no other one."""
    import pyseccomp

    denied, done, unsupported = (pyseccomp.ERRNO(each) for each in (errno.EPERM, 0, errno.ENOTSUP))
    for action, names in ((denied, _DENIED), (done, _WITHOUT_EFFECT), (unsupported, _ATTRIBUTES)):
        for name in names:
            _add(rules, action, name)
    for name in _TO_ITSELF:
        _add(rules, denied, name, pyseccomp.Arg(0, pyseccomp.NE, OWN_PROCESS_ID_PLACEHOLDER))
    for name, position in (*((name, 0) for name in _OF_ITSELF), ("setpriority", 1)):
        _add(rules, denied, name, pyseccomp.Arg(position, pyseccomp.NE, 0))
    for name, position, value in _DENIED_USES:
        _add(rules, denied, name, argument_equals(position, value))
    _add(rules, pyseccomp.ERRNO(errno.ENOTTY), "ioctl", pyseccomp.Arg(1, pyseccomp.LT, _FIRST_REQUEST))
    _add(rules, pyseccomp.ERRNO(errno.ENOTTY), "ioctl", pyseccomp.Arg(1, pyseccomp.GT, _LAST_REQUEST))
    # As on a machine without a network. A pair of sockets has no names, so no address may be given with a message.
    _add(rules, pyseccomp.ERRNO(errno.ENETUNREACH), "socket")
    _add(rules, denied, "sendto", pyseccomp.Arg(4, pyseccomp.NE, 0))
    _deny_processes(rules, pyseccomp.ERRNO(errno.EAGAIN))
    _deny_odd_opening(rules, denied)
    for number in range(_FIRST_UNKNOWN_CALL, _MOST_CALLS):
        rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), number)


def _deny_processes(rules: SyscallFilter, action: int) -> None:
    """Deny every kind of fork, as a full table of processes would; threads can be started."""
    import pyseccomp

    for name in ("fork", "vfork"):
        _add(rules, action, name)
    mask = sum(_THREAD_FLAGS)
    for chosen in range(2 ** len(_THREAD_FLAGS) - 1):
        flags = sum(flag for bit, flag in enumerate(_THREAD_FLAGS) if chosen >> bit & 1)
        _add(rules, action, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, mask, flags))


def _deny_odd_opening(rules: SyscallFilter, denied: int) -> None:
    """Deny opening a file so that it is emptied but not written: old versions of Landlock ask for no right to write."""
    import pyseccomp

    for name, position in (("open", 1), ("openat", 2)):
        for mask, flags in ((os.O_ACCMODE | os.O_TRUNC, os.O_TRUNC), (os.O_ACCMODE, os.O_ACCMODE)):
            _add(rules, denied, name, pyseccomp.Arg(position, pyseccomp.MASKED_EQ, mask, flags))
    _add(rules, pyseccomp.ERRNO(errno.ENOSYS), "openat2")  # its flags are in memory, where a filter cannot read them


def _add(rules: SyscallFilter, action: int, name: str, *conditions: Any) -> None:
    """Add a rule, unless this processor has no such call."""
    import pyseccomp

    if pyseccomp.resolve_syscall(pyseccomp.system_arch(), name) >= 0:
        rules.add_rule(action, name, *conditions)
