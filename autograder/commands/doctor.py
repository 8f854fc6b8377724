"""Say what protects this machine from students' code, and what is missing."""

from __future__ import annotations

import argparse

_PROTECTED = """Students' code runs confined here:
  files       it sees the interpreter and its packages, read-only, and an empty scratch folder that is gone afterwards
  network     none
  processes   it sees only its own; everything it starts ends with it
  rights      an ordinary user's, without any capability; the kernel's less guarded calls are refused
  limits      on CPU and wall time, memory, processes, open files, file size"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`doctor` has no options."""


def run(args: argparse.Namespace) -> int:
    """Print what there is; returns 1 where students' code cannot be confined."""
    from autograder.walls.consent import UNCONFINED_VARIABLE
    from autograder.walls.trial import missing

    reason = missing()
    if reason is None:
        print(_PROTECTED)
        return 0
    print(f"Students' code cannot be confined here: {reason}.")
    print("Needed: Linux 5.12 or newer, libseccomp, and either root or user namespaces for ordinary users.")
    print(
        f"Grading refuses to run, unless --unconfined or {UNCONFINED_VARIABLE}=1 says that it may do what you may do."
    )
    return 1
