"""Decide whether students' code may run on this machine: confined, or with the user's rights if the user allows it."""

from __future__ import annotations

import os
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.sandbox.confinement_self_test import confinement_problem, why_lesson_unreadable

UNCONFINED_VARIABLE = "PYTORCH_BASICS_UNCONFINED"


def is_unconfined_allowed() -> bool:
    """Return whether the environment variable allows students' code to run with the rights of the user who grades.

    Commands and nbgrader's steps read it once, when they begin, and pass the value on as an argument.
    """
    return bool(os.environ.get(UNCONFINED_VARIABLE))


def check_confinement(unconfined: bool, lessons: tuple[Path, ...] = ()) -> None:
    """Raise WorkFailed if this machine cannot confine code that imports `lessons`, unless `unconfined` allows that.

    Takes some seconds.
    """
    if unconfined:
        return
    reason = confinement_problem() or (why_lesson_unreadable(lessons) if lessons else None)
    if reason is not None:
        raise WorkFailed(
            f"expected to confine students' code, and cannot here: {reason}. Nothing was graded. "
            f"`autograder doctor` says more. To run it with your own rights all the same, "
            f"give --unconfined to `autograder grade`, or set {UNCONFINED_VARIABLE}=1."
        )
