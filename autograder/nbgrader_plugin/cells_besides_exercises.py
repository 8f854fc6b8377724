"""Collect and score the cells that nbgrader grades besides exercises: a teacher's own tests and manual cells.

nbgrader's own functions compute the points of a test cell from its outputs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, from_dict
from nbgrader.api import Gradebook, Notebook
from nbgrader.preprocessors import Execute, IgnorePattern, LimitOutput
from nbgrader.utils import determine_grade, find_all_files, is_grade, is_solution

from autograder.errors import WorkFailed
from autograder.grading.assignment import Assignment, NonExerciseCells
from autograder.grading.max_points_cache import points_by_exercise
from autograder.grading.submission_verdict import SubmissionVerdict, output_key
from autograder.ipython_syntax import CHECK, parse_cell_text
from autograder.sandbox.execution.cell_outputs import Output
from autograder.sandbox.execution.wait_for_message import PROCESS_ENDED_ERROR_NAME
from autograder.submission.read_released_cells import grade_id

_FILES = 32 * 2**20  # bytes of the files beside a notebook
_OURS = re.compile(r"^\s*(from|import)\s+autograder\b", re.MULTILINE)
_STOPPED = {
    "CellTimeoutError": "did not end in its time",
    PROCESS_ENDED_ERROR_NAME: "ended the Python process",
    "ModuleNotFoundError": "imports what this machine does not have; a .py file of a student's is not there",
}
_NO_LIMIT = 24 * 3600.0  # seconds, for a timeout setting that means no limit


def with_teacher_cells(wanted: Assignment, gradebook: Gradebook, converter: Any) -> Assignment:
    """Return the assignment with the teacher's own cells; raise WorkFailed if it has cells that cannot be graded.

    `converter` is any nbgrader object with the configuration and the folders of the course.
    """
    notebooks = {each.name: each for each in gradebook.find_assignment(wanted.stem).notebooks}
    if not any(each.grade_cells or each.task_cells for each in notebooks.values()):
        raise WorkFailed(
            f"expected something in {wanted.stem} that has points, found nothing. Mark a cell (Create Assignment), "
            f"then run `nbgrader generate_assignment {wanted.stem}`."
        )
    files, seconds = _files(converter.coursedir, wanted.stem), _seconds(Execute(parent=converter).timeout)
    if not wanted.parts:
        return _with_cells(wanted, notebooks[wanted.stem], files, seconds)
    _check_lent_once(wanted)
    parts = wanted.notebooks.items()
    return wanted.with_notebooks(_with_cells(part, notebooks[name], files, seconds) for name, part in parts)


def _with_cells(wanted: Assignment, notebook: Notebook, files: Mapping[str, bytes], seconds: float) -> Assignment:
    """Return the assignment of one notebook with the teacher's own cells in it."""
    exercises = points_by_exercise(wanted)
    checks = {CHECK + name for name in exercises}
    texts = {cell.name: cell.source for cell in notebook.source_cells}
    answers = {cell.name for cell in notebook.solution_cells}
    own = [cell for cell in notebook.grade_cells if cell.name not in checks]
    tests = [cell for cell in own if cell.cell_type == "code" and cell.name not in answers]
    others = [*(cell for cell in own if cell not in tests), *notebook.task_cells]
    _check_lent(wanted, answers)
    if exercises and not own and not others:
        return wanted.with_non_exercise_cells(None, files)
    _check_calls(wanted, {cell.name: texts[cell.name] for cell in tests})
    sources = {cell.name: texts[cell.name] for cell in tests}
    points = {cell.name: float(cell.max_score) for cell in tests}
    return wanted.with_non_exercise_cells(
        NonExerciseCells(sources, points, {cell.name: float(cell.max_score) for cell in others}, seconds), files
    )


def _check_lent_once(wanted: Assignment) -> None:
    """Raise WorkFailed if several notebooks check the same exercise of the course."""
    names = [each.name for each in wanted.lent]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise WorkFailed(
            f"several notebooks of {wanted.stem} check {twice}: expected one, for its points and its sentence stand "
            f"once in tables and reports. Nothing was graded. Take it out of the others, then run "
            f"`nbgrader generate_assignment {wanted.stem}`."
        )


def _check_lent(wanted: Assignment, answers: Collection[str]) -> None:
    """Raise WorkFailed if an exercise of another chapter has no answer cell."""
    for each in wanted.lent:
        if each.name not in answers:
            raise WorkFailed(
                f"{wanted.stem} checks {each.name} and has no cell for the answer: expected one above the check with "
                f"the id {each.name}, marked as an autograded answer, found none. Nothing was graded. Copy that cell "
                f"from source/{each.home}, then run `nbgrader generate_assignment {wanted.whole}`."
            )


def _check_calls(wanted: Assignment, tests: Mapping[str, str]) -> None:
    """Raise WorkFailed if a test cell calls `check`, which scores nothing when a whole notebook is run."""
    if not wanted.has_exercises and not any(map(_imports_ours, wanted.released().cells)):
        return  # `check` is the teacher's own function
    calling = [name for name, text in tests.items() if _calls_check(text)]
    if calling:
        raise WorkFailed(
            f"{', '.join(calling)} calls `check` and checks no exercise of {wanted.stem}. Nothing was graded. Name the "
            f'cell {CHECK}NAME for an exercise NAME of the course, and write `check("NAME", NAME)`, or test with '
            f"`assert`; then run `nbgrader generate_assignment {wanted.whole}`."
        )


