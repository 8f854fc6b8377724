"""Run notebooks from top to bottom in a new kernel, with papermill."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import papermill  # type: ignore[import-untyped,unused-ignore]
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbformat import NotebookNode

from autograder.errors import WorkFailed

# Without this log level, the kernel would print a warning about its transport.
_QUIET: dict[str, Any] = {"progress_bar": False, "extra_arguments": ["--log-level=ERROR"]}


class RunNotebook(Protocol):
    """Run a notebook, as `run_notebook` does."""

    def __call__(
        self, notebook: NotebookNode, failed: str, advice: str, parameters: dict[str, Any] | None = None
    ) -> NotebookNode: ...


def run_notebook(
    notebook: NotebookNode, failed: str, advice: str, parameters: dict[str, Any] | None = None
) -> NotebookNode:
    """Run the notebook in an empty temporary folder, and return it with its outputs.

    Raises WorkFailed if a cell fails: `failed` says what could not be made, and `advice` what to do next.
    """
    with one_kernel() as run:
        return run(notebook, failed, advice, parameters)


@contextmanager
def one_kernel() -> Iterator[RunNotebook]:
    """Yield a function that runs notebooks one after the other in the same kernel, which imports each module once.

    A notebook finds the names that the earlier ones have left. The first call starts the kernel, whose folder is empty
    and temporary; the end of the block shuts it down.
    """
    kernel = AsyncKernelManager(kernel_name="python3")
    with tempfile.TemporaryDirectory(prefix="notebook-") as folder:

        def run(
            notebook: NotebookNode, failed: str, advice: str, parameters: dict[str, Any] | None = None
        ) -> NotebookNode:
            try:
                made: NotebookNode = papermill.execute_notebook(
                    notebook, None, parameters, cwd=folder, km=kernel, **_QUIET
                )
            except papermill.PapermillExecutionError as error:
                raise WorkFailed(f"{failed}: {error.ename}: {error.evalue}. {advice}") from error
            return made

        try:
            yield run
        finally:
            if kernel.has_kernel:
                run_sync(kernel.shutdown_kernel)(now=True)
