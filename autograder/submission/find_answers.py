"""Find the cell that answers each exercise among a student's cells."""

from __future__ import annotations

import ast
import difflib
import heapq
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from autograder.ipython_syntax import CHECK
from autograder.submission.extract_answer_statements import cell_defines, statements, unparse
from autograder.submission.extract_submitted_cells import MAX_CELLS, SubmittedCell
from autograder.submission.read_released_cells import normalized_text, released_cells, released_texts, starters

if TYPE_CHECKING:  # students' machines need not have nbformat
    from nbformat import NotebookNode

_ALIKE = 0.5  # a cell without other marks counts as the exercise's if its similarity to the starter is at least this
_COMPARED = 5  # cells that are compared with a starter in full


@dataclass(frozen=True)
class FoundAnswer:
    """Where an exercise's answer was found: the cell, None if nowhere.

    `how` says how it was found; rebuild_notebook_from_release.py has a message for each such word. `later` is an answer
    below the check, if the check probed another one.
    """

    cell: SubmittedCell | None
    how: str = ""
    later: SubmittedCell | None = None


@dataclass(frozen=True)
class CheckCall:
    """Where a notebook checks an exercise (index of the cell), and the name of the answer that it passes to `check`."""

    place: int
    called: str


def find_answers(
    code: Sequence[SubmittedCell], release: NotebookNode, checks: Mapping[str, CheckCall]
) -> dict[str, FoundAnswer]:
    """Find the answer to each exercise; `code` are the student's code cells, and `checks` say where they check it."""
    return find_answers_with_starters(code, starters(release), released_texts(release), checks)


def find_answers_with_starters(
    code: Sequence[SubmittedCell], untouched: Mapping[str, str], known: Collection[str], checks: Mapping[str, CheckCall]
) -> dict[str, FoundAnswer]:
    """Find the answers to exercises with the starters `untouched`; `known` are released texts, which answer nothing."""
    nowhere = MAX_CELLS
    finds = {
        name: _find(name, code, known, checks.get(name, CheckCall(nowhere, name)), untouched) for name in untouched
    }
    taken = {find.cell.index for find in finds.values() if find.cell}
    free = [cell for cell in code if cell.index not in taken and normalized_text(cell.source) not in known]
    for exercise in [name for name, find in finds.items() if find.cell is None]:
        alike = _most_alike(untouched[exercise], free)
        if alike:
            free.remove(alike)
            finds[exercise] = FoundAnswer(alike, "by likeness")
    return finds


def find_last_checks(code: Sequence[SubmittedCell], release: NotebookNode) -> dict[str, CheckCall]:
    """Return, for each exercise, the last cell that checks it: the course's own check cell, or one that was added."""
    return find_last_checks_by_id(code, released_cells(release).checks)


def find_last_checks_by_id(code: Sequence[SubmittedCell], marks: Mapping[str, str]) -> dict[str, CheckCall]:
    """Return the last cell that checks each exercise; `marks` are the grade ids of the check cells, by exercise."""
    by_mark = {cell.grade_id: cell.index for cell in reversed(code) if cell.grade_id}
    found = {name: CheckCall(by_mark[mark], name) for name, mark in marks.items() if mark in by_mark}
    for cell in code:
        for name, called in checked_exercises(cell.source).items():
            if name in marks and (name not in found or found[name].place <= cell.index):
                found[name] = CheckCall(cell.index, name if called in marks else called)
    return found


def checked_exercises(source: str) -> dict[str, str]:
    """Return the exercises that a cell calls `check` for, each with the name of the answer that it passes."""
    checks = _calls_of_check(source)
    given = ((args[0].value, args[1:2]) for args in checks if args and isinstance(args[0], ast.Constant))
    return {name: _name(second) or name for name, second in given if isinstance(name, str)}


