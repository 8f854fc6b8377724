"""Recognize a notebook of another chapter that was handed in for this one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from autograder.course.points_and_hints import IndexedChapter
from autograder.submission.extract_answer_statements import cell_defines
from autograder.submission.extract_submitted_cells import SubmittedCell
from autograder.submission.unreadable_notebook_messages import UnreadableError

_STRAY = 1  # a chapter's lesson may define this many functions that have the name of another chapter's exercise


def cells_that_define_exercise(cells: Sequence[SubmittedCell], exercise: str) -> list[SubmittedCell]:
    """Return the cells that belong to an exercise: by nbgrader's id, or because they define its name."""
    return [cell for cell in cells if cell.grade_id == exercise or cell_defines(cell.source, exercise)]


def refuse_other_chapter(
    cells: Sequence[SubmittedCell], exercises: Collection[str], listed: Sequence[IndexedChapter]
) -> None:
    """Raise UnreadableError if a notebook holds the exercises of another listed chapter instead of these."""
    if not listed or any(cell.grade_id in exercises for cell in cells):  # the usual case, and a quick test
        return
    own = sum(bool(cells_that_define_exercise(cells, name)) for name in exercises)
    if own > _STRAY:
        return
    counts, needed = _counts_by_id(cells, listed), 1  # nbgrader's ids are proof, where copying has left them
    if not any(counts.values()):
        counts = {
            each.stem: sum(bool(cells_that_define_exercise(cells, name)) for name in each.exercises) for each in listed
        }
        needed = own + _STRAY + 1
    found = max(listed, key=lambda each: counts[each.stem])
    if counts[found.stem] < needed or set(found.exercises) & set(exercises):
        return
    wanted = [each.stem for each in listed if set(each.exercises) & set(exercises)]
    held = f"{counts[found.stem]} exercise{'s' * (counts[found.stem] > 1)}"
    raise UnreadableError(
        f"it looks like “{found.title}” ({found.stem}), handed in for {(wanted or ['another assignment'])[0]}: "
        f"it holds {held} of that notebook and {own or 'none'} of this one. "
        "Hand in the notebook of this assignment here."
    )


def _counts_by_id(cells: Sequence[SubmittedCell], listed: Sequence[IndexedChapter]) -> dict[str, int]:
    """Map stems to the number of their exercises for which a cell has nbgrader's id."""
    ids = {cell.grade_id for cell in cells}
    return {each.stem: len(ids.intersection(each.exercises)) for each in listed}
