"""Programs for the tests of running answers; their exercises are those of `made_course`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from autograder.exercises.exercise import Case
from autograder.grading.execution_plan import ExerciseTask, plan_run
from autograder.sandbox.execution.run_specification import CellStep, Program, SharedSetup
from autograder.submission.order_repaired_cells import CellInRun, CellRole

MADE_COURSE = Path(__file__).parent / "made_course"
NAMES = ("one", "two", "three", "four", "five", "six")


def program(
    answers: Mapping[str, str],
    cases: tuple[Case, ...],
    *,
    own: str = "",
    below: str = "",
    setup: str = "import torch",
    seconds: float = 20.0,
    chapter: str = "ch98_many",
) -> Program:
    """Return the program of a notebook with answers, each above its check, between two cells of the student's own."""
    parts = [CellInRun(CellRole.OWN, own)]
    for name, source in answers.items():
        parts += [CellInRun(CellRole.ANSWER, source, (name,)), CellInRun(CellRole.CHECK, exercises=(name,))]
    parts.append(CellInRun(CellRole.OWN, below))
    return plan_run(
        parts,
        [ExerciseTask(name, cases, seconds) for name in answers],
        SharedSetup(str(MADE_COURSE), (chapter,), setup),
    ).program


def answers_of(program: Program) -> dict[str, str]:
    """Return the source of the cell that answers each exercise of a program."""
    cells = {step.exercise: program.steps[step.cell] for step in program.probings if step.cell is not None}
    return {name: cell.source for name, cell in cells.items() if isinstance(cell, CellStep)}
