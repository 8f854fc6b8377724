"""Repairs a submission: finds every course cell again in what was handed in.

The released notebook gives the order, the marks and the locked cells; the student gives the answers and cells
of their own. Nothing else that the student's file says (tags, kernel, points, cell ids) is kept.
"""

from __future__ import annotations

import copy
import difflib
import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.grading.handed import MAX_SOURCE, Handed
from autograder.grading.harmless import as_typed, shown
from autograder.grading.source import defines, helpers

_ALIKE = 0.5  # from this likeness to its starter on, a cell without other marks is taken for the exercise's
_COMPARED = 5


@dataclass(frozen=True)
class Submission:
    """One student's notebook, repaired: what to run, what to show, and what had to be mended, in plain words.

    `assemble` makes the notebook. `repairs` cost no points; a person should look at `eye`, which may have. `trouble`
    says why a file could not be read at all; the notebook is then the released one, untouched.
    """

    assemble: Callable[[], NotebookNode]
    answers: dict[str, str] = field(default_factory=dict)
    helpers: str = ""
    repairs: tuple[str, ...] = ()
    eye: tuple[str, ...] = ()
    trouble: str | None = None

    @cached_property
    def notebook(self) -> NotebookNode:
        """The released notebook with what the student wrote: made where it is looked at, not where it is only run."""
        return self.assemble()


@dataclass(frozen=True)
class _Find:
    """Where an exercise's answer was found: the cell (None: nowhere), and how, as a key of `_SENTENCES`."""

    cell: Handed | None
    how: str = ""


# What is told of a repair; {} holds the exercises or cells it was needed for.
_SENTENCES = {
    "copies": "cells there more than once; the last one with an answer counts: {}",
    "by name": "cells that had lost nbgrader's mark, found by the function's name: {}",
    "elsewhere": "answered in a cell of the student's own, while the exercise's cell was left untouched: {}",
    "by likeness": "cells that had lost nbgrader's mark, found by their likeness to the starter: {}",
    "missing": "exercise cells that were missing, put back untouched: {}",
    "checks": "check cells that were missing, put back: {}",
    "changed": "locked cells that were changed; the course's own are used: {}",
    "setup": "the setup cell was missing; the course's own is used: {}",
    "long": f"cells of more than {MAX_SOURCE} characters, which are not read: {{}}",
}
_EYE = ("copies", "missing", "long")  # another cell may have held the better answer, or the only one


def repair(handed: Sequence[Handed], release: NotebookNode) -> Submission:
    """Put what was handed in into the released frame."""
    code = [cell for cell in handed if cell.kind == "code" and cell.source.strip()]
    finds = _find_answers(code, release)
    homes = _find_others(handed, release, finds)
    notes: dict[str, list[str]] = defaultdict(list)
    for exercise, find in finds.items():
        if find.how:
            notes[find.how].append(exercise)
    _note_locked(release, homes, notes)
    notes["long"] = [f"cell {cell.index + 1}" for cell in handed if cell.is_cut]
    answers = {exercise: find.cell.source for exercise, find in finds.items() if find.cell}
    return Submission(
        assemble=lambda: _assembled(handed, release, finds, homes),
        answers={name: answers.get(name, starter) for name, starter in starters(release).items()},
        helpers=helpers(_own_code(code, release, finds), answers.values()),
        repairs=_told({how: names for how, names in notes.items() if how not in _EYE}),
        eye=_told({how: names for how, names in notes.items() if how in _EYE}),
    )


def _told(notes: Mapping[str, list[str]]) -> tuple[str, ...]:
    return tuple(_SENTENCES[how].format(", ".join(names)) for how, names in notes.items() if names)


# --- finding the answers


def _find_answers(code: Sequence[Handed], release: NotebookNode) -> dict[str, _Find]:
    untouched = starters(release)
    finds = {exercise: _find(exercise, starter, code) for exercise, starter in untouched.items()}
    taken = {find.cell.index for find in finds.values() if find.cell}
    known = {_bare(cell.source) for cell in release.cells}
    free = [cell for cell in code if cell.index not in taken and _bare(cell.source) not in known]
    for exercise in [name for name, find in finds.items() if find.cell is None]:
        alike = _most_alike(untouched[exercise], free)
        if alike:
            free.remove(alike)
            finds[exercise] = _Find(alike, "by likeness")
    return finds


def _find(exercise: str, starter: str, code: Sequence[Handed]) -> _Find:
    """The cell that answers an exercise: the last answered one of the marked, else of those defining it."""
    marked = [cell for cell in code if cell.grade_id == exercise]
    naming = [cell for cell in code if cell.grade_id != exercise and defines(cell.source, exercise)]
    changed = [cell for cell in marked if _bare(cell.source) != _bare(starter)]
    answered = [cell for cell in changed if defines(cell.source, exercise)]
    elsewhere = [cell for cell in naming if _bare(cell.source) != _bare(starter)]
    copies = "copies" if len(marked) > 1 else ""
    if answered:
        return _Find(answered[-1], copies)
    if elsewhere:
        return _Find(elsewhere[-1], "elsewhere" if marked else "by name")
    if changed or marked:
        return _Find((changed or marked)[-1], copies)
    if naming:
        return _Find(naming[-1], "by name")
    return _Find(None, "missing")


def _most_alike(starter: str, cells: Iterable[Handed]) -> Handed | None:
    """The first of the cells most like the starter, if any is like it at all.

    Only the few cells that share most letters with it are compared: that takes long.
    """
    letters = Counter(starter)
    hopeful = heapq.nsmallest(
        _COMPARED, ((-_shared(starter, letters, cell.source), cell.index, cell) for cell in cells)
    )
    rated = [(_likeness(starter, cell.source), -index, cell) for shared, index, cell in hopeful if -shared >= _ALIKE]
    best = max(rated, key=lambda entry: entry[:2], default=None)
    return best[2] if best and best[0] >= _ALIKE else None


