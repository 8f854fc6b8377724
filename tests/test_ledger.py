"""The tables of what each chapter teaches agree with the chapters' cells."""

import ast
import itertools
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from autograder.course.chapter_model import Cell, CellKind, Chapter
from autograder.course.chapter_reader import read_chapter
from autograder.notebook.reveal_and_shows_error import PredictionOutcome

COURSE = Path(__file__).parent.parent / "course"
TABLES = sorted((COURSE / "ledger").glob("*.yml"))
HELPERS = ("reveal", "shows_error")

pytestmark = pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)


def entries(path: Path) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


@cache
def chapter(path: Path) -> Chapter:
    return read_chapter(COURSE / "chapters" / f"{path.stem}.py")


def named_cells(path: Path) -> dict[str, Cell]:
    return {cell.keys["name"]: cell for cell in chapter(path).cells if "name" in cell.keys}


def holds_a_claim(source: str) -> bool:
    """Return whether a cell fails if a claim of the text is no longer true."""
    nodes = list(ast.walk(ast.parse(source)))
    calls = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    return any(isinstance(node, ast.Assert) for node in nodes) or not calls.isdisjoint(HELPERS)


def with_claims(path: Path, cell: Cell) -> str:
    """Return the text of a cell and of the claims directly below it."""
    cells = chapter(path).cells
    below = itertools.takewhile(lambda each: each.kind is CellKind.CLAIM, cells[cells.index(cell) + 1 :])
    return "\n".join([cell.source, *(claim.source for claim in below)])


def test_each_id_stands_once(path: Path) -> None:
    """Each id is unique, and a plain slug."""
    ids = [entry["id"] for entry in entries(path)]

    assert sorted(set(ids)) == sorted(ids)
    assert [name for name in ids if not re.fullmatch(r"[a-z0-9-]+", name)] == []


def test_each_entry_has_its_form(path: Path) -> None:
    """An entry has a fact, and either its cell or the reason why it is left out; a core fact has a cell."""
    for entry in entries(path):
        keys = set(entry) - {"id", "fact"}
        if entry.get("core") is True and "cell" in keys:
            keys.remove("core")

        assert keys in ({"cell"}, {"cell", "advice"}, {"left_out"}), entry["id"]
        assert all("\n" not in str(value) and str(value).strip() for value in entry.values()), entry["id"]


def test_each_cell_exists(path: Path) -> None:
    """Every cell that a table names is in the chapter."""
    named = {entry["cell"] for entry in entries(path) if "cell" in entry}

    assert sorted(named - set(named_cells(path))) == []


def test_each_claim_is_held(path: Path) -> None:
    """Each fact that is no advice has a code cell that fails if it is not true."""
    cells = named_cells(path)
    claims = [entry for entry in entries(path) if "cell" in entry and not entry.get("advice")]
    loose = [
        entry["id"]
        for entry in claims
        if cells[entry["cell"]].kind is CellKind.MARKDOWN or not holds_a_claim(with_claims(path, cells[entry["cell"]]))
    ]

    assert loose == []


@pytest.mark.night  # the proofs of `make test` hold predictions; at night, this seed's too
def test_each_prediction_holds(path: Path) -> None:
    """The right answers of the chapter's predictions are those that torch computes."""
    shown: list[PredictionOutcome] = []
    found = chapter(path)
    scope: dict[str, Any] = {}
    exec(found.prelude, scope)
    scope["reveal"] = lambda guess, actual: shown.append(PredictionOutcome(guess, actual))
    for cell in found.cells:
        if cell.kind in (CellKind.LESSON, CellKind.KNOWN, CellKind.MINE, CellKind.PREDICT, CellKind.FIGURE):
            exec(cell.source, scope)

    assert [told for told in shown if not told.held] == []
