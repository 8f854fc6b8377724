"""A process that has torch ready, and forks a Jupyter kernel for each chapter and connection file named to it.

    python -m tests.parity.warm

Starting a kernel from nothing takes seconds, most of it torch's import; what is forked is ipykernel's own kernel.
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
    """Fork until standard input ends."""
    torch.set_num_threads(1)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a kernel
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
