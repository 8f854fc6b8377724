"""Chooses what runs submissions here: confined and forked, or, only when asked for, a fresh process without walls."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from autograder.sandbox.execution.cell_outputs import Output
from autograder.sandbox.execution.fresh_process import fresh_process
from autograder.sandbox.execution.notebook_runner import NotebookRun, run_cells
from autograder.sandbox.execution.program import LIMITS, Children, Ground, Limits, Program, Runner
from autograder.sandbox.unconfined import check_confinement

# Packages that answers use, and that are slow to import.
_WARM = ("torch", "numpy", "matplotlib", "sympy")
# What the worked solutions may not have needed: `torch.broadcast_shapes` takes half a second the first time.
ALWAYS_WARM = ("torch.fx.experimental.symbolic_shapes",)
# They lie in folders that are shown: nbgrader's exchange, with everybody's submissions, and settings of services.
HIDDEN = (Path("/usr/local/share/nbgrader"), Path("/usr/local/etc"))


def runner_for(course: Path, unconfined: bool) -> Runner:
    """What runs submissions to a course, which the students' code does not see.

    Unconfined only where it is asked for; where nothing can be confined, the first run raises WorkFailed.
    """
    from autograder.sandbox.execution.submission_runner import run  # with torch

    return partial(run, children=_children(course, unconfined, warm_modules))


NotebookRunner = Callable[[NotebookRun, Limits], dict[int, list[Output]]]


def notebook_runner_for(course: Path, unconfined: bool, modules: tuple[str, ...]) -> NotebookRunner:
    """What runs whole notebooks that are handed in to a course, likewise; they may import these modules late."""
    children = _children(course, unconfined, lambda: modules)
    return lambda run, limits: run_cells(run, children=children, limits=limits)


def begin_once(course: Path) -> None:
    """Start what runs submissions to a course, confined, up to where it waits for the first; raises WorkFailed."""
    ground = Ground(str(course.resolve()), (), "import torch", whole=True)
    with _children(course, False, tuple)(Program(ground, (), {}), LIMITS):
        pass


def _children(course: Path, unconfined: bool, modules: Callable[[], tuple[str, ...]]) -> Children:
    if unconfined:
        return fresh_process
    if sys.platform != "linux":
        check_confinement(unconfined)
    from autograder.sandbox.execution.forked_children import ForkServers

    return ForkServers(modules, (course.resolve(), *HIDDEN))


def warm_modules() -> tuple[str, ...]:
    """What this process has imported of the slow packages: after the worked solutions ran, all that answers need."""
    return (*ALWAYS_WARM, *sorted(name for name in sys.modules if name.split(".")[0] in _WARM))
