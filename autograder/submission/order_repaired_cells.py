"""Put the cells of a repaired submission into the order in which they run: that of the student's notebook.

Grading must give the result of running the notebook from top to bottom, so each answer is probed at the position of its
check. The lesson's own cells have the released text, but the position of the student's copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING

from autograder.submission.extract_submitted_cells import SubmittedCell
from autograder.submission.find_answers import CheckCall
from autograder.submission.read_released_cells import normalized_text, released_cells, released_texts

if TYPE_CHECKING:  # students' machines need not have nbformat
    from nbformat import NotebookNode

_SHUFFLED_SHARE = 0.25  # if a larger share of neighboring cells is in the wrong order, the notebook counts as shuffled


class CellRole(Enum):
    """The role of a cell in a run: the lesson's, the student's own, an answer, or a check."""

    GIVEN = "given"
    OWN = "own"
    ANSWER = "answer"
    CHECK = "check"


@dataclass(frozen=True)
class CellInRun:
    """One cell of a run: its role, its text, and the exercises that it answers or checks.

    `called` is the name that a check probes, if it is not the exercise's own.
    """

    role: CellRole
    source: str = ""
    exercises: tuple[str, ...] = ()
    called: str = ""


@dataclass(frozen=True)
class CellMatches:
    """Which submitted cell corresponds to each released one (by index), and which cells answer and check exercises."""

    homes: Mapping[int, SubmittedCell]
    answers: Mapping[str, tuple[SubmittedCell, ...]]
    checks: Mapping[str, CheckCall]


_Key = tuple[int, int, int]
_LAST = 10**9


def order_cells_as_in_notebook(
    handed: Sequence[SubmittedCell], release: NotebookNode, places: CellMatches
) -> tuple[CellInRun, ...]:
    """Return the cells of a run in their order; `handed` are the student's code cells."""
    keys = _Keys(handed, release, places.homes)
    found = [*_of_the_release(release, places, keys), *_of_the_student(handed, release, places, keys)]
    return tuple(part for _, part in sorted(found, key=lambda each: each[0]))


class _Keys:
    """Sort keys of cells: the position in the student's file, or, if that is shuffled, in the released notebook."""

    def __init__(
        self, handed: Sequence[SubmittedCell], release: NotebookNode, homes: Mapping[int, SubmittedCell]
    ) -> None:
        self._homes, code = homes, {cell.index for cell in handed}
        places = [place for place in sorted(homes) if homes[place].index in code]
        wrong = sum(homes[one].index > homes[other].index for one, other in pairwise(places))
        self._is_shuffled = wrong > 1 and wrong > _SHUFFLED_SHARE * len(places)
        self._place_of = {homes[place].index: place for place in sorted(homes, reverse=True)}
        self._anchors = self._followed(max((cell.index for cell in handed), default=-1))

    def _followed(self, last: int) -> list[int]:
        """Return, for each submitted cell, the index of the released cell that it is or comes after."""
        anchors, place = [], -1
        for index in range(last + 1):
            place = self._place_of.get(index, place)
            anchors.append(place)
        return anchors

    def of_handed(self, index: int) -> _Key:
        """Return the key of a student's cell."""
        return (self._anchors[index], 1 + index, 0) if self._is_shuffled else (index, 0, 0)

    def of_given(self, place: int) -> _Key:
        """Return the key of a lesson's cell: just above the student's copy, which may have been changed."""
        if self._is_shuffled:
            return (place, 0, 0)
        return (self._homes[place].index, -1, place) if place in self._homes else self._behind(place)

    def of_check(self, place: int) -> _Key:
        """Return the key of a check: below what the student wrote into its cell."""
        return (place, _LAST, 0) if self._is_shuffled else self._behind(place)

    def _behind(self, place: int) -> _Key:
        """Return a key after the student's copy of a released cell, or of the nearest one before it that exists."""
        before = next((each for each in range(place, -1, -1) if each in self._homes), None)
        return (-1, 0, place) if before is None else (self._homes[before].index, 1, place)


def _of_the_release(release: NotebookNode, places: CellMatches, keys: _Keys) -> Iterator[tuple[_Key, CellInRun]]:
    """Yield the lesson's cells, unanswered starters, and the checks; no check comes above the first of its answers."""
    for place, cell in enumerate(released_cells(release).cells):
        if cell.kind != "code" or cell.runs_before_answers:
            continue
        if cell.is_solution:
            if not places.answers.get(cell.grade_id):
                yield keys.of_given(place), CellInRun(CellRole.ANSWER, cell.source, (cell.grade_id,))
            continue
        exercise = cell.exercise
        if exercise is None:
            yield keys.of_given(place), CellInRun(CellRole.GIVEN, cell.source)
            continue
        least = [answer.index for answer in places.answers.get(exercise, ())[:1]]
        check = places.checks.get(exercise)
        least += [check.place] if check else []
        below = [(*keys.of_handed(index)[:2], _LAST) for index in least]
        called = check.called if check and check.called != exercise else ""
        yield max([keys.of_check(place), *below]), CellInRun(CellRole.CHECK, exercises=(exercise,), called=called)


def _of_the_student(
    handed: Sequence[SubmittedCell], release: NotebookNode, places: CellMatches, keys: _Keys
) -> Iterator[tuple[_Key, CellInRun]]:
    """Yield the answers and the student's own code: added cells, and the course's cells that the student changed."""
    answering: dict[int, tuple[str, ...]] = {}
    for exercise, cells in places.answers.items():
        for cell in cells:
            answering[cell.index] = (*answering.get(cell.index, ()), exercise)
    known = released_texts(release)
    for cell in handed:
        if cell.index in answering:
            yield keys.of_handed(cell.index), CellInRun(CellRole.ANSWER, cell.source, answering[cell.index])
        elif normalized_text(cell.source) not in known:
            yield keys.of_handed(cell.index), CellInRun(CellRole.OWN, cell.source)
