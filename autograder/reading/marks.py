"""What the marks of a released notebook's cells say, and texts as they are compared with one another."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from autograder.cell_text import CHECK, SETUP

if TYPE_CHECKING:  # readers' machines may do without it
    from nbformat import NotebookNode


def mark(cell: NotebookNode, name: str) -> bool:
    """Whether nbgrader's mark of this name (`grade`, `solution`, `locked`) is set."""
    return bool(_about(cell).get(name, False))


def grade_id(cell: NotebookNode) -> str:
    """nbgrader's name for a cell; "" where it has none."""
    return str(_about(cell).get("grade_id", ""))


def _about(cell: NotebookNode) -> dict[str, Any]:
    found: dict[str, Any] = cell["metadata"].get("nbgrader", {})  # asked for very often, and quicker so
    return found


def is_solution(cell: NotebookNode) -> bool:
    """Whether students answer in this cell."""
    return mark(cell, "solution")


def exercise_checked(cell: NotebookNode) -> str | None:
    """The exercise that a cell checks; None for any other cell."""
    return grade_id(cell).removeprefix(CHECK) if mark(cell, "grade") and not is_solution(cell) else None


def ran_before(cell: NotebookNode) -> bool:
    """Whether a cell has run before anything of a student's does: the parameters and the setup cell."""
    is_setup = mark(cell, "locked") and grade_id(cell) == SETUP
    return is_setup or "parameters" in cell.metadata.get("tags", ())


def is_kept(cell: NotebookNode) -> bool:
    """Whether the text of a cell is the assignment's, whatever the student's copy says."""
    about = _about(cell)  # most cells have none
    return bool(about) and not is_solution(cell) and any(mark(cell, name) for name in ("grade", "task", "locked"))


def is_written(cell: NotebookNode) -> bool:
    """Whether students answer in this cell in words."""
    return is_solution(cell) and cell["cell_type"] != "code"


def starters(release: NotebookNode) -> dict[str, str]:
    """The cells that students were given for code, by exercise."""
    marked = (cell for cell in release["cells"] if "nbgrader" in cell["metadata"])  # most cells have no mark
    return {grade_id(cell): cell.source for cell in marked if is_solution(cell) and not is_written(cell)}


def texts_of(release: NotebookNode) -> frozenset[str]:
    """The texts of a released notebook's cells, bare."""
    return _bare(tuple(cell["source"] for cell in release["cells"]))


@lru_cache(maxsize=8)
def _bare(sources: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(bare, sources))


@lru_cache(maxsize=4096)  # most cells are the course's own, and each is asked for many times
def bare(source: str) -> str:
    """A text without what editors change on their own: spaces at line ends, empty lines around it."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())
