"""A notebook of another chapter, handed in for this one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from autograder.course.exercise_index import Listed
from autograder.submission.answer_source import defines
from autograder.submission.submitted_cells import Handed
from autograder.submission.unreadable_files import UnreadableError

_STRAY = 1  # a lesson of one chapter may define a function that is another's exercise


def held(cells: Sequence[Handed], exercise: str) -> list[Handed]:
    """The cells that stand for an exercise: by nbgrader's mark, or by the name that they define."""
    return [cell for cell in cells if cell.grade_id == exercise or defines(cell.source, exercise)]


def check_chapter(cells: Sequence[Handed], exercises: Collection[str], listed: Sequence[Listed]) -> None:
    """Raise UnreadableError where a notebook holds another listed chapter's exercises in the place of these."""
    if not listed or any(cell.grade_id in exercises for cell in cells):  # nearly always, and quickly seen
        return
    own = sum(bool(held(cells, name)) for name in exercises)
    if own > _STRAY:
        return
    counts = {each.stem: sum(bool(held(cells, name)) for name in each.exercises) for each in listed}
    found = max(listed, key=lambda each: counts[each.stem])
    if counts[found.stem] <= own + _STRAY or set(found.exercises) & set(exercises):
        return
    wanted = [each.stem for each in listed if set(each.exercises) & set(exercises)]
    raise UnreadableError(
        f"it looks like chapter {found.number} ({found.stem}), handed in for {(wanted or ['another assignment'])[0]}: "
        f"it holds {counts[found.stem]} exercises of that chapter and {own or 'none'} of this one. "
        "Hand in the notebook of this chapter here."
    )
