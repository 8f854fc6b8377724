"""A simulated kernel and its notebook, so that tests control what `check` can find out about both."""

from __future__ import annotations

import json
import linecache
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.notebook import hidden_state, progress_log, read_saved_and_run_cells
from autograder.notebook.hidden_state import hidden_state_notes

CHECK = 'check("answer", answer)'


class MadeKernel:
    """A shell that runs cells in its own namespace, with a simulated clock that advances a minute per step."""

    def __init__(self, notebook: Path) -> None:
        self.notebook, self.now = notebook, 1e9
        self.kernel, self.starting_dir = object(), str(notebook.parent)
        self.user_ns: dict[str, Any] = {"__name__": "__main__", "check": self._check}
        self.told, self.passed = "", True
        self.history_manager = SimpleNamespace(input_hist_raw=[""])
        self.parent_header: dict[str, Any] = {}
        self._watching: list[Callable[[Any], None]] = []
        self.events = SimpleNamespace(register=lambda name, call: self._watching.append(call))

    def run(self, text: str, cell_id: str = "") -> None:
        """Run a cell as ipykernel does."""
        self.note_run(text, cell_id)
        python = TransformerManager().transform_cell(text)
        name = f"/tmp/ipykernel_1/{abs(hash(text))}.py"
        linecache.cache[name] = (len(python), None, python.splitlines(keepends=True), name)
        exec(compile(python, name, "exec"), self.user_ns)

    def note_run(self, text: str, cell_id: str = "") -> None:
        """Record that a cell was run, without running it."""
        self.now += 60
        self.parent_header = {"metadata": {"cellId": cell_id} if cell_id else {}, "content": {"code": text}}
        for told in self._watching:
            told(SimpleNamespace(raw_cell=text))
        self.history_manager.input_hist_raw.append(text)

    def fail(self, text: str) -> None:
        """Record a run of a cell that ends in a SyntaxError."""
        with pytest.raises(SyntaxError):
            compile(TransformerManager().transform_cell(text.removeprefix("%%time\n")), "<cell>", "exec")
        self.note_run(text)

    def save(self, *texts: str, ids: bool = True) -> None:
        """Save a notebook of these code cells, with the ids 0, 1, ..."""
        self.now += 60
        cells = [{"cell_type": "code", "source": t} | ({"id": str(i)} if ids else {}) for i, t in enumerate(texts)]
        self.notebook.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": "x"}, *cells]}))
        os.utime(self.notebook, (self.now, self.now))

    def check(self, cell_id: str = "", text: str = CHECK) -> str:
        """Run a cell that calls `check`, and return the notes."""
        self.run(text, cell_id)
        return self.told

    def _check(self, exercise: str, answer: object) -> None:
        """Compute the notes without catching errors: otherwise an error would look like no note."""
        report = Report(exercise, (Verdict("works", Status.PASS if self.passed else Status.FAIL),))
        self.told = "\n".join(hidden_state_notes(report, answer, self))


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeKernel:
    """A kernel that belongs to a notebook in an empty folder."""
    made = MadeKernel(tmp_path / "mine.ipynb")
    monkeypatch.setenv("JPY_SESSION_NAME", str(made.notebook))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.delenv(progress_log.PROGRESS_VARIABLE, raising=False)
    for module in (hidden_state, progress_log):
        monkeypatch.setattr(module, "get_ipython", lambda: made)
    monkeypatch.setattr(hidden_state, "CLOCK", read_saved_and_run_cells.KernelRunTimes())
    monkeypatch.setattr(read_saved_and_run_cells, "time", SimpleNamespace(time=lambda: made.now))
    hidden_state.CLOCK.start(made)
    return made
