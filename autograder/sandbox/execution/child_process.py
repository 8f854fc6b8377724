"""What the grader knows of a process that runs submissions, however it was started."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from weakref import WeakSet

from autograder.errors import WorkFailed

ENDED_EARLY = "it ended before it was ready"
_begun = WeakSet[subprocess.Popen[bytes]]()


def begun(process: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]:
    """Remember a process that runs submissions, or is to."""
    _begun.add(process)
    return process


def kill_all() -> None:
    """End all processes that run submissions for this one: whoever waits for one of them waits no longer."""
    for process in list(_begun):
        process.kill()


def failed(what: str, complaints: Path, remedy: str) -> WorkFailed:
    """The error for a process of ours that did not do its work; `complaints` is the file of what it told."""
    told = complaints.read_text(errors="replace").strip().splitlines()
    last = f" Its last words: {told[-1].rstrip('.')}." if told else ""
    return WorkFailed(f"the process that runs submissions {what}.{last} Nothing was graded. {remedy}")


def cpu_seconds(pid: int) -> float:
    """The CPU time of another process, 0 where it has ended (Linux; the clock's number is that of CPUCLOCK_SCHED)."""
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0


def environment(home: Path) -> dict[str, str]:
    """The whole environment of a child: nothing of the teacher's but what finds libraries."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return kept | {
        "HOME": str(home),
        "TMPDIR": str(home),
        "IPYTHONDIR": str(home),
        "MPLBACKEND": "agg",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(Path(__file__).resolve().parents[3]),
        # The scratch folder must not be searched for modules: a file torch.py there would be imported.
        "PYTHONSAFEPATH": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        # Behind the walls a user has no name, and torch 2.11 asks for one when it first optimizes.
        "USER": "student",
        # Grading is on the CPU. Where torch finds a card, its first backward pass starts a thread for it, and from a
        # process with two threads no child can be forked.
        "CUDA_VISIBLE_DEVICES": "",
        "HIP_VISIBLE_DEVICES": "",
    }
