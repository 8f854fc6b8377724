"""Splitting a chapter's text into cells without jupytext gives the same cells as with it."""

from __future__ import annotations

from pathlib import Path

import jupytext
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autograder.course.fast_percent_parser import PlainCell, cells_if_all_plain
from autograder.course.lint_chapter import find_cell_markers
from autograder.errors import ChapterFormatError
from tests.small_chapter import PROJECT, SAMPLE, TEXT

CHAPTERS = [*sorted((PROJECT / "course/chapters").glob("*.py")), *(SAMPLE / "course/chapters").glob("*.py")]
MARKERS = ("# %%", "# %% [markdown]", '# %% name="a-b"', '# %% exercise="halve" points=2', "# %% [markdown] side=true")
# Lines that one of the two parsers could treat specially.
ROWS = (
    "",
    "x = 1",
    "    y = 2  # %% no marker",
    "# plain",
    "#",
    "# # a heading",
    "# ## Why?",
    "# why?",
    "#why?",
    "# %matplotlib inline",
    "%matplotlib inline",
    "!ls \\",
    "# !pip install torch",
    "# copy what is there",
    "# echo",
    "# files = !ls",
    "# + a list",
    "# # + a list",
    "#   indented",
    "    # %% indented",
    "# In[3]:",
    '"""',
    "s = '''",
    's = """one""" + "two"',
    "# ```",
    "# ~~~",
    "# a line that goes on \\",
    "?torch",
    "torch?",
    "%%bash",
    "it = 'a # b'",
    " ",
    "# tab\there",
    "\f",
)


def by_jupytext(text: str) -> list[PlainCell]:
    """Return the cells as jupytext reads them, without its layout metadata."""
    cells = jupytext.reads(text, fmt="py:percent").cells
    notes = ("lines_to_next_cell", "cell_marker")
    about = ({key: value for key, value in cell.metadata.items() if key not in notes} for cell in cells)
    return [PlainCell(cell.cell_type, keys, cell.source) for cell, keys in zip(cells, about, strict=True)]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_chapters_are_plain(path: Path) -> None:
    """All our chapters are read without jupytext, with the same result."""
    text = path.read_text(encoding="utf-8")

    assert by_jupytext(text) == cells_if_all_plain(text, find_cell_markers(text, path.name))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(MARKERS), st.lists(st.sampled_from(ROWS), max_size=5)), min_size=1, max_size=4)
)
@example([("# %%", ["x = 1", "", ""]), ("# %%", ["x = 1", "", "", ""]), ("# %%", ["x = 1"])])
@example([("# %%", ['s = """', "# plain"]), ("# %%", ['"""'])])
@example([("# %% [markdown]", ["# ```", "# # a heading"]), ("# %%", ["x = 1", "# ```"])])
@example([("# %% [markdown]", ["# ```", "# ~~~"]), ("# %%", ["# ```"])])
def test_whatever_is_read_is_read_as_by_jupytext(cells: list[tuple[str, list[str]]]) -> None:
    """Any text is split as jupytext does, or left to jupytext."""
    text = "".join(f"{row}\n" for marker, rows in cells for row in (marker, *rows))
    try:
        mine = cells_if_all_plain(text, find_cell_markers(text, "here"))
    except ChapterFormatError:  # such as an indented marker, which is an error
        return
    assert mine is None or by_jupytext(text) == mine


@pytest.mark.parametrize("row", ["# %matplotlib inline", "# copy what is there", "    # %% indented", '"""', "%%bash"])
def test_what_is_not_plain_is_left_to_jupytext(row: str) -> None:
    """A text with special lines is left to jupytext."""
    for text in (TEXT, TEXT + f"\n# %%\n{row}\nx = 1\n"):
        assert (text is TEXT) == (cells_if_all_plain(text, find_cell_markers(text, "here")) is not None)
