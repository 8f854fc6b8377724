"""Attacks that code inside the sandbox tries on the machine, each with its expected outcomes.

One run makes all attempts. The text of this file runs in the sandbox like a module, followed by a call of `all_tried`.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import platform
import resource
import signal
import socket
import stat
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
# System call numbers of x86-64; on other processors the tests leave out the attempts that use them.
CALLS = {
    "fcntl": 72,
    "getpid by x32": 0x40000000 + 39,
    "inotify_init": 253,
    "inotify_init1": 294,
    "io_setup": 206,
    "io_uring_setup": 425,
    "ioprio_set": 251,
    "keyctl": 250,
    "memfd_create": 319,
    "modify_ldt": 154,
    "mq_open": 240,
    "name_to_handle_at": 303,
    "perf_event_open": 298,
    "personality": 135,
    "pidfd_getfd": 438,
    "prlimit64": 302,
    "ptrace": 101,
    "quotactl": 179,
    "quotactl_fd": 443,
    "reboot": 169,
    "socket": 41,
    "socketpair": 53,
    "sync": 162,
    "userfaultfd": 323,
}
HIGH = 1 << 32  # the kernel uses only the lower half of an argument that is no address


def call(name: str, *arguments: object) -> str:
    """Make a system call without a wrapper of the C library; return "done", or the error's name and message."""
    wide = [ctypes.c_ulong(each) if isinstance(each, int) else each for each in arguments]
    if LIBC.syscall(CALLS[name], *wide) >= 0:
        return "done"
    number = ctypes.get_errno()
    return f"{type(OSError(number, '')).__name__}: {os.strerror(number)}"


def written(path: str, text: str) -> str:
    """Write a text to a file of the kernel's (below /proc or /sys)."""
    with open(path, "w") as file:
        file.write(text)
    return "done"


def apart(work: object) -> str:
    """Run `work` in a child process, which it may kill, and return how the child ended."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if work() == "done" else 1)  # type: ignore[operator]
        except BaseException:
            os._exit(1)
    return f"ended with {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}"


def shared_file() -> int:
    """Open a file that the grader's own process uses as well."""
    return os.open(os.__file__, os.O_RDONLY)


def thirty_two_bits() -> str:
    """Call getpid through the 32-bit interface: machine code for `mov eax, 20; int 0x80`."""
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("53b814000000cd805bc3"))
    begin = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return "done" if ctypes.CFUNCTYPE(ctypes.c_int)(begin)() > 0 else "refused"


