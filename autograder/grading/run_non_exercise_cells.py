"""Run a notebook for the teacher's own graded cells: test cells with asserts, and code that a person scores."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from nbformat import NotebookNode

from autograder.errors import WorkFailed
from autograder.grading.assignment import Assignment, NonExerciseCells
from autograder.grading.submission_verdict import output_key
from autograder.ipython_syntax import parse_cell_text
from autograder.sandbox.execution.cell_outputs import Output, error_output
from autograder.sandbox.execution.choose_runner import make_notebook_runner
from autograder.sandbox.execution.notebook_runner import NotebookToRun
from autograder.sandbox.execution.run_specification import LIMITS, Limits, SharedSetup
from autograder.submission.read_released_cells import exercise_checked, grade_id, runs_before_answers
from autograder.submission.submission import Submission

_AGAIN = "Run `nbgrader generate_assignment`, which makes the release and tells the gradebook."
# Packages that are slow to import, and whose import leaves a process with one thread.
_SLOW = frozenset({"matplotlib", "numpy", "pandas", "scipy", "sympy", "torch"})


class NonExerciseCellsRunner:
    """Runs the submitted notebooks of one assignment.

    `exercises` are graded by the judge, so their checks are not run; `setup` is the text of the setup cell.
    """

    def __init__(
        self, assignment: Assignment, own: NonExerciseCells, setup: str = "", exercises: tuple[str, ...] = ()
    ) -> None:
        release = assignment.released()
        self._own, self._exercises = own, frozenset(exercises)
        self._ground = SharedSetup(assignment.course, (assignment.stem,), setup, whole=True)
        modules = tuple(sorted(set(_imported(release))))
        self._run = make_notebook_runner(Path(assignment.course), assignment.unconfined, modules)

    def outputs(self, submission: Submission, seed: int, limits: Limits = LIMITS) -> dict[str, list[Output]]:
        """Run a submission's notebook and return the outputs of its cells by `output_key`.

        Raises WorkFailed if a test cell did not run.
        """
        cells = submission.notebook.cells
        if submission.trouble is not None:
            return {name: [error_output("NotRead", submission.trouble)] for name in self._own.tests}
        run = NotebookToRun(self._ground, self._texts(cells), seed, self._own.seconds, submission.files)
        found = self._run(run, limits).items()
        given = {output_key(place, grade_id(cells[place]), self._own.tests): outputs for place, outputs in found}
        lost = [name for name, text in self._own.tests.items() if text.strip() and name not in given]
        if lost:  # without an output it would get full marks
            raise WorkFailed(f"{', '.join(lost)} did not run, though the gradebook has it. {_AGAIN}")
        return given

    def _texts(self, cells: Sequence[NotebookNode]) -> list[str | None]:
        """Return the text to run of each cell, or None; no cell after the last graded one is run."""
        last = max((place for place, cell in enumerate(cells) if self._is_looked_at(cell)), default=-1)
        return [self._text(cell) if place <= last else None for place, cell in enumerate(cells)]

    def _is_looked_at(self, cell: NotebookNode) -> bool:
        """Return whether the output of a cell matters: of every cell, but in a chapter only of the graded ones."""
        return not self._exercises or grade_id(cell) in (*self._own.tests, *self._own.others)

    def _text(self, cell: NotebookNode) -> str | None:
        """Return the text to run of a cell; None for prose, an exercise's check, and cells that ran with the setup."""
        if cell.cell_type != "code" or (self._exercises and runs_before_answers(cell)):
            return None
        if exercise_checked(cell) in self._exercises:
            return None
        return self._own.tests.get(grade_id(cell), str(cell.source))


def _imported(release: NotebookNode) -> Iterator[str]:
    """Yield the slow modules that a released notebook imports."""
    for cell in release.cells:
        tree = parse_cell_text(cell.source)[1] if cell.cell_type == "code" else None
        for node in ast.walk(tree) if tree is not None else ():
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
            yield from (name for name in names if name.split(".")[0] in _SLOW)
