"""Match a submission's cells to the released notebook, also moved or changed ones, and rebuild the notebook from both.

From the released notebook come the order, the metadata and the locked cells; from the student come the answers and the
added cells. Nothing else in the student's file (tags, kernel, points, cell ids) is kept.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from nbformat import NotebookNode

from autograder.ipython_syntax import SETUP
from autograder.submission.build_repaired_notebook import PlacedCell, place_released_cell
from autograder.submission.extract_answer_statements import statements
from autograder.submission.extract_submitted_cells import MAX_CELL_CHARACTERS, SubmittedCell
from autograder.submission.find_answers import FoundAnswer, bind_checked_expressions, find_answers, find_last_checks
from autograder.submission.order_repaired_cells import CellMatches, order_cells_as_in_notebook
from autograder.submission.read_released_cells import (
    ReleasedCell,
    normalized_text,
    released_cells,
    released_texts,
    starters,
)
from autograder.submission.report_suspicious_lines import suspicious_line_messages
from autograder.submission.submission import Submission

# The message for each kind of repair; {} is replaced by the exercises or cells that needed it.
_SENTENCES = {
    "copies": "cells there more than once; the last answer above the check counts: {}",
    "again": "answered again in a cell of the student's own, between the exercise's cell and its check: {}",
    "later": "answered again below the check; the better of the two answers counts: {}",
    "merged": "answered in the cell of another exercise: {}",
    "at its check": "answered in the cell of its check: {}",
    "unreadable": "the exercise's cell cannot be read as Python; an answer in a cell above it counts: {}",
    "text": "cells with code that had been turned into text, read as code: {}",
    "by name": "cells that had lost nbgrader's mark, found by the function's name: {}",
    "elsewhere": "answered in a cell of the student's own, while the exercise's cell was left untouched: {}",
    "by likeness": "cells that had lost nbgrader's mark, found by their likeness to the starter: {}",
    "missing": "exercise cells that were missing, put back untouched: {}",
    "checks": "check cells that were missing, put back: {}",
    "changed": "locked cells that were changed; the course's own are used, what was added counts as own code: {}",
    "setup": "the setup cell was missing; the course's own is used: {}",
    "locked": "locked cells that were missing, put back: {}",
    "long": f"cells of more than {MAX_CELL_CHARACTERS} characters, which are not read: {{}}",
}
_FENCED = re.compile(r"\s*(?P<fence>`{3,}|~{3,})\w*[ \t]*\n(?P<code>(?:(?!(?P=fence)).)*)\n(?P=fence)\s*", re.DOTALL)
_FOR_REVIEW = ("missing", "long")  # another cell may have held the better answer, or the only one


def repair_submission(handed: Sequence[SubmittedCell], release: NotebookNode) -> Submission:
    """Match a student's cells to the released notebook; return the repaired submission with messages about repairs."""
    cells = _as_code(handed, release)
    code = bind_checked_expressions([cell for cell in cells if cell.kind == "code" and cell.source.strip()], release)
    checks = find_last_checks(code, release)
    finds = find_answers(code, release, checks)
    homes = _find_others(cells, release, finds)
    notes = _notes(finds, handed, cells)
    _note_locked(release, homes, {cell.grade_id for cell in handed}, notes)
    answers = {exercise: find.cell.source for exercise, find in finds.items() if find.cell}
    answering = {name: tuple(filter(None, (find.cell, find.later))) for name, find in finds.items()}
    return Submission(
        release,
        tuple(_laid_out(cells, release, homes)),
        answers={name: answers.get(name, starter) for name, starter in starters(release).items()},
        parts=order_cells_as_in_notebook(code, release, CellMatches(homes, answering, checks)),
        repairs=_messages({how: names for how, names in notes.items() if how not in _FOR_REVIEW}),
        eye=(
            *_messages({how: names for how, names in notes.items() if how in _FOR_REVIEW}),
            *_flagged_lines(code, release, answering),
        ),
    )


def _flagged_lines(
    code: Sequence[SubmittedCell], release: NotebookNode, answering: Mapping[str, tuple[SubmittedCell, ...]]
) -> tuple[str, ...]:
    """Return messages about lines of the student's own code that a person should look at."""
    answers: dict[int, tuple[str, ...]] = {}
    for name, cells in answering.items():
        answers |= {cell.index: (*answers.get(cell.index, ()), name) for cell in cells}
    known = released_texts(release)
    return suspicious_line_messages(
        [cell for cell in code if normalized_text(cell.source) not in known], release, answers
    )


def _as_code(handed: Sequence[SubmittedCell], release: NotebookNode) -> list[SubmittedCell]:
    """Return the cells, with code that was turned into a text cell (one key in JupyterLab) as code cells again."""
    known = released_texts(release)
    marked = {cell.grade_id for cell in released_cells(release).cells if cell.has_mark and cell.kind == "code"}

    def is_code(cell: SubmittedCell) -> bool:
        if cell.is_cut or normalized_text(cell.source) in known:
            return False
        written = statements(cell.source) if "def " in cell.source or "class " in cell.source else ()
        return cell.grade_id in marked or any(each.defines for each in written or ())

    def read_as_code(cell: SubmittedCell) -> SubmittedCell:
        # Take the code out of fences only if the cell has the mark of a code cell: other text may quote an earlier try.
        fenced = _FENCED.fullmatch(cell.source) if cell.grade_id in marked else None
        return replace(cell, kind="code", source=fenced["code"] if fenced else cell.source)

    return [read_as_code(cell) if cell.kind != "code" and is_code(cell) else cell for cell in handed]


