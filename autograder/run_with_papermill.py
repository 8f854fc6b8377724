"""Run a notebook from top to bottom in a new kernel, with papermill."""

from __future__ import annotations

import tempfile
from typing import Any

import papermill  # type: ignore[import-untyped,unused-ignore]
from nbformat import NotebookNode

from autograder.errors import WorkFailed


def run_notebook(
    notebook: NotebookNode, failed: str, advice: str, parameters: dict[str, Any] | None = None
) -> NotebookNode:
    """Run the notebook in an empty temporary folder, and return it with its outputs.

    Raises WorkFailed if a cell fails: `failed` says what could not be made, and `advice` what to do next.
    """
    # Without this log level, the kernel would print a warning about its transport.
    quietly: dict[str, Any] = {"progress_bar": False, "extra_arguments": ["--log-level=ERROR"]}
    with tempfile.TemporaryDirectory(prefix="notebook-") as folder:
        try:
            made: NotebookNode = papermill.execute_notebook(notebook, None, parameters, cwd=folder, **quietly)
        except papermill.PapermillExecutionError as error:
            raise WorkFailed(f"{failed}: {error.ename}: {error.evalue}. {advice}") from error
    return made
