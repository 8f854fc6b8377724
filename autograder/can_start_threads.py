"""Say whether this Python can start threads and processes, which a browser's Python cannot; read a thread's clock.

Code in a student's notebook asks here first, and works without threads or processes if there are none. The first call
tries to start one and keeps the result; the platform's name is not used.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import cache, partial


@cache
def can_start_threads() -> bool:
    """Return whether a thread can be started here; the first call starts one that does nothing."""
    return _starts(threading.Thread(target=bool, name="trial", daemon=True))


def start_thread(thread: threading.Thread) -> bool:
    """Start a thread and return whether it runs; False where none can be started."""
    return can_start_threads() and _starts(thread)


def join_thread(thread: threading.Thread) -> None:
    """Wait until a thread ends; return at once if it was never started."""
    if thread.ident is not None:
        thread.join()


@cache
def can_start_processes() -> bool:
    """Return whether a process can be started here; the first call starts a Python that ends at once."""
    try:
        return subprocess.run([sys.executable, "-I", "-S", "-c", ""], capture_output=True, check=False).returncode == 0
    except (OSError, RuntimeError, ValueError):  # ValueError: a Python without an executable of its own
        return False


def _starts(thread: threading.Thread) -> bool:
    try:
        thread.start()
    except (RuntimeError, OSError):
        return False
    return True


def thread_clock(thread: int) -> Callable[[], float]:
    """Return a function that reads the CPU time of a thread, or the time where the system has no such clock.

    It goes on reading it while a probe replaces the functions of `time`.
    """
    linux = sys.platform == "linux"
    return partial(time.clock_gettime, time.pthread_getcpuclockid(thread)) if linux else time.monotonic
