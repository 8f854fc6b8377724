"""Runs a notebook from top to bottom in a kernel of its own, with papermill."""

from __future__ import annotations

import tempfile
from typing import Any

import papermill  # type: ignore[import-untyped,unused-ignore]
from nbformat import NotebookNode

from autograder.errors import WorkFailed


def run_notebook(
    notebook: NotebookNode, failed: str, advice: str, parameters: dict[str, Any] | None = None
) -> NotebookNode:
    """The notebook with its outputs, run in an empty folder that is gone afterwards.

    Raises WorkFailed where a cell fails: `failed` says what then could not be had, `advice` the next step.
    """
    # The kernel would warn of how it is reached.
    quietly: dict[str, Any] = {"progress_bar": False, "extra_arguments": ["--log-level=ERROR"]}
    with tempfile.TemporaryDirectory(prefix="notebook-") as folder:
        try:
            made: NotebookNode = papermill.execute_notebook(notebook, None, parameters, cwd=folder, **quietly)
        except papermill.PapermillExecutionError as error:
            raise WorkFailed(f"{failed}: {error.ename}: {error.evalue}. {advice}") from error
    return made
