"""Side paths in JupyterLab: folded in a notebook just opened, and opened by a click; Run All runs them."""

from __future__ import annotations

import nbformat
from playwright.sync_api import expect

from autograder.authoring.make_chapter_notebooks import solution_notebook, to_bytes
from autograder.course.chapter_reader import read_chapter
from tests.browser.lab import Lab

TEXT = """\
# %% [markdown]
# # Chapter 9: Folds

# %% setup=true
import math

# %% [markdown] side=true
# #### When is a sum exact? (3 minutes)
#
# When each step of it is.

# %%
math.fsum([0.1] * 10)

# %% [markdown] side=true
# #### When else? (3 minutes)
#
# Never.

# %% [markdown]
# ### Back on the main path

# %%
"the end"
"""


def test_folded_run_and_opened(lab: Lab) -> None:
    """A reader sees only the questions; Run All runs folded cells; a click opens one side path and not the other."""
    path = lab.server.folder / "ch09_folds.py"
    path.write_text(TEXT, encoding="utf-8")
    path.with_suffix(".ipynb").write_bytes(to_bytes(solution_notebook(read_chapter(path), "")))
    lab.open("ch09_folds.ipynb")
    page = lab.page
    question = page.locator(".jp-MarkdownCell").filter(has_text="↳ When is a sum exact? (3 minutes)")
    expect(question).to_be_visible()
    for hidden in ("When each step of it is.", "math.fsum", "Never."):
        expect(page.locator(".jp-Cell").filter(has_text=hidden)).to_be_hidden()
    expect(page.locator(".jp-Cell").filter(has_text="Back on the main path")).to_be_visible()
    lab.screenshot("side-path-folded")

    lab.run_all()
    lab.wait_for_idle()
    saved = nbformat.read(lab.save(), as_version=nbformat.NO_CONVERT)
    assert all(cell.execution_count for cell in saved.cells if cell.cell_type == "code")

    question.locator(".jp-showHiddenCellsButton").click()
    expect(page.locator(".jp-CodeCell").filter(has_text="math.fsum")).to_be_visible()
    expect(page.locator(".jp-Cell").filter(has_text="Never.")).to_be_hidden()
    assert [] == lab.complaints
