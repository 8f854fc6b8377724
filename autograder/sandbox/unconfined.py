"""Whether students' code may run here: confined, or because somebody has said that it may do what its user may do."""

from __future__ import annotations

import os

from autograder.errors import WorkFailed
from autograder.sandbox.self_test import missing

UNCONFINED_VARIABLE = "PYTORCH_BASICS_UNCONFINED"


def is_unconfined_here() -> bool:
    """Whether somebody has said on this machine that students' code may do what its user may do.

    Asked where a command or one of nbgrader's steps begins, and handed down from there as a value.
    """
    return bool(os.environ.get(UNCONFINED_VARIABLE))


def check_confinement(unconfined: bool) -> None:
    """Raise WorkFailed where nothing can be confined and nobody has said that this is all right; takes seconds."""
    if unconfined:
        return
    reason = missing()
    if reason is not None:
        raise WorkFailed(
            f"expected to confine students' code, and cannot here: {reason}. Nothing was graded. "
            f"`python -m autograder doctor` says more. To run it with your own rights all the same, "
            f"give --unconfined to `python -m autograder grade`, or set {UNCONFINED_VARIABLE}=1."
        )
