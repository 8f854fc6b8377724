"""Run the cells of a chapter that depend on `mine`, with some of its exercises solved and the others open."""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from autograder.course.points_and_hints import IndexedChapter
from autograder.name_bindings import UsedAndBoundNames, find_used_and_bound_names
from autograder.notebook.last_checked_answer import digest_of_answer
from autograder.notebook.progress_log import PROGRESS_FILE, LoggedCheck, _append
from autograder.submission.extract_answer_statements import statements, variable_names
from tests.small_chapter import PROJECT

MINE = "mine("
SHORT = ("short = False", "short = True")
OPEN, SOLVED = "notebooks", "solutions"


@dataclass(frozen=True)
class Cell:
    """A code cell as handed out and as solved; `exercise` is the one that it answers, `checks` the one it checks."""

    open: str
    solved: str
    exercise: str = ""
    checks: str = ""
    is_setup: bool = False

    @cached_property
    def names(self) -> UsedAndBoundNames:
        """Return the names that the solved cell binds and uses."""
        return find_used_and_bound_names(each.node for each in statements(self.solved) or ())

    @cached_property
    def taken(self) -> dict[str, set[str]]:
        """Map each exercise that the cell takes with `mine` to the names that the statement binds."""
        found: dict[str, set[str]] = {}
        for each in (statements(self.solved) or ()) if MINE in self.solved else ():
            for call in ast.walk(each.node):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "mine":
                    found.setdefault(ast.literal_eval(call.args[0]), set()).update(each.names.bound)
        return found


@dataclass(frozen=True)
class Chapter:
    """A chapter's code cells, from top to bottom."""

    stem: str
    cells: tuple[Cell, ...]

    @property
    def taken(self) -> list[str]:
        """Return the exercises whose answers its lessons take, in order."""
        return list(dict.fromkeys(name for cell in self.cells for name in cell.taken))

    @cached_property
    def _values(self) -> frozenset[str]:
        return variable_names(each for cell in self.cells for each in statements(cell.solved) or ())

    def _gives(self, cell: Cell) -> set[str]:
        """Return the names whose value a cell may set or change.

        A call may change its arguments, unless they are modules or functions.
        """
        return cell.names.bound | cell.names.changed | (cell.names.perhaps_changed & self._values)

    def touched(self, exercises: Collection[str], used: bool = True) -> list[Cell]:
        """Return the cells that take these answers or use one, the cells they need, and the exercises and checks.

        Without `used`, return only the cells that take the answers, with the cells they need.
        """
        taking = [cell for cell in self.cells if not cell.taken.keys().isdisjoint(exercises)]
        names = {name for cell in taking for each in exercises for name in cell.taken.get(each, ())}
        kept: list[Cell] = []
        wanted: set[str] = set()
        for cell in reversed(self.cells):
            is_lesson = not (cell.exercise or cell.checks)
            is_using = cell in taking or (used and is_lesson and cell.names.used & names)
            is_own = cell.is_setup or {cell.exercise, cell.checks} & set(exercises)
            if is_using or is_own or (is_lesson and self._gives(cell) & wanted):
                kept.append(cell)
                wanted = (wanted - cell.names.bound) | cell.names.used
        return kept[::-1]

    def texts(self, cells: Iterable[Cell], solved: Collection[str], short: bool = False) -> list[str]:
        """Return the texts of cells, solved for these exercises; `short` selects the chapter's short version."""
        texts = [cell.solved if cell.exercise in solved or not cell.exercise else cell.open for cell in cells]
        return (
            [text.replace(*SHORT) if cell.is_setup else text for cell, text in zip(cells, texts, strict=True)]
            if short
            else texts
        )


@cache
def chapter(stem: str) -> Chapter:
    """Return one of our chapters, from its built notebooks."""
    pairs = zip(_code(PROJECT / OPEN / f"{stem}.ipynb"), _code(PROJECT / SOLVED / f"{stem}.ipynb"), strict=True)
    return Chapter(stem, tuple(_cell(one, other) for one, other in pairs))


def using() -> list[str]:
    """Return our chapters that use `mine`."""
    return [path.stem for path in sorted((PROJECT / OPEN).glob("*.ipynb")) if chapter(path.stem).taken]


def _code(path: Path) -> list[dict[str, Any]]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def _cell(handed_out: dict[str, Any], solved: dict[str, Any]) -> Cell:
    about = handed_out["metadata"].get("nbgrader", {})
    name, is_parameters = about.get("grade_id", ""), "parameters" in handed_out["metadata"].get("tags", ())
    return Cell(
        "".join(handed_out["source"]),
        "".join(solved["source"]),
        exercise=name if about.get("solution") else "",
        checks=name.removeprefix("check_") if about.get("grade") else "",
        is_setup=is_parameters or bool(about.get("locked") and not about.get("grade")),
    )


def lay_beside(
    folder: Path, chapters: Iterable[Chapter], listed: Iterable[IndexedChapter], solved: Collection[str]
) -> None:
    """Write notebooks of other chapters into a folder, with these exercises solved and logged as checked."""
    known = {each.stem: each for each in listed}
    for each in chapters:
        texts = each.texts(each.cells, solved)
        cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in texts]
        (folder / f"{each.stem}.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
        for cell in each.cells:
            if cell.exercise in solved and cell.exercise in known[each.stem].exercises:
                _append(
                    folder / PROGRESS_FILE,
                    cell.exercise,
                    LoggedCheck(1, 1, digest_of_answer(cell.solved, cell.exercise)),
                )
