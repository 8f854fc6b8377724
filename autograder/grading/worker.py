"""What a worker process does before anything else: this module is the first that it imports, so it imports little."""

from __future__ import annotations

import signal
import sys

from autograder.startup import spare_grammar


def begin() -> None:
    """Leave Ctrl-C to the process that started this one, end with it, and spare what no worker needs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    spare_grammar()
    if sys.platform == "linux":
        from autograder.walls.linux import die_with_parent

        die_with_parent()
