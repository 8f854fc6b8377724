"""Which engine runs submissions here: confined and forked, or, only when asked for, a fresh process without walls."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from autograder.running.fresh_process import fresh_process
from autograder.running.program import Engine
from autograder.running.runner import run
from autograder.walls.consent import check_confinement, is_unconfined_here

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
    from autograder.running.forked import ForkServers

    return partial(run, children=ForkServers(warm_modules, (course.resolve(), *HIDDEN)))


def warm_modules() -> tuple[str, ...]:
    """What this process has imported of the slow packages: after the worked solutions ran, all that answers need."""
    return (*_ALWAYS, *sorted(name for name in sys.modules if name.split(".")[0] in _WARM))
