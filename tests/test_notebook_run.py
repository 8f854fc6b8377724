"""Running notebooks for reports and the site."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.errors import WorkFailed
from autograder.run_with_papermill import one_kernel_for_several_notebooks, run_notebook


def notebook(*cells: NotebookNode) -> NotebookNode:
    """Return a notebook of these cells for this Python."""
    made = nbformat.v4.new_notebook(cells=list(cells))
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def test_runs_with_parameters() -> None:
    """Parameters replace the notebook's own."""
    own = nbformat.v4.new_code_cell("x = 1", metadata={"tags": ["parameters"]})
    made = run_notebook(notebook(own, nbformat.v4.new_code_cell("print(2 * x)")), "", "", {"x": 21})

    assert "42\n" == made.cells[-1].outputs[0].text


def test_a_cell_that_fails_is_told() -> None:
    """A failing cell raises WorkFailed with the error and the next step."""
    with pytest.raises(WorkFailed, match=r"^No page: ZeroDivisionError: division by zero\. Try again\.$"):
        run_notebook(notebook(nbformat.v4.new_code_cell("1 / 0")), "No page", "Try again.")


def test_several_notebooks_in_one_kernel() -> None:
    """One process runs them in one empty folder, also after a failure; when the block ends, both are gone."""
    where = "import os\nprint((os.getpid(), os.getcwd(), os.listdir()))"
    with one_kernel_for_several_notebooks() as kernel:
        first = kernel.run(notebook(nbformat.v4.new_code_cell(where)), "", "")
        with pytest.raises(WorkFailed):
            kernel.run(notebook(nbformat.v4.new_code_cell("1 / 0")), "No page", "Try again.")
        second = kernel.run(notebook(nbformat.v4.new_code_cell(where)), "", "")

    pid, folder, names = ast.literal_eval(first.cells[-1].outputs[0].text)
    assert first.cells[-1].outputs[0].text == second.cells[-1].outputs[0].text
    assert [] == names and not Path(folder).exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
