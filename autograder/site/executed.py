"""Worked chapters, run from top to bottom; what was run once is kept until something of it changes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import nbformat
from nbformat import NotebookNode

import explorers
from autograder.files import write_all
from autograder.grading.assignment import grader_digest
from autograder.notebook_run import run_notebook


def executed(solution: Path, cache: Path) -> NotebookNode:
    """The worked notebook with its outputs; raises WorkFailed where a cell fails."""
    kept = cache / f"{solution.stem}-{_digest(solution)}.ipynb"
    if not kept.is_file():
        worked = nbformat.read(solution, as_version=4)
        advice = "No page was written. Run `make nbval` to see where."
        made = run_notebook(worked, f"{solution.name} does not run", advice)
        write_all({kept: (nbformat.writes(made) + "\n").encode()})
    found: NotebookNode = nbformat.read(kept, as_version=4)
    return found


def _digest(solution: Path) -> str:
    """What stands for the outputs: the notebook, and the code that it calls."""
    whole = hashlib.sha256(solution.read_bytes() + grader_digest().encode())
    for path in sorted(Path(explorers.__file__).parent.rglob("*.*")):
        if path.suffix in (".py", ".js", ".css"):
            whole.update(path.read_bytes())
    return whole.hexdigest()[:16]
