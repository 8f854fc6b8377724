"""Helpers for the grader's side of child processes: their environment, their CPU time, their errors, and their end."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from weakref import WeakSet

from autograder.errors import WorkFailed

ENDED_EARLY = "it ended before it was ready"
_registered = WeakSet[subprocess.Popen[bytes]]()


def register_child(process: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]:
    """Register a child process that runs submissions, so that `kill_children` can kill it; return the process."""
    _registered.add(process)
    return process


def kill_children() -> None:
    """Kill all registered child processes. Threads that wait for one of them then stop waiting."""
    for process in list(_registered):
        process.kill()


def child_failure(what: str, complaints: Path, remedy: str) -> WorkFailed:
    """Return the error for a child process that did not do its work.

    `what` continues the sentence "the process that runs submissions ...", `complaints` is the file with its stderr, and
    `remedy` says what to do next.
    """
    lines = complaints.read_text(errors="replace").strip().splitlines()
    last = f" Its last words: {lines[-1].rstrip('.')}." if lines else ""
    return WorkFailed(f"the process that runs submissions {what}.{last} Nothing was graded. {remedy}")


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of another process, or 0 if it has ended. Linux only.

    The clock's number is composed as the kernel's CPUCLOCK_SCHED for a process id.
    """
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0


def child_environment(home: Path) -> dict[str, str]:
    """Return all environment variables of a child: of the teacher's own, only those by which libraries are found."""
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
        # The confined user has no entry in /etc/passwd, and torch 2.11 looks up a user name when it first optimizes.
        "USER": "student",
        # Grading uses the CPU only. If torch finds a GPU, its first backward pass starts a thread for it, and a process
        # with two threads cannot fork a confined child.
        "CUDA_VISIBLE_DEVICES": "",
        "HIP_VISIBLE_DEVICES": "",
    }
