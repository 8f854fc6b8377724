"""Build the seccomp filter that denies confined code dangerous system calls.

Denied are calls that ordinary computing does not need and that have often led to privilege escalation or reach other
processes. A denied call fails with "not permitted" (`clone3` as unknown, so that libc uses `clone`), and the program
goes on; calls such as `fsync` and `flock` succeed and do nothing. libseccomp compiles the filter once for
all children. `seccomp_rules_without_namespaces.py` adds what is denied to a process that shares its namespaces with
the machine.
"""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import socket
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.sandbox.linux_calls import install_seccomp_filter
from autograder.sandbox.seccomp_rules_without_namespaces import (
    OWN_PROCESS_ID_PLACEHOLDER,
    add_lone_process_rules,
    argument_equals,
)

if TYPE_CHECKING:
    from pyseccomp import SyscallFilter

# Namespaces and mounts; other processes' memory; interfaces to the kernel itself; and memory that belongs to no
# process: no limit counts it, and it remains when the process that created it is killed for using too much.
DENIED_CALLS = (
    *("mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount"),
    *("fspick", "mount_setattr", "unshare", "setns"),
    *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "process_madvise"),
    *("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("keyctl", "add_key", "request_key", "fanotify_init", "quotactl", "acct", "swapon", "swapoff", "reboot"),
    *("kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "open_by_handle_at"),
    *("name_to_handle_at", "personality", "iopl", "ioperm", "settimeofday", "clock_settime", "adjtimex"),
    *("syslog", "vhangup", "lookup_dcookie", "nfsservctl", "memfd_secret", "landlock_create_ruleset"),
    *("shmget", "msgget", "semget", "memfd_create"),
    # Calls that report the use of shown files by other processes, and calls that make the machine's disk busy.
    *("inotify_init", "inotify_init1", "fanotify_mark", "clock_adjtime", "sync", "syncfs", "modify_ldt"),
    # A resource that the whole machine shares (io_setup), the priority at its disk, and a second form of quotactl.
    *("io_setup", "ioprio_set", "quotactl_fd"),
)
# These calls return success and do nothing. Careful programs such as sqlite3 wait until a file is on the disk, and lock
# files that others might write. Here, the files that a program can write are in memory and its own; and a lock on a
# shown file would make other programs on the machine wait.
NO_OP_CALLS = ("fsync", "fdatasync", "sync_file_range", "fadvise64", "flock")
_NO_OP_USES = tuple(
    ("fcntl", 1, command) for command in (fcntl.F_SETLK, fcntl.F_SETLKW, fcntl.F_OFD_SETLK, fcntl.F_OFD_SETLKW)
)
_FIRST = 1  # the process id of the first process, which waits for the inner one, in the PID namespace of both
# Denied uses of calls that are otherwise needed, as (call, index of the argument, its value): notifications and leases
# on shown files (a lease makes others wait until they can open a file); the limit for core dumps, which some systems
# pipe to a crash handler outside; and the limits of the first process, which belongs to the same user.
_DENIED_USES = (
    *(("fcntl", 1, command) for command in (fcntl.F_NOTIFY, fcntl.F_SETLEASE)),
    ("setrlimit", 0, resource.RLIMIT_CORE),
    ("prlimit64", 0, _FIRST),
)
# Other families reach drivers or, as vsock does, the host of a virtual machine, past the network namespace.
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
# Protocols with numbers above UDP's are kernel modules, which the kernel loads when a process asks for such a socket.
_SOCKET_TYPE_MASK, _SOCK_DCCP = 0xF, 6  # DCCP can be asked for by its socket type alone, without a protocol number
_NEW_NAMESPACES = 0x7E020000  # every CLONE_NEW... flag that clone takes
_INSTRUCTION = struct.Struct("=HBBI")  # of a filter program; the last number is what is compared


@dataclass(frozen=True)
class SeccompFilter:
    """A compiled filter, in which `load` puts in the process's id. Compiling takes longer than a fork."""

    program: bytes

    def load(self) -> None:
        """Install the filter in this process and in all processes that it starts; it cannot be removed."""
        own = (
            _INSTRUCTION.pack(*head, os.getpid() if number == OWN_PROCESS_ID_PLACEHOLDER else number)
            for *head, number in _INSTRUCTION.iter_unpack(self.program)
        )
        install_seccomp_filter(b"".join(own))


def compile_filter(*, lone: bool = False) -> SeccompFilter:
    """Compile the filter into the program that the kernel runs before each system call.

    With `lone`, it is for a process that shares its namespaces with the machine: it may start no other processes.
    """
    with open(os.memfd_create("rules"), "w+b") as file:
        _rules(lone).export_bpf(file)
        file.seek(0)
        return SeccompFilter(file.read())


def _rules(lone: bool) -> SyscallFilter:
    """Return the filter's rules, not yet compiled."""
    import pyseccomp  # raises an error on machines without libseccomp

    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    denied, done = pyseccomp.ERRNO(errno.EPERM), pyseccomp.ERRNO(0)
    for action, names, uses in ((denied, DENIED_CALLS, _DENIED_USES), (done, NO_OP_CALLS, _NO_OP_USES)):
        for name in names:
            if pyseccomp.resolve_syscall(pyseccomp.system_arch(), name) >= 0:
                rules.add_rule(action, name)
        for name, position, value in uses:
            rules.add_rule(action, name, argument_equals(position, value))
    sets_limit = pyseccomp.Arg(2, pyseccomp.NE, 0)  # without a new limit, the call only reads the old one
    rules.add_rule(denied, "prlimit64", argument_equals(1, resource.RLIMIT_CORE), sets_limit)
    for flag in (1 << bit for bit in range(32) if _NEW_NAMESPACES >> bit & 1):
        rules.add_rule(denied, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, flag, flag))
    # The flags of clone3 are in memory, where a filter cannot read them. After ENOSYS, the C library uses clone.
    rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    _deny_sockets(rules, denied, ("socketpair",) if lone else ("socket", "socketpair"))
    if lone:
        add_lone_process_rules(rules)
    return rules


def _deny_sockets(rules: SyscallFilter, denied: int, calls: tuple[str, ...]) -> None:
    import pyseccomp

    for call in calls:
        for family in range(64):
            if family not in _FAMILIES:
                rules.add_rule(denied, call, argument_equals(0, family))
        rules.add_rule(denied, call, pyseccomp.Arg(1, pyseccomp.MASKED_EQ, _SOCKET_TYPE_MASK, _SOCK_DCCP))
        rules.add_rule(denied, call, pyseccomp.Arg(2, pyseccomp.GT, socket.IPPROTO_UDP))