def _imports_ours(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and _OURS.search(cell.source) is not None


def _calls_check(text: str) -> bool:
    tree = parse_cell_text(text)[1]
    nodes = ast.walk(tree) if tree is not None else ()
    return any(isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "check" for node in nodes)


def _seconds(timeout: int | None) -> float:
    return float(timeout) if timeout is not None and timeout > 0 else _NO_LIMIT


def _files(coursedir: Any, stem: str) -> dict[str, bytes]:
    """Return the files that nbgrader releases together with the source notebooks, by relative path."""
    source = coursedir.format_path(coursedir.source_directory, ".", stem)
    paths = [Path(path) for path in find_all_files(source, [*coursedir.ignore, "*.ipynb"])]
    size = sum(path.stat().st_size for path in paths)
    if size > _FILES:
        raise WorkFailed(
            f"the files in source/{stem} take {size >> 20} MB; notebooks are run with at most {_FILES >> 20} MB beside "
            "them. Nothing was graded. Make them smaller."
        )
    return {path.relative_to(source).as_posix(): path.read_bytes() for path in sorted(paths)}


class TeacherCellScorer:
    """Adds the points of test cells to verdicts, with nbgrader's configuration and functions."""

    def __init__(self, wanted: Assignment, converter: Any) -> None:
        self._points = wanted.points
        self._steps = [IgnorePattern(parent=converter), LimitOutput(parent=converter)]

    def __call__(self, verdict: SubmissionVerdict) -> SubmissionVerdict:
        """Return the verdict with points; raise WorkFailed for an output that nbgrader cannot score."""
        outputs = {key: self._as_nbgrader_keeps(given) for key, given in verdict.outputs.items()}
        tests = {name: (self._earned(name, outputs.get(name, [])), most) for name, most in self._points.items()}
        odd = (_value_warning(name, outputs.get(name, [])) for name in self._points)
        stopped = (_stop_warning(key, given) for key, given in outputs.items())
        return replace(verdict, tests=tests, outputs=outputs, eye=(*verdict.eye, *filter(None, (*odd, *stopped))))

    def _as_nbgrader_keeps(self, outputs: list[Output]) -> list[Output]:
        cell = _cell_with(outputs)
        for step in self._steps:
            cell, _ = step.preprocess_cell(cell, {}, 0)
        return [dict(each) for each in cell.outputs]

    def _earned(self, name: str, outputs: list[Output]) -> float:
        cell = _cell_with(outputs)
        cell.metadata["nbgrader"] = {"grade": True, "solution": False, "points": self._points[name], "grade_id": name}
        try:
            return float(determine_grade(cell)[0])
        except (ValueError, KeyError) as error:
            raise WorkFailed(
                f"nbgrader cannot score what the test cell {name} gives ({_value(outputs)!r}, of at most "
                f"{self._points[name]:g} points): {error}. Its last line should give a number of points, or nothing."
            ) from None


def _cell_with(outputs: list[Output]) -> NotebookNode:
    """Return a code cell with these outputs, without nbformat's validation, which takes ten times as long."""
    kept = [from_dict(each) for each in outputs]
    return NotebookNode(cell_type="code", source="", metadata=NotebookNode(), execution_count=None, outputs=kept)


def _value(outputs: list[Output]) -> str | None:
    """Return the value of a cell's last line as text; None without a value, or after an error or text on stderr."""
    for output in outputs:
        if output["output_type"] == "error" or output.get("name") == "stderr":
            return None
        if output["output_type"] == "execute_result":
            return str(output["data"]["text/plain"])
    return None


def _value_warning(name: str, outputs: list[Output]) -> str:
    """Return a warning about a test cell whose value is not a number of points, or ""."""
    value = _value(outputs)
    try:
        if value is None or float(value) >= 0:
            return ""
    except ValueError:
        pass
    return f"the test cell {name} ends in {str(value)[:60]!r}, no number of points: nbgrader gives full points for that"


def _stop_warning(key: str, outputs: list[Output]) -> str:
    """Return a warning about a cell that stopped for a reason a teacher should know, or ""; `key` is its output key."""
    how = next((_STOPPED[kind] for each in outputs if (kind := each.get("ename", "")) in _STOPPED), "")
    within, _, place = key.rpartition("#")
    cell = f"{within.replace('/', ': ')}cell {int(place) + 1}" if place.isdecimal() else f"the test cell {key}"
    return f"{cell} {how}" if how else ""


def outputs_in_verdict(place: int, cell: NotebookNode, verdict: SubmissionVerdict) -> list[NotebookNode]:
    """Return the outputs of a cell that checks no exercise; raise WorkFailed for a test cell that was not run."""
    name = grade_id(cell)
    if is_grade(cell) and not is_solution(cell) and name not in verdict.tests:
        raise unrun_cell_error(verdict.assignment, name)
    return [from_dict(each) for each in verdict.outputs.get(output_key(place, name, verdict.tests), [])]


def unrun_cell_error(assignment: str, name: str) -> WorkFailed:
    """Return the error for a test cell that was not run: without outputs, nbgrader would give it full points."""
    return WorkFailed(
        f"{assignment} has a test cell that the gradebook does not know{f': {name}' if name else ''}. It cannot be "
        f"graded here, so nothing was recorded. Run `nbgrader generate_assignment {assignment}`, then grade again."
    )
