"""The cells of a repaired submission in the order in which they count: that of the student's notebook.

Grading gives what running the notebook from top to bottom would give, so each answer is looked at where its check
stands. The lesson's own cells are the release's, wherever the student's copies of them have gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING

from autograder.submission.find_answers import Checked
from autograder.submission.released_cells import bare, released_cells, texts_of
from autograder.submission.submitted_cells import Handed

if TYPE_CHECKING:  # readers' machines may do without it
    from nbformat import NotebookNode

_MANY = 0.25  # from this share of neighbors in the wrong order on, a notebook is taken for shuffled


class Role(Enum):
    """What a cell is in a run."""

    GIVEN = "given"
    OWN = "own"
    ANSWER = "answer"
    CHECK = "check"


@dataclass(frozen=True)
class Part:
    """One cell of a run: what it is, its text, and the exercises that it answers or checks.

    `called` is the name of what a check looks at, where that is not the exercise's own.
    """

    role: Role
    source: str = ""
    exercises: tuple[str, ...] = ()
    called: str = ""


@dataclass(frozen=True)
class Places:
    """Where things are: the handed cell that each released one became, and which cells answer and check an exercise."""

    homes: Mapping[int, Handed]
    answers: Mapping[str, tuple[Handed, ...]]
    checks: Mapping[str, Checked]


_Key = tuple[int, int, int]
_LAST = 10**9


def in_order(handed: Sequence[Handed], release: NotebookNode, places: Places) -> tuple[Part, ...]:
    """The parts of a run; `handed` are the student's cells that hold code."""
    keys = _Keys(handed, release, places.homes)
    found = [*_of_the_release(release, places, keys), *_of_the_student(handed, release, places, keys)]
    return tuple(part for _, part in sorted(found, key=lambda each: each[0]))


class _Keys:
    """What the parts are sorted by: the place in the student's file, or in the release where that was shuffled."""

    def __init__(self, handed: Sequence[Handed], release: NotebookNode, homes: Mapping[int, Handed]) -> None:
        self._homes, code = homes, {cell.index for cell in handed}
        places = [place for place in sorted(homes) if homes[place].index in code]
        wrong = sum(homes[one].index > homes[other].index for one, other in pairwise(places))
        self._is_shuffled = wrong > 1 and wrong > _MANY * len(places)
        self._place_of = {homes[place].index: place for place in sorted(homes, reverse=True)}
        self._anchors = self._followed(max((cell.index for cell in handed), default=-1))

    def _followed(self, last: int) -> list[int]:
        """For each handed cell the released place that it stands at or follows."""
        anchors, place = [], -1
        for index in range(last + 1):
            place = self._place_of.get(index, place)
            anchors.append(place)
        return anchors

    def of_handed(self, index: int) -> _Key:
        """The key of a student's cell."""
        return (self._anchors[index], 1 + index, 0) if self._is_shuffled else (index, 0, 0)

    def of_given(self, place: int) -> _Key:
        """The key of a lesson's cell: just above the student's copy, which may say something else."""
        if self._is_shuffled:
            return (place, 0, 0)
        return (self._homes[place].index, -1, place) if place in self._homes else self._behind(place)

    def of_check(self, place: int) -> _Key:
        """The key of a check: below what the student wrote into its cell."""
        return (place, _LAST, 0) if self._is_shuffled else self._behind(place)

    def _behind(self, place: int) -> _Key:
        """Behind the student's copy of a released cell, or of the nearest one before it that is there."""
        before = next((each for each in range(place, -1, -1) if each in self._homes), None)
        return (-1, 0, place) if before is None else (self._homes[before].index, 1, place)


def _of_the_release(release: NotebookNode, places: Places, keys: _Keys) -> Iterator[tuple[_Key, Part]]:
    """The lesson's cells, and where each exercise is checked: never above the first cell that answers it."""
    for place, cell in enumerate(released_cells(release).cells):
        if cell.kind != "code" or cell.ran_before:
            continue
        if cell.is_solution:
            if not places.answers.get(cell.grade_id):
                yield keys.of_given(place), Part(Role.ANSWER, cell.source, (cell.grade_id,))
            continue
        exercise = cell.exercise
        if exercise is None:
            yield keys.of_given(place), Part(Role.GIVEN, cell.source)
            continue
        least = [answer.index for answer in places.answers.get(exercise, ())[:1]]
        check = places.checks.get(exercise)
        least += [check.place] if check else []
        below = [(*keys.of_handed(index)[:2], _LAST) for index in least]
        called = check.called if check and check.called != exercise else ""
        yield max([keys.of_check(place), *below]), Part(Role.CHECK, exercises=(exercise,), called=called)


def _of_the_student(
    handed: Sequence[Handed], release: NotebookNode, places: Places, keys: _Keys
) -> Iterator[tuple[_Key, Part]]:
    """The answers, and the student's own code: cells of their own, and course cells that they changed."""
    answering: dict[int, tuple[str, ...]] = {}
    for exercise, cells in places.answers.items():
        for cell in cells:
            answering[cell.index] = (*answering.get(cell.index, ()), exercise)
    known = texts_of(release)
    for cell in handed:
        if cell.index in answering:
            yield keys.of_handed(cell.index), Part(Role.ANSWER, cell.source, answering[cell.index])
        elif bare(cell.source) not in known:
            yield keys.of_handed(cell.index), Part(Role.OWN, cell.source)
