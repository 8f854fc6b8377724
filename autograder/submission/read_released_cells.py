"""Read nbgrader's metadata of a released notebook's cells, and normalize cell texts for comparison."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from autograder.ipython_syntax import CHECK, SETUP

if TYPE_CHECKING:  # students' machines need not have nbformat
    from nbformat import NotebookNode


def has_nbgrader_flag(cell: NotebookNode, name: str) -> bool:
    """Return whether nbgrader's metadata of a cell has this flag (`grade`, `solution`, `task`, `locked`)."""
    return bool(_nbgrader_metadata(cell).get(name, False))


def grade_id(cell: NotebookNode) -> str:
    """Return nbgrader's id of a cell; "" if it has none."""
    return str(_nbgrader_metadata(cell).get("grade_id", ""))


def _nbgrader_metadata(cell: NotebookNode) -> dict[str, Any]:
    metadata: dict[str, Any] = cell["metadata"].get("nbgrader", {})  # faster than attributes, and called very often
    return metadata


def is_solution(cell: NotebookNode) -> bool:
    """Return whether students answer in this cell."""
    return has_nbgrader_flag(cell, "solution")


def exercise_checked(cell: NotebookNode) -> str | None:
    """Return the exercise that a cell checks; None for any other cell."""
    return grade_id(cell).removeprefix(CHECK) if has_nbgrader_flag(cell, "grade") and not is_solution(cell) else None


def runs_before_answers(cell: NotebookNode) -> bool:
    """Return whether a cell runs before all of the student's code: the parameters cell and the setup cell."""
    is_setup = has_nbgrader_flag(cell, "locked") and grade_id(cell) == SETUP
    return is_setup or "parameters" in cell.metadata.get("tags", ())


def is_locked_cell(cell: NotebookNode) -> bool:
    """Return whether a cell always has its released text, whatever the student's copy says."""
    metadata = _nbgrader_metadata(cell)  # most cells have none
    return (
        bool(metadata)
        and not is_solution(cell)
        and any(has_nbgrader_flag(cell, name) for name in ("grade", "task", "locked"))
    )


def is_text_answer(cell: NotebookNode) -> bool:
    """Return whether students answer in this cell in words."""
    return is_solution(cell) and cell["cell_type"] != "code"


@dataclass(frozen=True)
class ReleasedCell:
    """A cell of a released notebook: its text, and its nbgrader metadata in plain fields."""

    kind: str
    source: str
    cell_id: str
    grade_id: str
    has_mark: bool
    is_solution: bool
    is_always_released_text: bool
    is_text_answer: bool
    runs_before_answers: bool
    exercise: str | None  # the exercise that the cell checks

    @classmethod
    def of(cls, cell: NotebookNode) -> ReleasedCell:
        """Read a cell's text and metadata."""
        return cls(
            cell["cell_type"],
            cell["source"],
            str(cell.get("id") or ""),
            grade_id(cell),
            "nbgrader" in cell["metadata"],
            is_solution(cell),
            is_locked_cell(cell),
            is_text_answer(cell),
            runs_before_answers(cell),
            exercise_checked(cell),
        )


class ReleasedCells:
    """The cells of a released notebook with what reading needs to know of them, computed once for a whole class."""

    def __init__(self, release: NotebookNode) -> None:
        self.release = release
        self.cells = tuple(map(ReleasedCell.of, release["cells"]))

    @cached_property
    def texts(self) -> frozenset[str]:
        """The normalized texts of all cells."""
        return frozenset(normalized_text(cell.source) for cell in self.cells)

    @cached_property
    def starters(self) -> dict[str, str]:
        """The released text of each cell for a code answer, by exercise."""
        return {cell.grade_id: cell.source for cell in self.cells if cell.is_solution and not cell.is_text_answer}

    @cached_property
    def checks(self) -> dict[str, str]:
        """The nbgrader ids of the check cells, by exercise."""
        return {cell.exercise: cell.grade_id for cell in self.cells if cell.exercise}


_cache: list[ReleasedCells] = []
_MOST = 4  # notebooks in the cache


def released_cells(release: NotebookNode) -> ReleasedCells:
    """Return the cells of a released notebook from a cache. The notebook must not be changed after the first call."""
    for known in _cache:
        if known.release is release:
            return known
    _cache[_MOST - 1 :] = []
    _cache.insert(0, ReleasedCells(release))
    return _cache[0]


def starters(release: NotebookNode) -> dict[str, str]:
    """Return the released text of each cell for a code answer, by exercise."""
    return released_cells(release).starters


def released_texts(release: NotebookNode) -> frozenset[str]:
    """Return the normalized texts of a released notebook's cells."""
    return released_cells(release).texts


@lru_cache(maxsize=4096)  # most cells are the course's own, and each is compared many times
def normalized_text(source: str) -> str:
    """Return a text without what editors change by themselves: spaces at line ends, and empty lines around it."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())