def _notes(
    finds: Mapping[str, FoundAnswer], handed: Sequence[SubmittedCell], cells: Sequence[SubmittedCell]
) -> dict[str, list[str]]:
    """Return the exercises or cells to report, by the kind of repair; `cells` are those of `handed` as code."""
    notes: dict[str, list[str]] = defaultdict(list)
    for exercise, find in finds.items():
        if find.how:
            notes[find.how].append(exercise)
        if find.later:
            notes["later"].append(exercise)
    turned = [one for one, other in zip(handed, cells, strict=True) if one.kind != other.kind]
    notes["text"] = [f"cell {cell.index + 1}" for cell in turned]
    notes["long"] = [f"cell {cell.index + 1}" for cell in handed if cell.is_cut]
    return notes


def _messages(notes: Mapping[str, list[str]]) -> tuple[str, ...]:
    return tuple(_SENTENCES[how].format(", ".join(names)) for how, names in notes.items() if names)


# --- finding the other cells


def _find_others(
    handed: Sequence[SubmittedCell], release: NotebookNode, finds: Mapping[str, FoundAnswer]
) -> dict[int, SubmittedCell]:
    """Return the submitted cell that corresponds to each released cell, by the index of the released one.

    Answers are taken from `finds`; the others are matched by nbgrader's id, by cell id, and then by text.
    """
    homes: dict[int, SubmittedCell] = {}
    released = released_cells(release).cells
    for place, cell in enumerate(released):
        if cell.grade_id in finds:
            found = finds[cell.grade_id].cell
            if found:
                homes[place] = found
    used = {cell.index for cell in homes.values()}
    free = [cell for cell in handed if cell.index not in used]
    by_mark, by_id = _group((cell.grade_id, cell) for cell in free), _group((cell.cell_id, cell) for cell in free)
    by_text = cache(lambda: _group((_text_key(cell.kind, cell.source), cell) for cell in free))  # rarely needed
    for place, cell in enumerate(released):
        if place in homes or cell.grade_id in finds:
            continue
        known = (by_mark.get(cell.grade_id), by_id.get(cell.cell_id))
        option = _first(known, used) or _first([by_text().get(_text_key(cell.kind, cell.source))], used)
        if option:
            homes[place] = option
            used.add(option.index)
    return homes


def _group(keyed: Iterable[tuple[str, SubmittedCell]]) -> dict[str, list[SubmittedCell]]:
    """Group cells by their keys, in their order; cells with an empty key are left out."""
    found: dict[str, list[SubmittedCell]] = defaultdict(list)
    for key, cell in keyed:
        if key:
            found[key].append(cell)
    return dict(found)


def _first(rows: Iterable[list[SubmittedCell] | None], used: Container[int]) -> SubmittedCell | None:
    """Return the first of these cells that is not used yet."""
    return next((cell for row in rows if row for cell in row if cell.index not in used), None)


def _text_key(kind: str, source: str) -> str:
    """Return a key that cells of the same type and text share; "" for a cell without text."""
    text = normalized_text(source)
    return f"{kind} {text}" if text else ""


def _note_locked(
    release: NotebookNode, homes: Mapping[int, SubmittedCell], marks: Container[str], notes: dict[str, list[str]]
) -> None:
    """Add notes about changed locked cells and missing cells; `marks` are the grade ids in the student's file."""
    for place, cell in enumerate(released_cells(release).cells):
        if not cell.has_mark:
            continue
        if cell.is_text_answer and place not in homes:
            notes["missing"].append(cell.grade_id)
        if not cell.is_always_released_text:
            continue
        if place not in homes:
            notes["changed" if cell.grade_id in marks else _kind_of_locked(cell)].append(cell.grade_id)
        elif normalized_text(homes[place].source) != normalized_text(cell.source):
            notes["changed"].append(cell.grade_id)


def _kind_of_locked(cell: ReleasedCell) -> str:
    if cell.exercise is not None:
        return "checks"
    return "setup" if cell.grade_id == SETUP else "locked"


# --- the repaired notebook


def _laid_out(
    handed: Sequence[SubmittedCell], release: NotebookNode, homes: Mapping[int, SubmittedCell]
) -> Iterator[PlacedCell]:
    """Yield the needed released cells with the student's texts, each followed by the cells that the student added."""
    own = _own_cells(handed, release, homes)
    yield from own.get(-1, ())
    for place, cell in enumerate(released_cells(release).cells):
        if place in homes or cell.has_mark:
            yield place_released_cell(place, homes.get(place), cell)
        yield from own.get(place, ())


def _own_cells(
    handed: Sequence[SubmittedCell], release: NotebookNode, homes: Mapping[int, SubmittedCell]
) -> dict[int, list[PlacedCell]]:
    """Return the cells that the student added, by the index of the released cell before them (-1: none)."""
    places = {cell.index: place for place, cell in homes.items()}
    untouched = released_texts(release)
    own: dict[int, list[PlacedCell]] = defaultdict(list)
    place = -1
    for cell in handed:
        place = places.get(cell.index, place)
        if cell.index not in places and normalized_text(cell.source) not in untouched:
            own[place].append(PlacedCell(None, cell))
    return own
