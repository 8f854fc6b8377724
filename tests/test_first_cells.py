"""The first cells of a chapter import what it calls, and nothing that takes seconds."""

from __future__ import annotations

import subprocess
import sys

import nbformat
import pytest

from tests.our_course import COURSE
from tests.small_chapter import PROJECT

FIRST = ("parameters", "setup")
LATER = {"anywidget", "contourpy", "ipywidgets", "matplotlib", "sklearn", "torch._dynamo"}  # imported when first used
TEACHERS = {"jupytext", "nbconvert", "nbgrader", "papermill", "sqlalchemy"}
AFTER_TORCH = f"print(sorted({LATER | TEACHERS!r} & (set(sys.modules) - before)))"


def first_cells(stem: str) -> list[str]:
    """Return the cells of a chapter's notebook before its first lesson."""
    notebook = nbformat.read(PROJECT / "notebooks" / f"{stem}.ipynb", as_version=4)
    return [cell.source for cell in notebook.cells if cell.id in FIRST]


@pytest.mark.night
def test_a_chapter_opens_soon_after_torch() -> None:
    """The first cells import no plots, widgets or teachers' modules."""
    cells = [cell for stem in COURSE.stems for cell in first_cells(stem)]
    program = "\n".join(["import sys, torch; before = set(sys.modules)", *cells, AFTER_TORCH])
    ran = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True)

    assert len(FIRST) * len(COURSE.stems) == len(cells)
    assert "[]\n" == ran.stdout
