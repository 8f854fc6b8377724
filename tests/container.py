"""Run a command as in a container with Docker's default profile: no new namespaces, and nothing is mounted.

    python -m tests.container COMMAND ...

A simulation by a filter on system calls: the root file system and the limits stay those of the machine.
"""

from __future__ import annotations

import errno
import os
import sys

import pyseccomp

from autograder.sandbox.linux_calls import Namespace

_DENIED = ("unshare", "setns", "mount", "umount2", "pivot_root", "move_mount", "open_tree", "fsopen", "fsmount")


def main(words: list[str]) -> None:
    """Replace this process by the command, which keeps the filter."""
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    denied = pyseccomp.ERRNO(errno.EPERM)
    for name in _DENIED:
        rules.add_rule(denied, name)
    for kind in Namespace:
        rules.add_rule(denied, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, int(kind), int(kind)))
    rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")  # its flags are in memory, where no filter looks
    rules.load()
    os.execvp(words[0], words)


if __name__ == "__main__":
    main(sys.argv[1:])