# The name of each attempt: its code, and the possible beginnings of its outcome.
REFUSED, NOT_THERE = "PermissionError", "FileNotFoundError"
ATTEMPTS: dict[str, tuple[str, str | tuple[str, ...]]] = {
    "memory that no limit counts": ("os.memfd_create('x')", REFUSED),
    "the same, by number": ("call('memfd_create', b'x', 0)", REFUSED),
    "to be told what others open": ("call('inotify_init1', 0)", REFUSED),
    "the same, as it once was": ("call('inotify_init')", REFUSED),
    "to be signalled what others open": (
        "fcntl.fcntl(os.open('/usr', os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS)",
        REFUSED,
    ),
    "the same, by a number whose upper half the kernel ignores": (
        "call('fcntl', os.open('/usr', os.O_RDONLY), fcntl.F_NOTIFY + HIGH, 1)",
        REFUSED,
    ),
    "to have others wait for a file": ("fcntl.fcntl(shared_file(), fcntl.F_SETLEASE, fcntl.F_RDLCK)", REFUSED),
    "to have them wait to read it": ("fcntl.fcntl(shared_file(), fcntl.F_SETLEASE, fcntl.F_WRLCK)", REFUSED),
    "crashes for the system's own program": ("resource.getrlimit(resource.RLIMIT_CORE)", "(1, 1)"),
    "the same, by a limit of none": ("resource.setrlimit(resource.RLIMIT_CORE, (0, 1))", ("ValueError", REFUSED)),
    "a limit of none, by such a number": (
        "call('prlimit64', 0, resource.RLIMIT_CORE + HIGH, (ctypes.c_ulong * 2)(), 0)",
        REFUSED,
    ),
    "not to be the first that is killed": ("written('/proc/self/oom_score_adj', '0')", (REFUSED, "OSError")),
    "the same, a little": ("written('/proc/self/oom_score_adj', '999')", (REFUSED, "OSError")),
    "to keep everybody's disk busy": ("call('sync')", REFUSED),
    "another table of calls": ("apart(lambda: call('getpid by x32'))", ("ended with -31", "ended with 1")),
    "such a number for another network": ("call('socket', 40 + HIGH, socket.SOCK_STREAM, 0)", REFUSED),
    "such a number for the kernel's messages": ("call('socket', 16 + HIGH, socket.SOCK_RAW, 0)", REFUSED),
    "every other family": (
        "[f for f in range(64) if f not in (1, 2, 10) and call('socket', f, 1, 0) == 'done']",
        "[]",
    ),
    "pairs of every other family": (
        "[f for f in range(64) if f not in (1, 2, 10) and 'Permission' not in call('socketpair', f, 1, 0, 0)]",
        "[]",
    ),
    "a protocol that the kernel would load": ("call('socket', socket.AF_INET, socket.SOCK_STREAM, 132)", REFUSED),
    "the same, by its kind": ("call('socket', socket.AF_INET6, 6 + socket.SOCK_CLOEXEC, 0)", REFUSED),
    "the same, over several ways": ("call('socket', socket.AF_INET, socket.SOCK_STREAM, 262)", REFUSED),
    "packets made by hand": ("socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", REFUSED),
    "to compute before all others": ("os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))", REFUSED),
    "a right to do so": (
        "resource.getrlimit(resource.RLIMIT_RTPRIO), resource.getrlimit(resource.RLIMIT_NICE)",
        "((0, 0), (0, 0))",
    ),
    "the signals that wait, of which a user may have so many": (
        "resource.getrlimit(resource.RLIMIT_SIGPENDING)",
        "(1024, 1024)",
    ),
    "to be preferred": ("os.setpriority(os.PRIO_PROCESS, 0, -20)", REFUSED),
    "another time": ("time.clock_settime(time.CLOCK_REALTIME, 0)", REFUSED),
    "another name of the machine": ("socket.sethostname('mine')", REFUSED),
    "keys of the teacher's session": ("call('keyctl', 11, -3 % 2**64, 0, 0)", REFUSED),
    "to set how the kernel works": (
        "written('/proc/sys/kernel/core_pattern', '|/tmp/x')",
        (REFUSED, "OSError", NOT_THERE),
    ),
    "to press its emergency key": ("written('/proc/sysrq-trigger', 'b')", (REFUSED, "OSError", NOT_THERE)),
    "the machine's memory": ("open('/proc/kcore', 'rb').read(1)", (REFUSED, "OSError", NOT_THERE)),
    "the kernel's log": ("open('/proc/kmsg', 'rb')", (REFUSED, "OSError", NOT_THERE)),
    "the first one's files": ("os.listdir('/proc/1/root')", REFUSED),
    "the first one's descriptors": ("os.listdir('/proc/1/fd')", REFUSED),
    "a copy of one": ("call('pidfd_getfd', os.pidfd_open(1), 0, 0)", REFUSED),
    "to interrupt the first one": (
        "[os.kill(1, n) for n in (2, 3, 15)], time.sleep(0.1), open('/proc/1/stat').read().split()[2]",
        (REFUSED, "([None, None, None], None, 'S')"),
    ),
    "to take its limits away": ("resource.prlimit(1, resource.RLIMIT_NOFILE, (3, 3))", REFUSED),
    "to stop the first one": (
        "os.kill(1, signal.SIGSTOP), open('/proc/1/stat').read().split()[2]",
        (REFUSED, "(None, 'S')"),
    ),
    "a file by its number": ("call('name_to_handle_at', -100 % 2**64, b'/', 0, 0, 0)", REFUSED),
    "another root": ("os.chroot('.')", REFUSED),
    "to be root": ("os.setresuid(0, 0, 0)", (REFUSED, "OSError")),
    "root's groups": ("os.setgroups([0])", REFUSED),
    "a disk": ("os.mknod('disk', stat.S_IFBLK | 0o600, os.makedev(8, 0))", REFUSED),
    "the interpreter under another name": ("os.link(sys.executable, 'python')", ("OSError", REFUSED)),
    "to open it for writing": ("os.open(os.path.realpath(sys.executable), os.O_RDWR)", ("OSError", REFUSED)),
    "to give it another time": ("os.utime(os.__file__)", ("OSError", REFUSED)),
    "a program of root's": (
        "os.spawnv(os.P_WAIT, '/usr/bin/su', ['su', '-c', 'true']) if os.path.exists('/usr/bin/su') else 1",
        ("1", "126", "127"),
    ),
    "a file that takes no room yet": ("os.truncate(os.open('sparse', os.O_CREAT | os.O_RDWR), 2**40)", "OSError"),
    "a queue of messages": ("call('mq_open', b'x', os.O_CREAT | os.O_RDWR, 0o600, 0)", ("OSError", REFUSED, NOT_THERE)),
    "a map of everything": ("mmap.mmap(-1, 2**40)", ("OSError", "MemoryError")),
    "more memory than that": ("resource.setrlimit(resource.RLIMIT_AS, (2**50, 2**50))", ("ValueError", REFUSED)),
    "more processes than those": ("resource.setrlimit(resource.RLIMIT_NPROC, (4096, 4096))", ("ValueError", REFUSED)),
    "the teacher's secrets in the environment": (
        "[name for name in os.environ if 'SECRET' in name], b'SECRET' in open('/proc/self/environ', 'rb').read()",
        "([], False)",
    ),
    "connections of the machine": (
        "len(open('/proc/self/net/tcp').readlines()), len(open('/proc/self/net/unix').readlines())",
        "(1, 1)",
    ),
    "the name of the machine": ("platform.node(), socket.gethostname()", "('localhost', 'localhost')"),
    "a table of calls of thirty-two bits": (
        "apart(thirty_two_bits)",
        ("ended with -31", "ended with -11", "ended with 1"),
    ),
    "the devices' own folders": (
        "[path for path in ('/sys', '/run', '/dev/pts', '/dev/tty', '/dev/mem', '/var') if os.path.exists(path)]",
        "[]",
    ),
    "groups of processes": ("os.path.exists('/sys/fs/cgroup')", "False"),
    "to type for the teacher": ("[fcntl.ioctl(fd, 0x5412, b'x') for fd in (0, 1, 2)]", "OSError"),
    "to trace": ("call('ptrace', 0, 0, 0, 0)", REFUSED),
    "the machine's counters": ("call('perf_event_open', 0, 0, -1 % 2**64, -1 % 2**64, 0)", REFUSED),
    "the kernel's other door": ("call('io_uring_setup', 1, 0)", REFUSED),
    "faults of its own": ("call('userfaultfd', 0)", REFUSED),
    "old segments": ("call('modify_ldt', 0, 0, 0)", REFUSED),
    "addresses that can be guessed": ("call('personality', 0x0040000)", REFUSED),
    "to switch off": ("call('reboot', 0xFEE1DEAD, 672274793, 0x4321FEDC, 0)", REFUSED),
    "others' share of the disk": ("call('quotactl', 0, 0, 0, 0)", REFUSED),
    "the same, by the call's second name": ("call('quotactl_fd', os.open('/usr', os.O_RDONLY), 0, 0, 0)", REFUSED),
    "requests to the disk, of which the machine has so many": (
        "call('io_setup', 60_000, ctypes.byref(ctypes.c_ulong(0)))",
        REFUSED,
    ),
    "to be served by the disk before others": ("call('ioprio_set', 1, 0, 2 << 13)", REFUSED),
    "to give a device that all programs open another time": ("os.utime('/dev/null')", "OSError: [Errno 30]"),
}

