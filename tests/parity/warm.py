"""Import torch once, and fork a Jupyter kernel for each line with a chapter and a connection file on standard input.

    python -m tests.parity.warm

A new kernel takes seconds to start, most of them for importing torch; a forked one has imported it already. The forked
process runs ipykernel's own kernel.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from functools import cache
from pathlib import Path

import matplotlib.pyplot  # noqa: F401  (so that kernels need not import it)
import numpy  # noqa: F401
import torch
from ipykernel.kernelapp import IPKernelApp

from tests.our_course import COURSE


def main() -> None:
    """Fork a kernel for each line of standard input, until it ends."""
    torch.set_num_threads(1)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # this process does not wait for the kernels
    for line in sys.stdin:
        chapter, connection = line.strip().split(" ", 1)
        _make_ready(chapter)
        child = os.fork()
        if child == 0:
            _be_a_kernel(Path(connection))
        print(child, flush=True)


@cache
def _make_ready(chapter: str) -> None:
    COURSE.exercises(chapter)
    COURSE.keys(chapter)
    gc.collect()
    gc.freeze()


def _be_a_kernel(connection: Path) -> None:
    os.setsid()
    os.chdir(connection.parent)
    os.environ["IPYTHONDIR"] = str(connection.parents[1])
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    try:
        IPKernelApp.launch_instance(argv=["-f", str(connection), "--IPKernelApp.capture_fd_output=False"])
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
