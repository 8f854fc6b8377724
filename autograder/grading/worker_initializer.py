"""The initializer of a pool's workers, in a module without large imports, because a worker imports it first."""

from __future__ import annotations

import signal
import sys

from autograder.faster_startup import block_slow_imports


def prepare_worker_process() -> None:
    """Prepare a worker process: ignore Ctrl-C, which its parent handles, and on Linux end when the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    block_slow_imports()
    if sys.platform == "linux":
        from autograder.sandbox.linux_calls import end_when_parent_ends

        end_when_parent_ends()