def _calls_of_check(source: str) -> list[list[ast.expr]]:
    """Return the arguments of each call of `check` at the top level of a cell."""
    nodes = (each.node for each in statements(source) or ()) if "check(" in source else ()
    calls = (node.value for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
    return [call.args for call in calls if isinstance(call.func, ast.Name) and call.func.id == "check"]


def _name(given: Sequence[ast.expr]) -> str:
    """Return the name that is passed as the argument; "" if it is another expression or missing."""
    return "".join(each.id for each in given if isinstance(each, ast.Name))


def bind_checked_expressions(code: Sequence[SubmittedCell], release: NotebookNode) -> list[SubmittedCell]:
    """Return the cells, where an expression passed to `check`, such as `Mine.answer`, is bound to the exercise's name.

    The assignment is added only if no other cell defines that name, so that trying something out in a further check
    replaces no answer.
    """
    texts = released_texts(release)
    changed = [cell.source for cell in code if normalized_text(cell.source) not in texts]
    free = {name for name in starters(release) if not any(cell_defines(source, name) for source in changed)}
    return [_named(cell, free) if free else cell for cell in code]


def _named(cell: SubmittedCell, exercises: Container[str]) -> SubmittedCell:
    pairs = ((args[0], args[1]) for args in _calls_of_check(cell.source) if len(args) > 1)
    given = {
        name.value: value
        for name, value in pairs
        if isinstance(name, ast.Constant) and isinstance(value, ast.Attribute | ast.Lambda)
    }
    texts = {name: unparse(value) for name, value in given.items() if isinstance(name, str) and name in exercises}
    bound = [f"\n{name} = {text}" for name, text in texts.items() if text]
    return replace(cell, source=cell.source + "".join(bound)) if bound else cell


def _find(
    exercise: str, code: Sequence[SubmittedCell], known: Collection[str], check: CheckCall, untouched: Mapping[str, str]
) -> FoundAnswer:
    """Find the cell that answers an exercise: the last one above its check, since the check probed that one."""
    marked = [cell for cell in code if cell.grade_id == exercise]
    changed = [cell for cell in code if normalized_text(cell.source) not in known]
    answers = [cell for cell in changed if cell_defines(cell.source, check.called)]
    above, below = ([cell for cell in answers if (cell.index <= check.place) is first] for first in (True, False))
    above = [cell for cell in above if statements(cell.source) is not None] or above  # prefer cells that can run
    if answers:
        cell = (above or below)[-1]
        return FoundAnswer(cell, _how(cell, exercise, marked, known, untouched), below[-1] if above and below else None)
    tried = [cell for cell in marked if cell in changed]
    if tried or marked:
        return FoundAnswer((tried or marked)[-1], "copies" if len(marked) > 1 else "")
    naming = [cell for cell in code if normalized_text(cell.source) == normalized_text(untouched[exercise])]
    return FoundAnswer(naming[-1], "by name") if naming else FoundAnswer(None, "missing")


def _how(
    cell: SubmittedCell,
    exercise: str,
    marked: Sequence[SubmittedCell],
    known: Collection[str],
    untouched: Mapping[str, str],
) -> str:
    """Return how an answer was found, a key of messages in `rebuild_notebook_from_release`; "" for nothing to say."""
    if cell.grade_id == exercise:
        return "copies" if len(marked) > 1 else ""
    if cell.grade_id in untouched:
        return "merged"
    if cell.grade_id == f"{CHECK}{exercise}":
        return "at its check"
    if not marked:
        return "by name"
    if cell.index < marked[-1].index and statements(marked[-1].source) is None:
        return "unreadable"
    return "elsewhere" if all(normalized_text(each.source) in known for each in marked) else "again"


def _most_alike(starter: str, cells: Iterable[SubmittedCell]) -> SubmittedCell | None:
    """Return the cell that is most similar to the starter, if it is similar enough; of several, the first.

    Comparing takes long: so only the few cells that share most characters with the starter are compared.
    """
    letters = Counter(starter)
    candidates = heapq.nsmallest(
        _COMPARED, ((-_shared(starter, letters, cell.source), cell.index, cell) for cell in cells)
    )
    rated = [(_likeness(starter, cell.source), -index, cell) for shared, index, cell in candidates if -shared >= _ALIKE]
    best = max(rated, key=lambda entry: entry[:2], default=None)
    return best[2] if best and best[0] >= _ALIKE else None


def _shared(starter: str, letters: Counter[str], source: str) -> float:
    """Return the share of characters that two texts have in common, in any order: their similarity is not larger.

    It is 0 if the lengths of the texts alone make them too different.
    """
    both, shorter = len(starter) + len(source), min(len(starter), len(source))
    return 0.0 if 2 * shorter < _ALIKE * both else 2 * (letters & Counter(source)).total() / both


@lru_cache(maxsize=4096)  # a run reads a submission more than once
def _likeness(starter: str, source: str) -> float:
    return difflib.SequenceMatcher(None, starter, source, autojunk=False).ratio()
