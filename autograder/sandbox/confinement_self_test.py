"""Try whether this machine can confine code. Run as a program, this module prints how, and why not better."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from autograder.sandbox.root_filesystem import RootFilesystem

_PACKAGE = Path(__file__).resolve().parents[1]
_processes: list[subprocess.Popen[str]] = []


def start_self_test() -> None:
    """Start the self-test in the background; `confinement_problem` waits for its result.

    A command that first imports much then has the result without waiting.
    """
    if sys.platform == "linux" and not _processes and not confinement_problem.cache_info().currsize:
        _processes.append(_started())


@lru_cache(maxsize=1)
def confinement_problem() -> str | None:
    """Return why this machine cannot confine code, or None if it can. The test runs once, in a process of its own."""
    if sys.platform != "linux":
        return f"confinement is written for Linux, and this is {sys.platform}"
    return _result_of(_processes.pop() if _processes else _started())


@lru_cache
def why_lesson_unreadable(lessons: tuple[Path, ...]) -> str | None:
    """Return why students' code could not read what chapters import, or None if it can.

    Only where root grades does that code run as another user, whom a umask of 027 or 077 keeps out.
    """
    return _result_of(_started(*map(str, lessons))) if sys.platform == "linux" and os.geteuid() == 0 else None


def _result_of(process: subprocess.Popen[str]) -> str | None:
    with process:
        try:
            _, stderr = process.communicate(timeout=60)
        finally:
            process.kill()
    if process.returncode == 0:
        return None
    lines = stderr.strip().splitlines()
    return lines[-1] if lines else f"a trial ended with exit code {process.returncode}"


def _started(*lessons: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "autograder.sandbox.confinement_self_test", *lessons],
        env=dict(os.environ) | {"PYTHONPATH": str(_PACKAGE.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def active_confinement() -> tuple[str, str]:
    """Return what confines code here (the `name` of a confinement), and why nothing stronger does.

    For machines that can confine code.
    """
    with _started() as process:
        stdout, _ = process.communicate(timeout=60)
    name, _, reason = stdout.partition("\n")
    return name, reason.strip()


def _run_self_test() -> int:
    from autograder.sandbox.choose_confinement import choose_confinement

    lessons = tuple(map(Path, sys.argv[1:]))
    choice = choose_confinement(RootFilesystem.for_this_interpreter(_PACKAGE, *lessons), lessons)
    if choice.walls is None:
        print(choice.reason, file=sys.stderr)
        return 1
    print(choice.walls.name, choice.reason, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(_run_self_test())
