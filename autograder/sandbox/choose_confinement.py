"""Choose how to confine code on this machine: in namespaces, or where these cannot be had, by Landlock.

The choice is made by trying: a function runs confined as a submission would. Nothing else decides, no setting either.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox.landlock_confinement import LandlockConfinement, can_change_user
from autograder.sandbox.linux_calls import SYS_ADMIN, has_capability, landlock_version
from autograder.sandbox.namespace_confinement import Confinement, Quota
from autograder.sandbox.root_filesystem import RootFilesystem
from autograder.sandbox.seccomp_filter import compile_filter
from autograder.sandbox.try_confinement import find_confinement_problem

# Settings by which an ordinary user, which submissions run as, gets no namespaces; the value with which that is so.
_SETTINGS = {
    "user.max_user_namespaces": "0",
    "kernel.unprivileged_userns_clone": "0",
    "kernel.apparmor_restrict_unprivileged_userns": "1",
}


@dataclass(frozen=True)
class ConfinementChoice:
    """The strongest confinement that works here, if any; and in one line, why no stronger one does."""

    walls: Confinement | None
    reason: str


def choose_confinement(room: RootFilesystem, lessons: Sequence[Path] = ()) -> ConfinementChoice:
    """Try all confinements from the strongest on; return the first one behind which code can run and read `lessons`."""
    reasons: list[str] = []
    for walls in _walls(room):
        problem, error = _problem(walls, lessons)
        if problem is None:
            return ConfinementChoice(walls, reasons[0] if reasons else "")
        if problem and not reasons:  # there are namespaces; packages that cannot be read are mended, not hidden
            return ConfinementChoice(None, problem)
        reasons.append(_why_no_landlock(problem or error) if reasons else _why_no_namespaces(error))
    return ConfinementChoice(None, f"no namespaces ({reasons[0]}), and no Landlock ({reasons[-1]})")


def _problem(walls: Confinement, lessons: Sequence[Path]) -> tuple[str | None, str]:
    """Return what `find_confinement_problem` finds, and the error of a process that failed; stderr is not shown.

    Where another confinement works, a failure of this one is no news.
    """
    with open(os.memfd_create("complaints"), "w+b") as complaints:
        ours = os.dup(2)
        os.dup2(complaints.fileno(), 2)
        try:
            problem, error = find_confinement_problem(walls, lessons), ""
        except OSError as failure:
            problem, error = "", f"{type(failure).__name__}: {failure}"
        finally:
            os.dup2(ours, 2)
            os.close(ours)
        complaints.seek(0)
        lines = complaints.read().decode(errors="replace").splitlines()
    return problem, error or (lines[-1] if lines else "a process ended without a word")


def _walls(room: RootFilesystem) -> Iterator[Confinement]:
    yield Confinement(room, Quota(), compile_filter())
    rules = compile_filter(lone=True)
    yield LandlockConfinement(room, Quota(), rules)
    if can_change_user():  # the interpreter may lie in a folder that only root can enter, such as /root
        yield LandlockConfinement(room, Quota(), rules, own_files=False)


def _why_no_namespaces(error: str) -> str:
    """Return the cause that a machine gives no namespaces, beginning with its kind."""
    for name, value in _SETTINGS.items():
        with contextlib.suppress(FileNotFoundError):
            if Path("/proc/sys", *name.split(".")).read_text().strip() == value:
                return f"sysctl: {name} is {value}"
    if "Seccomp:\t2" in Path("/proc/self/status").read_text():
        return "seccomp: a filter denies system calls here, as in most containers"
    if os.geteuid() == 0 and not has_capability(SYS_ADMIN):
        return "capability: root has no CAP_SYS_ADMIN here, and an ordinary user gets no namespaces either"
    return f"kernel: {error}"


def _why_no_landlock(problem: str) -> str:
    """Return the cause that Landlock confines nothing, beginning with its kind."""
    try:
        landlock_version()
    except OSError as error:
        if error.errno == errno.EPERM:
            return "seccomp: a filter denies it"
        if error.errno == errno.EOPNOTSUPP:
            return "kernel: Landlock is not switched on, as `lsm=` among the kernel's parameters does"
        return "kernel: Linux has it from 5.13 on"
    return problem
