"""Say what protects this machine from students' code, and what is missing."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

_NAMESPACES = """Students' code runs confined here, in namespaces of its own:
  files       it sees the interpreter and its packages, read-only, and an empty scratch folder that is gone afterwards
  network     none
  processes   it sees only its own; everything it starts ends with it
  rights      an ordinary user's, without any capability; the kernel's less guarded calls are refused
  limits      on CPU and wall time, memory, processes, open files, file size"""

_LANDLOCK = """Students' code runs confined here, by Landlock and a filter on system calls, as there are no namespaces
({reason}):
  files       it reads the interpreter and its packages, and an empty scratch folder that it may fill is gone afterwards
  network     none, and no sockets of other programs
  processes   it can start none, and send no signal to others; it ends with the process that waits for it
  rights      {rights};
              no capability; the kernel's less guarded calls are refused
  limits      on CPU and wall time, memory, threads, open files, file size
Not promised here, unlike in namespaces:
  code can find out whether a file, folder or process exists, how large and how old it is, but not what is in it;
  the scratch folder is measured ten times a second: a process that fills it is ended, and until then it may grow;
  answers have no shared memory and start no programs (DataLoader with workers, subprocess, multiprocessing)."""

_RIGHTS = {
    "Landlock": "another user's than yours",
    "Landlock, root's files": "another user's than yours, but root's to files, as an ordinary user cannot enter the "
    "interpreter's folder",
    "Landlock, this user": "your own, as far as Landlock and the filter leave any",
}

_NEEDED = """Needed: libseccomp, packages that every user may read, and either namespaces (Linux 5.12 or newer; root
with the capability CAP_SYS_ADMIN, or user namespaces for ordinary users) or Landlock (Linux 5.13 or newer, also in most
containers)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`doctor` has no options."""


def run(args: argparse.Namespace) -> int:
    """Print how students' code is confined here; return 1, after printing what is missing, if it cannot be."""
    from autograder.sandbox.confinement_self_test import active_confinement, confinement_problem
    from autograder.sandbox.require_confinement import UNCONFINED_VARIABLE

    reason = confinement_problem() or _refused(args.root)
    if reason is None:
        name, cause = active_confinement()
        print(_LANDLOCK.format(reason=cause, rights=_RIGHTS[name]) if cause else _NAMESPACES)
        return 0
    print(f"Students' code cannot be confined here: {reason}.")
    print(_NEEDED)
    print(
        f"Grading refuses to run, unless --unconfined or {UNCONFINED_VARIABLE}=1 says that it may do what you may do."
    )
    return 1


def _refused(root: Path) -> str | None:
    """Start the sandbox as grading does for its first submission; return why that fails, or None if it works."""
    from autograder.course.course_location import find_course
    from autograder.errors import CourseNotFound, WorkFailed
    from autograder.sandbox.execution.choose_runner import check_fork_server

    try:
        course = find_course(root)
    except CourseNotFound:  # the command works without a course; then there is no course folder to hide
        course = Path(os.devnull)
    try:
        check_fork_server(course)
    except WorkFailed as error:
        return str(error).partition(" Nothing was graded.")[0].rstrip(".")
    return None
