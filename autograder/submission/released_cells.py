"""What the marks of a released notebook's cells say, and texts as they are compared with one another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from autograder.ipython_syntax import CHECK, SETUP

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


@dataclass(frozen=True)
class GivenCell:
    """What its marks say of a cell of a released notebook, and its text."""

    kind: str
    source: str
    cell_id: str
    grade_id: str
    has_mark: bool
    is_solution: bool
    is_kept: bool
    is_written: bool
    ran_before: bool
    exercise: str | None  # that it checks

    @classmethod
    def of(cls, cell: NotebookNode) -> GivenCell:
        """Look at a cell."""
        return cls(
            cell["cell_type"],
            cell["source"],
            str(cell.get("id") or ""),
            grade_id(cell),
            "nbgrader" in cell["metadata"],
            is_solution(cell),
            is_kept(cell),
            is_written(cell),
            ran_before(cell),
            exercise_checked(cell),
        )


class ReleasedCells:
    """A released notebook as reading looks at it: for a class it is looked at once."""

    def __init__(self, release: NotebookNode) -> None:
        self.release = release
        self.cells = tuple(map(GivenCell.of, release["cells"]))

    @cached_property
    def texts(self) -> frozenset[str]:
        """The texts of its cells, bare."""
        return frozenset(bare(cell.source) for cell in self.cells)

    @cached_property
    def starters(self) -> dict[str, str]:
        """The cells that students were given for code, by exercise."""
        return {cell.grade_id: cell.source for cell in self.cells if cell.is_solution and not cell.is_written}

    @cached_property
    def checks(self) -> dict[str, str]:
        """The marks of the cells that check, by exercise."""
        return {cell.exercise: cell.grade_id for cell in self.cells if cell.exercise}


_known: list[ReleasedCells] = []
_MOST = 4  # that are remembered


def released_cells(release: NotebookNode) -> ReleasedCells:
    """What there is to know of a released notebook, which nobody changes once it has been looked at."""
    for known in _known:
        if known.release is release:
            return known
    _known[_MOST - 1 :] = []
    _known.insert(0, ReleasedCells(release))
    return _known[0]


def starters(release: NotebookNode) -> dict[str, str]:
    """The cells that students were given for code, by exercise."""
    return released_cells(release).starters


def texts_of(release: NotebookNode) -> frozenset[str]:
    """The texts of a released notebook's cells, bare."""
    return released_cells(release).texts


@lru_cache(maxsize=4096)  # most cells are the course's own, and each is asked for many times
def bare(source: str) -> str:
    """A text without what editors change on their own: spaces at line ends, empty lines around it."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())
