"""Read a submission to a teacher's own assignment (no chapter of the course), keeping the student's order of cells.

Like nbgrader, this keeps the student's cells where they are, gives locked cells and test cells their released text, and
counts the last of several copies. Unlike nbgrader, it also finds cells that have lost their metadata, and puts missing
graded cells back.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from nbformat import NotebookNode

from autograder.submission.build_repaired_notebook import PlacedCell, place_released_cell
from autograder.submission.extract_submitted_cells import MAX_CELL_CHARACTERS, SubmittedCell
from autograder.submission.read_released_cells import (
    grade_id,
    has_nbgrader_flag,
    is_locked_cell,
    is_solution,
    normalized_text,
    released_cells,
)
from autograder.submission.submission import Submission

_COPIES = "cells there more than once; the last one counts: {}"
_FOUND = "cells that had lost nbgrader's mark, found again: {}"
_PUT_BACK = "graded cells that were missing, put back: {}"
_CHANGED = "locked cells that were changed; the assignment's own are used: {}"
_EMPTY = "cells for an answer that were missing, put back untouched: {}"
_NOT_FOUND = "cells for an answer that were not found; other cells may hold it, and are run all the same: {}"
_LONG = f"cells of more than {MAX_CELL_CHARACTERS} characters, of which the rest is not read: {{}}"
_DEFINED = re.compile(r"^(?:async\s+)?(?:def|class)\s+(\w+)", re.MULTILINE)


def repair_teacher_assignment_submission(handed: Sequence[SubmittedCell], release: NotebookNode) -> Submission:
    """Return the student's notebook with the assignment's cell metadata restored."""
    homes = _Matching(handed, release)
    return Submission(release, tuple(_laid_out(handed, release, homes)), repairs=homes.repairs, eye=homes.eye)


def _is_graded(cell: NotebookNode) -> bool:
    """Return whether nbgrader gives points for a cell."""
    return has_nbgrader_flag(cell, "grade") or has_nbgrader_flag(cell, "task")


@dataclass
class _Matching:
    """The match between submitted and released cells, and notes about how it was found."""

    handed: Sequence[SubmittedCell]
    release: NotebookNode
    places: dict[int, int] = field(default_factory=dict)  # index of the released cell, by the submitted one's index
    notes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        self._match_by_grade_id()
        self._match_by(lambda cell: _text(cell.kind, cell.source), lambda cell: _text(cell.cell_type, cell.source))
        self._match_by(lambda cell: cell.cell_id, lambda cell: str(cell.get("id", "")) if grade_id(cell) else "")
        self._match_by(lambda cell: _names(cell.source), lambda cell: _names(cell.source) if is_solution(cell) else "")
        self._match_between_neighbors()
        self._note()

    @property
    def repairs(self) -> tuple[str, ...]:
        """Messages about repairs that cost no points."""
        return self._messages(_COPIES, _FOUND, _PUT_BACK, _CHANGED)

    @property
    def eye(self) -> tuple[str, ...]:
        """Messages about what may have cost points."""
        return self._messages(_EMPTY, _NOT_FOUND, _LONG)

    def _messages(self, *sentences: str) -> tuple[str, ...]:
        return tuple(each.format(", ".join(self.notes[each])) for each in sentences if self.notes[each])

    @property
    def missing(self) -> list[int]:
        """The indices of graded and locked cells in the released notebook that no submitted cell matches."""
        found = set(self.places.values())
        cells = enumerate(self.release.cells)
        return [place for place, cell in cells if place not in found and (_is_graded(cell) or is_locked_cell(cell))]

    def _match_by_grade_id(self) -> None:
        marked = defaultdict(list)
        for cell in self.handed:
            if cell.grade_id:
                marked[cell.grade_id].append(cell.index)
        for place, cell in enumerate(self.release.cells):
            found = marked.get(grade_id(cell), []) if grade_id(cell) else []
            if found:
                self.places[found[-1]] = place
            if len(found) > 1:
                self.notes[_COPIES].append(grade_id(cell))

    def _match_by(self, of_handed: Callable[[SubmittedCell], str], of_released: Callable[[NotebookNode], str]) -> None:
        """Pair unmatched cells with equal keys, in their order; cells with an empty key stay unmatched."""
        free = defaultdict(list)
        for cell in self.handed:
            if cell.index not in self.places and of_handed(cell):
                free[of_handed(cell)].append(cell.index)
        taken = set(self.places.values())
        for place, released in enumerate(self.release.cells):
            found = free.get(of_released(released)) if place not in taken else None
            if found:
                self._pair(found.pop(0), place)

    def _match_between_neighbors(self) -> None:
        """Pair an answer cell with the only unmatched cell of its type between the same neighbors."""
        for place, cell in enumerate(self.release.cells):
            if not is_solution(cell) or place in self.places.values():
                continue
            above = max((index for index, other in self.places.items() if other < place), default=-1)
            below = min((index for index, other in self.places.items() if other > place), default=len(self.handed))
            free = [each for each in self.handed[above + 1 : below] if each.index not in self.places and each.source]
            if len(free) == 1 and free[0].kind == cell.cell_type:
                self._pair(free[0].index, place)

    def _pair(self, index: int, place: int) -> None:
        self.places[index] = place
        if grade_id(self.release.cells[place]):
            self.notes[_FOUND].append(grade_id(self.release.cells[place]))

    def _note(self) -> None:
        for place in self.missing:
            cell = self.release.cells[place]
            self.notes[_EMPTY if is_solution(cell) else _PUT_BACK].append(grade_id(cell))
        found = set(self.places.values())
        answers = [place for place, cell in enumerate(self.release.cells) if is_solution(cell) and not _is_graded(cell)]
        self.notes[_NOT_FOUND] += [grade_id(self.release.cells[place]) for place in answers if place not in found]
        self.notes[_LONG] += [f"cell {each.index + 1}" for each in self.handed if each.is_cut]
        for index, place in self.places.items():
            cell = self.release.cells[place]
            if is_locked_cell(cell) and normalized_text(self.handed[index].source) != normalized_text(cell.source):
                self.notes[_CHANGED].append(grade_id(cell))


def _text(kind: str, source: str) -> str:
    return f"{kind} {normalized_text(source)}" if normalized_text(source) else ""


def _names(source: str) -> str:
    """Return the names of the functions and classes that a cell defines, as one text."""
    return " ".join(sorted(set(_DEFINED.findall(source))))


def _laid_out(handed: Sequence[SubmittedCell], release: NotebookNode, homes: _Matching) -> Iterator[PlacedCell]:
    """Yield the student's cells in their order, matched ones as released cells, and missing ones put back."""
    behind = defaultdict(list)
    for place in homes.missing:
        before = [index for index, other in homes.places.items() if other < place]
        last = max(before, key=lambda index: homes.places[index], default=-1)
        behind[last].append(PlacedCell(place))
    yield from behind[-1]
    for cell in handed:
        home = homes.places.get(cell.index)
        yield (
            PlacedCell(None, cell)
            if home is None
            else place_released_cell(home, cell, released_cells(release).cells[home])
        )
        yield from behind[cell.index]
