"""Worked chapters, run from top to bottom; what was run once is kept until something of it changes."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import Any

import nbformat
import papermill  # type: ignore[import-untyped,unused-ignore]
from nbformat import NotebookNode

import explorers
from autograder.errors import WorkFailed
from autograder.files import write_all
from autograder.grading.assignment import engine_digest

_QUIETLY: dict[str, Any] = {"progress_bar": False, "extra_arguments": ["--log-level=ERROR"]}


def executed(solution: Path, cache: Path) -> NotebookNode:
    """The worked notebook with its outputs; raises WorkFailed where a cell fails."""
    kept = cache / f"{solution.stem}-{_digest(solution)}.ipynb"
    if not kept.is_file():
        with tempfile.TemporaryDirectory(prefix="chapter-") as folder:
            target = Path(folder, solution.name)
            try:
                papermill.execute_notebook(solution, target, cwd=folder, **_QUIETLY)
            except papermill.PapermillExecutionError as error:
                raise WorkFailed(
                    f"{solution.name} does not run: {error.ename}: {error.evalue}. No page was written. "
                    "Run `make nbval` to see where."
                ) from error
            write_all({kept: target.read_bytes()})
    made: NotebookNode = nbformat.read(kept, as_version=4)
    return made


def _digest(solution: Path) -> str:
    """What stands for the outputs: the notebook, and the code that it calls."""
    whole = hashlib.sha256(solution.read_bytes() + engine_digest().encode())
    for path in sorted(Path(explorers.__file__).parent.rglob("*.*")):
        if path.suffix in (".py", ".js", ".css"):
            whole.update(path.read_bytes())
    return whole.hexdigest()[:16]
