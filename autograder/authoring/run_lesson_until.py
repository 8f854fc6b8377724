"""Run a chapter's cells up to a named one, with worked solutions, and return the variables (e.g. a trained model)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import torch

from autograder.course.chapter_model import Cell, CellKind, Chapter
from autograder.course.chapter_reader import read_chapter
from autograder.errors import ChapterFormatError

_SKIPPED = {CellKind.MARKDOWN, CellKind.CHECK, CellKind.FIGURE, CellKind.CLAIM}


def run_lesson_until(path: Path, last: str, seed: int = 0) -> dict[str, Any]:
    """Run a chapter's cells up to the one named `last`, and return its variables; raise ChapterFormatError without it.

    Where the lesson takes a student's function, it gets the worked solution. torch's random state and number of threads
    stay as they are.
    """
    chapter = read_chapter(path)
    names = [cell.fixed_id for cell in chapter.cells]
    if last not in names:
        raise ChapterFormatError(f"{chapter.where}:1: expected a cell with the name {last!r}, found none. Name one.")
    variables: dict[str, Any] = {"__name__": "lesson"}
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]), redirect_stdout(StringIO()):
        try:
            for cell in chapter.cells[: names.index(last) + 1]:
                if cell.kind not in _SKIPPED:
                    exec(_code(chapter, cell, seed), variables)
                if cell.kind is CellKind.SETUP:
                    variables["mine"] = _solutions_in(variables)
        finally:
            torch.set_num_threads(threads)
    return variables


def _code(chapter: Chapter, cell: Cell, seed: int) -> str:
    """Return the code of a cell, with the seed in the parameters and the solution in an exercise."""
    if cell.kind is CellKind.EXERCISE:
        return chapter.solution(cell.keys["exercise"])
    if cell.kind is CellKind.PARAMETERS:
        return f'{cell.source}\nseed, device = {seed}, "cpu"'
    return cell.source


def _solutions_in(variables: dict[str, Any]) -> Callable[..., Any]:
    """Return what stands for `mine`: it returns the variable of the exercise's name, or else the lesson's own."""
    return lambda name, plain: variables.get(name, plain)
