"""Cells that a whole class has in common are recorded as if each student's were made separately."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.course.chapter_reader import read_chapter
from autograder.grading.assignment import read_assignment
from autograder.grading.grading_executors import WorkerOptions
from autograder.nbgrader_plugin import autograde
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
from tests.conftest import UNCONFINED
from tests.made_submissions import handed_in
from tests.sample_course import STEM, make_course

_GRADES = """
    select student_id, name, auto_score, manual_score, extra_credit, needs_manual_grade, late_submission_penalty
    from grade as g join base_cell as c on c.id = g.cell_id join submitted_notebook as n on n.id = g.notebook_id
    join submitted_assignment as a on a.id = n.assignment_id order by student_id, g.rowid
"""

pytestmark = [
    pytest.mark.xdist_group("counted work"),
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]


class Signed(NbGraderPreprocessor):  # type: ignore[misc,unused-ignore]
    """A teacher's preprocessor that writes student and notebook count into every cell."""

    seen = 0

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Write the student and the count into all cells."""
        self.seen += 1
        for cell in nb.cells:
            cell.metadata["of"] = [resources["nbgrader"]["student"], self.seen]
        return nb, resources


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course with three students: one solved all, one changed lessons, one handed in an invalid notebook."""
    course = make_course(tmp_path_factory.mktemp("common") / "course")
    NbgraderCycle(course, STEM).generate()
    chapter = read_chapter(course / "chapters" / f"{STEM}.py")
    release = read_assignment(course, STEM, unconfined=UNCONFINED).released()
    solved = handed_in(release, {name: chapter.solution(name) for name in chapter.exercises})
    changed = nbformat.reads(handed_in(release, {}).decode(), as_version=4)
    lesson = [cell for cell in changed.cells if "nbgrader" not in cell.metadata]
    lesson[0].source += "\n\nMy note."
    next(cell for cell in lesson if cell.cell_type == "code").source += "\nmine = 1"
    changed.cells.insert(3, nbformat.v4.new_markdown_cell("mine"))
    for student, data in (("ada", solved), ("bob", nbformat.writes(changed).encode()), ("cy", b"{}")):
        (course / "submitted" / student / STEM).mkdir(parents=True)
        (course / "submitted" / student / STEM / f"{STEM}.ipynb").write_bytes(data)
    return course


def recorded(course: Path) -> tuple[dict[str, str], list[Any]]:
    """Return the autograded notebooks by student, and the rows of the gradebook."""
    cycle = NbgraderCycle(course, STEM)
    how = GradingOptions(workers=WorkerOptions(count=1, stays=True), force=True, unconfined=UNCONFINED)
    assert {} == cycle.autograde(cycle.students(), how=how)
    with sqlite3.connect(course / "gradebook.db") as database:
        rows = database.execute(_GRADES).fetchall()
    return {each.parents[1].name: each.read_text() for each in (course / "autograded").rglob("*.ipynb")}, rows


@pytest.mark.night
def test_what_is_shared_is_recorded_as_if_it_were_not(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Notebooks and gradebook are the same with and without shared cells."""
    monkeypatch.setenv("PYTORCH_BASICS_SEED", "5")
    shared = recorded(course)
    monkeypatch.setattr(autograde.shared, "works_without_shared_cells", lambda *_: False)
    alone = recorded(course)

    assert {"ada", "bob", "cy"} == set(shared[0]) and len({*shared[0].values()}) == 3
    assert shared == alone


@pytest.mark.night
def test_a_teachers_own_step_sees_every_cell_of_one_student(course: Path) -> None:
    """A teacher's preprocessor runs anew for each notebook, and its changes reach no other student's."""
    config = course / "nbgrader_config.py"
    before = config.read_text()
    config.write_text(f'{before}\nc.Autograde.sanitize_preprocessors.append("{__name__}.Signed")\n')
    try:
        notebooks, _ = recorded(course)
    finally:
        config.write_text(before)

    for student, text in notebooks.items():
        cells = nbformat.reads(text, as_version=4).cells
        assert cells and all([student, 1] == cell.metadata["of"] for cell in cells)
