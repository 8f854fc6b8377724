"""How a worker of a pool begins: told by a module that imports nothing large, for the first that a worker imports."""

from __future__ import annotations

import signal
import sys

from autograder.process_startup import block_slow_imports


def begin() -> None:
    """What a worker does first: leave Ctrl-C to the process that started it, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    block_slow_imports()
    if sys.platform == "linux":
        from autograder.sandbox.linux_calls import die_with_parent

        die_with_parent()