# Behind Landlock, as in containers, some attempts come to other outcomes: their beginnings, and the outcome in words.
NO_PROCESS, NO_NETWORK = "BlockingIOError: [Errno 11]", ("OSError: Network is unreachable", "OSError: [Errno 101]")
NOTHING_DONE, EXISTENCE_SEEN = "does nothing", "is seen to exist; cannot be read"
BEHIND_LANDLOCK: dict[str, tuple[str | tuple[str, ...], str]] = {
    "another table of calls": (NO_PROCESS, "refused"),
    "a table of calls of thirty-two bits": (NO_PROCESS, "refused"),
    "a program of root's": ((NO_PROCESS, "1"), "refused"),
    "such a number for another network": (NO_NETWORK, "refused"),
    "such a number for the kernel's messages": (NO_NETWORK, "refused"),
    "a protocol that the kernel would load": (NO_NETWORK, "refused"),
    "the same, by its kind": (NO_NETWORK, "refused"),
    "the same, over several ways": (NO_NETWORK, "refused"),
    "packets made by hand": (NO_NETWORK, "refused"),
    "the teacher's secrets in the environment": (REFUSED, "refused"),
    "connections of the machine": (REFUSED, "refused"),
    "to give it another time": ("None", NOTHING_DONE),
    "to give a device that all programs open another time": ("None", NOTHING_DONE),
    "the devices' own folders": ("[", EXISTENCE_SEEN),
    "groups of processes": (("True", "False"), EXISTENCE_SEEN),
}


def all_tried() -> dict[str, str]:
    """Make every attempt; return the text of its result, or of its error."""
    seen = {}
    for name, (text, _) in ATTEMPTS.items():
        try:
            seen[name] = str(eval(text))
        except BaseException as error:
            seen[name] = f"{type(error).__name__}: {error}"
    return seen


assert all((fcntl, mmap, platform, resource, signal, socket, stat, sys, time))  # for linters: the attempts use them
