"""Which engine runs submissions here: confined and forked, or, only when asked for, a fresh process without walls."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

from autograder.confinement.trial import missing
from autograder.errors import WorkFailed
from autograder.grading.fresh_process import fresh_process
from autograder.grading.program import Engine
from autograder.grading.runner import run

UNCONFINED_VARIABLE = "PYTORCH_BASICS_UNCONFINED"
# Packages that answers use, and that are slow to import.
_WARM = ("torch", "numpy", "matplotlib", "sympy")
# What the worked solutions may not have needed: `torch.broadcast_shapes` takes half a second the first time.
_ALWAYS = ("torch.fx.experimental.symbolic_shapes",)
# They lie in folders that are shown: nbgrader's exchange, with everybody's submissions, and settings of services.
HIDDEN = (Path("/usr/local/share/nbgrader"), Path("/usr/local/etc"))


def engine(course: Path, unconfined: bool = False) -> Engine:
    """The engine for submissions to a course, which the students' code does not see.

    Unconfined only where it is asked for; where nothing can be confined, the first run raises WorkFailed.
    """
    if unconfined or is_unconfined_here():
        return partial(run, children=fresh_process)
    if sys.platform != "linux":
        check_confinement()
    from autograder.grading.forked import ForkServers

    return partial(run, children=ForkServers(warm_modules, (course.resolve(), *HIDDEN)))


def is_unconfined_here() -> bool:
    """Whether somebody has said on this machine that students' code may do what its user may do."""
    return bool(os.environ.get(UNCONFINED_VARIABLE))


def check_confinement() -> None:
    """Raise WorkFailed where nothing can be confined and nobody has said that this is all right; takes seconds."""
    if is_unconfined_here():
        return
    reason = missing()
    if reason is not None:
        raise WorkFailed(
            f"expected to confine students' code, and cannot here: {reason}. Nothing was graded. "
            f"`python -m autograder doctor` says more. To run it with your own rights all the same, "
            f"give --unconfined to `python -m autograder grade`, or set {UNCONFINED_VARIABLE}=1."
        )


def warm_modules() -> tuple[str, ...]:
    """What this process has imported of the slow packages: after the worked solutions ran, all that answers need."""
    return (*_ALWAYS, *sorted(name for name in sys.modules if name.split(".")[0] in _WARM))
