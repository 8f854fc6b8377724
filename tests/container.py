"""Run a command as in a container with Docker's default profile: no new namespaces, and nothing is mounted.

    python -m tests.container [--without-landlock] COMMAND ...

A simulation by a filter on system calls, and of root by fewer capabilities: the root file system and the limits stay
those of the machine. Without Landlock it is like an old kernel, and nothing can be confined.
"""

from __future__ import annotations

import errno
import os
import sys

import pyseccomp

from autograder.sandbox.linux_calls import Namespace, drop_from_capability_bounding_set

OLD_KERNEL = "--without-landlock"
_DENIED = ("unshare", "setns", "mount", "umount2", "pivot_root", "move_mount", "open_tree", "fsopen", "fsmount")


# Of root's capabilities, Docker leaves these: chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap,
# net_bind_service, net_raw, sys_chroot, mknod, audit_write, setfcap.
_KEPT = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)


def main(words: list[str]) -> None:
    """Replace this process by the command, which keeps the filter."""
    for capability in set(range(41)) - set(_KEPT) if os.geteuid() == 0 else ():
        drop_from_capability_bounding_set(capability)
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    denied = pyseccomp.ERRNO(errno.EPERM)
    for name in _DENIED:
        rules.add_rule(denied, name)
    for kind in Namespace:
        rules.add_rule(denied, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, int(kind), int(kind)))
    rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")  # its flags are in memory, where no filter looks
    if words[0] == OLD_KERNEL:
        rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "landlock_create_ruleset")
    rules.load()
    command = words[words[0] == OLD_KERNEL :]
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
