"""Check the worked solutions with the version of torch that is installed.

`python -m tests.other_torch` needs no more than a student's install, so it also runs with the oldest and the newest
torch that the course supports. It prints a line for each solution that fails its check, or one line if there is none.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from autograder.diagnosis.verdict import Report
from autograder.notebook.check_and_hint import report_on_visible_cases

SOLUTIONS = Path(__file__).parent.parent / "solutions"


def refused(notebook: Path) -> Iterator[str]:
    """Yield a line for each exercise of a solved notebook whose check fails."""
    names: dict[str, Any] = {"__name__": "solved"}
    for cell, text in _named_cells(notebook):
        name = cell.removeprefix("check_")
        if name == cell:
            exec(compile(text, f"{notebook.stem}, {cell}", "exec"), names)
            names[f"text of {cell}"] = text
        else:
            yield from _line(notebook.stem, report_on_visible_cases(name, names[name], names[f"text of {name}"]))


def _named_cells(notebook: Path) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the parameters, setup, answer and check cells."""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        parameters = "parameters" in cell["metadata"].get("tags", ())
        name = "parameters" if parameters else cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        if cell["cell_type"] == "code" and name:
            yield name, "".join(cell["source"])


def _line(stem: str, report: Report) -> Iterator[str]:
    if report.first is not None:
        yield f"{stem}, {report.exercise}: refused, by {report.first.requirement!r}: {report.first.sentence}"


def main() -> int:
    """Print the failures; return 1 if there are any."""
    found = [line for notebook in sorted(SOLUTIONS.glob("*.ipynb")) for line in refused(notebook)]
    print("\n".join(found) or f"torch {torch.__version__}: every worked solution passes its check.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
