"""Remove hidden tests from a feedback page: from grade cells, and from the tracebacks below them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests
from nbgrader.utils import is_grade
from traitlets import List, Unicode

Preprocessed = tuple[NotebookNode, Any]
_COLORED = re.compile(r"\x1b\[[0-9;]*m")
_NUMBERED = re.compile(r"(?P<arrow>-+> )?\s*(?P<number>\d+) (?P<code>.*)")


class HideTests(ClearHiddenTests):
    """Removes hidden tests from grade cells and their tracebacks; all other cells stay unchanged."""

    # The HTML exporter sets this for every preprocessor; nbgrader's class complains where it cannot be set.
    display_data_priority = List(Unicode()).tag(config=True)

    def preprocess_cell(self, cell: NotebookNode, resources: Any, cell_index: int) -> Preprocessed:
        """Remove the hidden tests from one cell."""
        if not is_grade(cell):
            return cell, resources
        hidden = self._hidden_lines(cell.source)
        for output in cell.get("outputs", ()):
            if hidden and output.output_type == "error":
                output.traceback = ["\n".join(_without(text, hidden)) for text in output.traceback]
        cleared: Preprocessed = super().preprocess_cell(cell, resources, cell_index)
        return cleared

    def _hidden_lines(self, source: str) -> set[str]:
        """Return the lines of a cell that belong to hidden tests."""
        hidden, found = False, set[str]()
        for line in source.splitlines():
            hidden = hidden or self.begin_test_delimeter in line
            found |= {line.strip()} if hidden else set()
            hidden = hidden and self.end_test_delimeter not in line
        return found - {""}


def _without(text: str, hidden: set[str]) -> Iterator[str]:
    """Yield the lines of a traceback without those of hidden tests; a line that failed becomes "(a hidden test)"."""
    for line in text.splitlines():
        found = _NUMBERED.match(_COLORED.sub("", line))
        if found is None or found["code"].strip() not in hidden:
            yield line
        elif found["arrow"]:
            yield f"{found['arrow']}{found['number']} (a hidden test)"
