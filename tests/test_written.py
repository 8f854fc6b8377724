"""The writer of a class's notebooks produces the same text as nbformat."""

from __future__ import annotations

import copy
import logging
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.nbgrader_plugin.caching_notebook_writer import CachingNotebookWriter


def code(source: str, name: str, points: Any = 1) -> NotebookNode:
    """Return a cell with all kinds of outputs."""
    shown = {"text/plain": "a\nb", "text/html": "<b>\n</b>", "application/json": {"x": [1]}}
    outputs = [
        new_output("stream", name="stdout", text="one\ntwo é\u2028"),
        new_output("display_data", data=shown),
        new_output("execute_result", data={"text/plain": "1.0"}, execution_count=None),
    ]
    about = {"nbgrader": {"points": points, "grade": True}, "trusted": True}
    return new_code_cell(source, id=name, metadata=about, outputs=outputs)


def notebook(*cells: NotebookNode) -> NotebookNode:
    """Return a notebook with metadata that files do not keep."""
    return new_notebook(cells=list(cells), metadata={"orig_nbformat": 3, "title": "x"})


TEXT = new_markdown_cell('"cells": []\n\n "cells": []', id="text")
CLASS = (
    notebook(TEXT, code("x = 1\ny = 2", "a")),
    notebook(TEXT, code("x = 1\ny = 2", "a", 1.0)),
    notebook(TEXT, code("x = 1\ny = 2", "a", True), code("", "b")),
    notebook(code("", "b"), TEXT, code("x = 1\ny = 2", "a")),
    notebook(),
    notebook(TEXT),
)


def test_each_of_a_class_is_written_as_nbformat_writes_it() -> None:
    """Each notebook's text is nbformat's, even if its cells equal earlier ones."""
    writer = CachingNotebookWriter()

    for each in (*CLASS, *CLASS):
        assert nbformat.writes(each) == writer.written(copy.deepcopy(each))


def test_cells_of_one_name_are_renamed_as_nbformat_does() -> None:
    """Duplicate cell ids in a notebook are renamed as by nbformat, and a single one is kept."""
    writer, twice = CachingNotebookWriter(), notebook(TEXT, code("", "b"))
    twice.cells[1].id = "text"
    writer.written(copy.deepcopy(CLASS[0]))

    with pytest.warns(nbformat.warnings.DuplicateCellId):
        written = nbformat.reads(writer.written(twice), as_version=4)

    assert "text" == written.cells[0].id != written.cells[1].id
    assert nbformat.writes(notebook(code("", "text"))) == writer.written(notebook(code("", "text")))


def test_what_is_not_valid_is_told_each_time_and_written(caplog: pytest.LogCaptureFixture) -> None:
    """An invalid notebook logs an error with the place each time, and is written."""
    writer, wrong = CachingNotebookWriter(), notebook(TEXT, code("x", "a"))
    wrong.cells[1].metadata.tags = 3
    writer.written(copy.deepcopy(CLASS[0]))

    with caplog.at_level(logging.ERROR):
        texts = {writer.written(copy.deepcopy(wrong)) for _ in range(2)}

    assert 2 == len(caplog.messages) and all("instance['cells'][1]" in each for each in caplog.messages)
    assert {nbformat.writes(wrong)} == texts
