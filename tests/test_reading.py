"""The notebooks for readers without JupyterLab: valid files, and Markdown that other programs render."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import nbformat
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.small_chapter import PROJECT

NOTEBOOKS = sorted([*(PROJECT / "notebooks").glob("*.ipynb"), *(PROJECT / "solutions").glob("*.ipynb")])
ids = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")

# This is the Python version of markdown-it, with which VS Code renders; GitHub and Colab parse the same tables.
READER = MarkdownIt("commonmark").enable("table")
LEFT_OVER = re.compile(r"\*\*\w|\w\*\*|\]\(|^\s*\||^#+ |```|<details|</")


def texts(tokens: list[Token]) -> list[str]:
    """Return the displayed words, without code, mathematics and HTML."""
    inline = [child for token in tokens for child in token.children or []]
    return [token.content for token in inline if token.type == "text"]


@ids
def test_file_is_valid_without_a_warning(path: Path) -> None:
    """nbformat validates the file without a warning, and each cell has its own id."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=nbformat.NO_CONVERT)
        nbformat.validate(notebook)

    assert (4, 5) == (notebook.nbformat, notebook.nbformat_minor)
    assert len(notebook.cells) == len({cell.id for cell in notebook.cells})


@ids
def test_markdown_leaves_nothing_over(path: Path) -> None:
    """Every table and emphasis is rendered, so that no Markdown mark is left in the text."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            tokens = READER.parse(re.sub(r"\$[^$]+\$", "math", cell.source))
            rows = re.findall(r"^\|[ :|-]+\|$", cell.source, re.MULTILINE)

            assert [] == [text for text in texts(tokens) if LEFT_OVER.search(text)], cell.source
            assert len(rows) == sum(token.type == "table_open" for token in tokens), cell.source


@ids
def test_folds_are_closed_and_nothing_is_fetched(path: Path) -> None:
    """Each `<details>` ends in its cell, and no picture, style or script is loaded."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            html = [token.content for token in READER.parse(cell.source) if token.type == "html_block"]

            assert cell.source.count("<details>") == cell.source.count("</details>"), cell.source
            assert not re.search(r"<(script|style|iframe|img|link)\b|!\[", "".join(html) + cell.source), cell.source
