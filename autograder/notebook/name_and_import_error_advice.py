"""An IPython extension that explains a NameError from a skipped cell, and a failed import from another version.

`make lab` configures its kernels to load it.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from types import TracebackType
from typing import Any

from autograder.course.course_location import INSTALLED
from autograder.errors import CourseError
from autograder.notebook.unrun_cell_advice import advice_to_run_defining_cell

_ENGINE = ("autograder", "explorers")


class CourseVersionMismatch(CourseError):
    """A cell imports what the installed course does not have: the notebook is of another version of it."""


def load_ipython_extension(shell: Any) -> None:
    """Register the handlers in this shell."""
    shell.set_custom_exc((NameError, ImportError), _shown)


def _shown(
    shell: Any, kind: type[BaseException], error: BaseException, trace: TracebackType, tb_offset: int | None = None
) -> None:
    """Show the usual traceback with the advice below it; for another version of the course, one line."""
    if isinstance(error, ImportError) and (other := course_version_mismatch(error)):
        shell.showtraceback((CourseVersionMismatch, other, None))
        return
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
    if isinstance(error, NameError) and (line := advice_to_run_defining_cell(shell, error.name)):
        print(line)


def course_version_mismatch(error: ImportError) -> CourseVersionMismatch | None:
    """Return the error to show in place of a failed import from this package or a course, else None."""
    if (error.name or "").split(".")[0] not in (*_ENGINE, *(each.value for each in entry_points(group=INSTALLED))):
        return None
    return CourseVersionMismatch(
        f"this notebook is of another version of the course than the one that is installed ({error.msg}). "
        "What you wrote stays in it. `make lab` lays the notebooks of this version beside it: go on in those."
    )
