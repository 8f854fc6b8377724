"""Measure a command: wall time, CPU time of all its processes, and the most memory they use at one moment."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped,unused-ignore]

from autograder.errors import WorkFailed

_PAUSE = 0.5  # seconds between two readings of the memory
_SOON = 0.02  # seconds between two searches for a file


@dataclass(frozen=True)
class Measured:
    """The measured cost of one command for `size` submissions; memory is in MB, and shared pages count once (PSS).

    `first_seconds` is the time in seconds until the first file that `python` waited for existed; 0 if it never did.
    """

    size: int
    wall_seconds: float
    cpu_seconds: float
    peak_pss_mb: float
    first_seconds: float = 0.0

    @property
    def wall(self) -> float:
        """Seconds of wall time per submission."""
        return self.wall_seconds / self.size

    @property
    def cpu(self) -> float:
        """Seconds of CPU time per submission."""
        return self.cpu_seconds / self.size

    def to_json(self) -> dict[str, float]:
        """Return plain data, with the figures per submission."""
        return {name: round(value, 4) for name, value in asdict(self).items()} | {
            "wall_per_submission": round(self.wall, 4),
            "cpu_per_submission": round(self.cpu, 4),
        }


def python(arguments: Sequence[str], folder: Path, size: int, first: str = "") -> Measured:
    """Run `python -P -m ARGUMENTS` in a folder and return its cost; raises WorkFailed with its last output if it fails.

    The CPU time is that of all descendants whose parents waited for them, the confined ones included. `first` is a
    pattern of files, none of which exists yet; the time until the first of them exists becomes `first_seconds`.
    """
    paths = [str(Path(__file__).resolve().parents[2]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    begun, before = time.monotonic(), _cpu_of_children()
    with subprocess.Popen(
        [sys.executable, "-P", "-m", *arguments],
        cwd=folder,
        env=dict(os.environ) | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        memory, waiting = _Memory(process.pid), _First(folder, first)
        _, complaints = process.communicate()
        peak, came = memory.stop(), waiting.stop()
    if process.returncode != 0:
        last = complaints.strip().splitlines()[-1:]
        raise WorkFailed(f"`python -m {' '.join(arguments)}` ended with {process.returncode}: {' '.join(last)}")
    return Measured(size, time.monotonic() - begun, _cpu_of_children() - before, peak, came)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Memory:
    """Reads the memory of a process and its descendants again and again until `stop`."""

    def __init__(self, pid: int) -> None:
        self._root, self._peak, self._over = psutil.Process(pid), 0.0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.wait(_PAUSE):
            self._peak = max(self._peak, sum(map(_pss_mb, self._tree())))

    def _tree(self) -> list[psutil.Process]:
        try:
            return [self._root, *self._root.children(recursive=True)]
        except psutil.Error:
            return []

    def stop(self) -> float:
        """Stop reading, and return the largest value in MB."""
        self._over.set()
        self._thread.join()
        return self._peak


class _First:
    """Searches for the first file that matches a pattern until `stop`."""

    def __init__(self, folder: Path, pattern: str) -> None:
        self._folder, self._pattern, self._over = folder, pattern, threading.Event()
        self._begun, self._came = time.monotonic(), 0.0
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while self._pattern and not self._came and not self._over.wait(_SOON):
            if any(True for _ in self._folder.glob(self._pattern)):
                self._came = time.monotonic() - self._begun

    def stop(self) -> float:
        """Stop searching, and return the seconds until the file existed; 0 if it never did."""
        self._over.set()
        self._thread.join()
        return self._came


def _pss_mb(process: psutil.Process) -> float:
    try:
        return float(process.memory_full_info().pss) / 2**20
    except (psutil.Error, AttributeError):  # it has ended, or the system does not report it
        return 0.0
