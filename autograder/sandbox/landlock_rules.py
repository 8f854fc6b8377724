"""Restrict a process's files by Landlock: the interpreter and its packages can be read, and one folder be written."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Sequence

from autograder.sandbox.linux_calls import (
    add_landlock_rule,
    create_landlock_ruleset,
    enforce_landlock_ruleset,
    landlock_version,
)
from autograder.sandbox.root_filesystem import DEVICES

_WRITE, _READ, _LIST, _SHORTEN = 1 << 1, 1 << 2, 1 << 3, 1 << 14
_CONNECT, _SIGNAL = (
    0b11,
    0b11,
)  # TCP ports, to bind and to connect to; abstract sockets and signals, beyond this process
# Remove folders and files; create folders, files and symbolic links; link and move from folder to folder.
_CHANGE = 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 13
_OF_A_FILE = 1 << 0 | _WRITE | _READ | _SHORTEN | 1 << 15
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}  # from each version on, the kernel knows this number of rights with files
_CONNECT_SINCE, _SIGNAL_SINCE = 4, 6
# What torch, the C library and psutil ask the kernel about the machine and the process itself. The folders of other
# processes, the network and the mounts are not among them. Python's `mimetypes` expects to read what it can see.
_SMALL_FILES = (
    *(f"/proc/{name}" for name in ("cpuinfo", "meminfo", "stat", "loadavg", "uptime", "version", "filesystems")),
    *(f"/proc/self/{name}" for name in ("status", "stat", "statm", "maps", "limits", "cmdline", "fd")),
    *("/proc/sys/vm/overcommit_memory", "/etc/mime.types"),
)


def restrict_files(readable: Sequence[str], scratch: str) -> None:
    """Allow this process to read these files and folders, and to change what is in the folder `scratch`; nothing else.

    A rule holds for an inode, not for a path. So a path may be moved or replaced, which opens nothing else.
    """
    version = landlock_version()
    known = (1 << max(bits for since, bits in _FILE_RIGHTS.items() if since <= version)) - 1
    sets = (known, _CONNECT if version >= _CONNECT_SINCE else 0, _SIGNAL)
    ruleset = create_landlock_ruleset(*sets[: 1 + (version >= _CONNECT_SINCE) + (version >= _SIGNAL_SINCE)])
    try:
        for path in readable:
            _allow(ruleset, path, (_READ | _LIST) & known)
        for path in _SMALL_FILES:
            with contextlib.suppress(FileNotFoundError, PermissionError):  # containers hide some
                _allow(ruleset, path, _READ | _LIST)
        for name in DEVICES:
            _allow(ruleset, f"/dev/{name}", _READ | _WRITE)
        _allow(ruleset, scratch, (_READ | _LIST | _WRITE | _SHORTEN | _CHANGE) & known)
        enforce_landlock_ruleset(ruleset)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        is_folder = stat.S_ISDIR(os.fstat(place).st_mode)
        add_landlock_rule(ruleset, rights if is_folder else rights & _OF_A_FILE, place)
    finally:
        os.close(place)