def _shared(starter: str, letters: Counter[str], source: str) -> float:
    """How many letters two texts share, in whatever order: no likeness is larger."""
    both, shorter = len(starter) + len(source), min(len(starter), len(source))
    return 0.0 if 2 * shorter < _ALIKE * both else 2 * (letters & Counter(source)).total() / both


@lru_cache(maxsize=4096)  # a submission is read more than once
def _likeness(starter: str, source: str) -> float:
    return difflib.SequenceMatcher(None, starter, source, autojunk=False).ratio()


# --- finding the other cells


def _find_others(handed: Sequence[Handed], release: NotebookNode, finds: dict[str, _Find]) -> dict[int, Handed]:
    """The handed cell that each released cell became, by its place in the release."""
    homes: dict[int, Handed] = {}
    for place, cell in enumerate(release.cells):
        if _mark(cell, "solution"):
            found = finds[_grade_id(cell)].cell
            if found:
                homes[place] = found
    used = {cell.index for cell in homes.values()}
    by_mark, by_id, by_text = _indexes(cell for cell in handed if cell.index not in used)
    for place, cell in enumerate(release.cells):
        if place in homes or _mark(cell, "solution"):
            continue
        rows = [by_mark.get(_grade_id(cell)), by_id.get(cell.get("id")), by_text.get(_text_key(cell))]
        options = [one for row in rows for one in row or () if one.index not in used]
        if options:
            homes[place] = options[0]
            used.add(options[0].index)
    return homes


def _indexes(handed: Iterable[Handed]) -> tuple[dict[str, list[Handed]], ...]:
    tables: tuple[dict[str, list[Handed]], ...] = (defaultdict(list), defaultdict(list), defaultdict(list))
    for cell in handed:
        for table, key in zip(tables, (cell.grade_id, cell.cell_id, _text_key(cell)), strict=True):
            if key:
                table[key].append(cell)
    return tables


def _text_key(cell: Handed | NotebookNode) -> str:
    kind = cell.kind if isinstance(cell, Handed) else cell.cell_type
    return f"{kind} {_bare(cell.source)}" if _bare(cell.source) else ""


def _note_locked(release: NotebookNode, homes: dict[int, Handed], notes: dict[str, list[str]]) -> None:
    for place, cell in enumerate(release.cells):
        if not (_mark(cell, "locked") or _mark(cell, "grade")) or _mark(cell, "solution"):
            continue
        if place not in homes:
            notes["checks" if _mark(cell, "grade") else "setup"].append(_grade_id(cell))
        elif _bare(homes[place].source) != _bare(cell.source):
            notes["changed"].append(_grade_id(cell))


def _own_code(code: Sequence[Handed], release: NotebookNode, finds: dict[str, _Find]) -> list[str]:
    """The student's code outside the answers: cells of their own, and course cells they changed."""
    answers = {find.cell.index for find in finds.values() if find.cell}
    known = {_bare(cell.source) for cell in release.cells}
    return [cell.source for cell in code if cell.index not in answers and _bare(cell.source) not in known]


# --- assembling


def _assembled(
    handed: Sequence[Handed], release: NotebookNode, finds: dict[str, _Find], homes: dict[int, Handed]
) -> NotebookNode:
    """The released notebook with the student's texts, and their own cells behind those they followed."""
    notebook = copy.deepcopy(release)
    own = _own_cells(handed, release, homes)
    cells = list(own.pop(-1, []))
    for place, cell in enumerate(notebook.cells):
        marked = "nbgrader" in cell.metadata
        if place in homes and not _mark(cell, "grade") and not _mark(cell, "locked"):
            cell.source = _text_for(cell, homes[place].source)
        if place in homes or marked:
            cells.append(cell)
        cells += own.get(place, [])
    notebook.cells = cells
    return notebook


def _own_cells(
    handed: Sequence[Handed], release: NotebookNode, homes: dict[int, Handed]
) -> dict[int, list[NotebookNode]]:
    """The student's own cells, by the place of the released cell that stood before them (-1: none did)."""
    places = {cell.index: place for place, cell in homes.items()}
    untouched = {_bare(cell.source) for cell in release.cells}
    own: dict[int, list[NotebookNode]] = defaultdict(list)
    place = -1
    for cell in handed:
        place = places.get(cell.index, place)
        if cell.index not in places and _bare(cell.source) not in untouched:
            fresh: NotebookNode = _own_cell(cell)
            fresh["id"] = f"own-{cell.index}"
            own[place].append(fresh)
    return own


def _own_cell(cell: Handed) -> NotebookNode:
    """A cell with this text and nothing else; a raw one, which pages take for HTML, becomes text."""
    made: NotebookNode
    if cell.kind == "code":
        made = new_code_cell(cell.source)
    else:
        made = new_markdown_cell(shown(cell.source) if cell.kind == "markdown" else as_typed(cell.source))
    return made


def _text_for(cell: NotebookNode, source: str) -> str:
    """A student's text for a released cell; where it is not the course's own, it is not rendered as if it were."""
    return source if cell.cell_type == "code" or _bare(source) == _bare(cell.source) else shown(source)


def starters(release: NotebookNode) -> dict[str, str]:
    """The solution cells that students were given, by exercise."""
    return {_grade_id(cell): cell.source for cell in release.cells if _mark(cell, "solution")}


def _mark(cell: NotebookNode, name: str) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get(name, False))


def _grade_id(cell: NotebookNode) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


@lru_cache(maxsize=1024)  # most cells are the course's own, and each is asked for many times
def _bare(source: str) -> str:
    """A text without what editors change on their own: spaces at line ends, empty lines around it."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())
