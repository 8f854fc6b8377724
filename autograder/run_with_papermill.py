"""Run notebooks from top to bottom in a new kernel, with papermill."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import papermill  # type: ignore[import-untyped,unused-ignore]
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbformat import NotebookNode

from autograder.errors import WorkFailed


@dataclass(frozen=True)
class NotebookKernel:
    """A kernel, and the folder in which it runs notebooks one after the other; the first starts it."""

    kernel: AsyncKernelManager
    folder: str

    def run(
        self, notebook: NotebookNode, failed: str, advice: str, parameters: dict[str, Any] | None = None
    ) -> NotebookNode:
        """Run the notebook, and return it with its outputs; raise WorkFailed as `run_notebook` does."""
        # Without this log level, the kernel would print a warning about its transport.
        quietly: dict[str, Any] = {"progress_bar": False, "extra_arguments": ["--log-level=ERROR"]}
        place: dict[str, Any] = {"cwd": self.folder, "km": self.kernel}
        try:
            made: NotebookNode = papermill.execute_notebook(notebook, None, parameters, **place, **quietly)
        except papermill.PapermillExecutionError as error:
            raise WorkFailed(f"{failed}: {error.ename}: {error.evalue}. {advice}") from error
        return made


def run_notebook(
    notebook: NotebookNode, failed: str, advice: str, parameters: dict[str, Any] | None = None
) -> NotebookNode:
    """Run the notebook in an empty temporary folder, and return it with its outputs.

    Raises WorkFailed if a cell fails: `failed` says what could not be made, and `advice` what to do next.
    """
    with one_kernel_for_several_notebooks() as kernel:
        return kernel.run(notebook, failed, advice, parameters)


@contextmanager
def one_kernel_for_several_notebooks() -> Iterator[NotebookKernel]:
    """Yield a kernel that imports each module once for several notebooks, in an empty temporary folder.

    A notebook finds the names that the earlier ones have left. The end of the block shuts the kernel down.
    """
    kernel = AsyncKernelManager(kernel_name="python3")
    with tempfile.TemporaryDirectory(prefix="notebook-") as folder:
        try:
            yield NotebookKernel(kernel, folder)
        finally:
            if kernel.has_kernel:
                run_sync(kernel.shutdown_kernel)(now=True)
