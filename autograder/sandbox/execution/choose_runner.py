"""Choose how to run submissions: in confined children of a fork server or, only on request, in unconfined processes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from autograder.sandbox.execution.cell_outputs import Output
from autograder.sandbox.execution.notebook_runner import NotebookToRun, run_cells
from autograder.sandbox.execution.run_specification import LIMITS, ChildProvider, Limits, Program, Runner, SharedSetup
from autograder.sandbox.execution.unconfined_process import unconfined_process
from autograder.sandbox.require_confinement import check_confinement

# Packages that answers use and that are slow to import.
_SLOW_PACKAGES = ("torch", "numpy", "matplotlib", "sympy")
# Answers may need this although no worked solution does: the first `torch.broadcast_shapes` takes half a second.
ALWAYS_PRELOADED = ("torch.fx.experimental.symbolic_shapes",)
# Folders within shown ones that confined code must not see: nbgrader's exchange, which holds the submissions of all
# students, and the settings of services.
HIDDEN_FOLDERS = (Path("/usr/local/share/nbgrader"), Path("/usr/local/etc"))


def make_submission_runner(course: Path, unconfined: bool) -> Runner:
    """Return the function that runs submissions to the course in this folder; students' code cannot see the folder.

    It runs them unconfined only if `unconfined` is set. If this machine cannot confine code, the first run raises
    WorkFailed.
    """
    from autograder.sandbox.execution.submission_runner import run_program  # imports torch

    return partial(run_program, children=_children(course, unconfined, loaded_slow_modules))


NotebookRunner = Callable[[NotebookToRun, Limits], dict[int, list[Output]]]


def make_notebook_runner(course: Path, unconfined: bool, modules: tuple[str, ...]) -> NotebookRunner:
    """Return the function that runs whole notebooks, under the same conditions as `make_submission_runner`.

    `modules` are imported before the first fork, since notebooks may import them and they are slow to import.
    """
    children = _children(course, unconfined, lambda: modules)
    return lambda run, limits: run_cells(run, children=children, limits=limits)


def check_fork_server(course: Path) -> None:
    """Start a fork server and one confined child for this course, and end them; raises WorkFailed if that fails."""
    ground = SharedSetup(str(course.resolve()), (), "import torch", whole=True)
    with _children(course, False, tuple)(Program(ground, (), {}), LIMITS):
        pass


def _children(course: Path, unconfined: bool, modules: Callable[[], tuple[str, ...]]) -> ChildProvider:
    if unconfined:
        return unconfined_process
    if sys.platform != "linux":
        check_confinement(unconfined)
    from autograder.sandbox.execution.fork_server_client import ForkServerPool

    return ForkServerPool(modules, (course.resolve(), *HIDDEN_FOLDERS))


def loaded_slow_modules() -> tuple[str, ...]:
    """Return the modules of slow packages that this process has imported.

    Once the worked solutions have run here, these are the modules that answers are likely to need.
    """
    return (*ALWAYS_PRELOADED, *sorted(name for name in sys.modules if name.split(".")[0] in _SLOW_PACKAGES))
