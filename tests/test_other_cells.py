"""Cells that nbgrader grades and that are no exercise of the chapter: grading refuses before it begins."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook

from autograder.__main__ import main
from autograder.errors import WorkFailed
from autograder.gradebook.cycle import Cycle
from autograder.grading.executors import Workers
from tests.conftest import UNCONFINED
from tests.short_chapter import make_course
from tests.small_chapter import PROJECT

STEM = "ch01_tensors"

pytestmark = [
    pytest.mark.xdist_group("other cells"),  # each course is made once
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]


def marked(cell: NotebookNode, grade_id: str, **marks: Any) -> NotebookNode:
    """A cell with nbgrader's mark."""
    usual = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    cell.metadata["nbgrader"] = {**usual, "grade_id": grade_id, **marks}
    return cell


TESTS = "assert standardize\n### BEGIN HIDDEN TESTS\nassert standardize(None, 0, 0)\n### END HIDDEN TESTS"
OTHERS = {
    "mine (test cell)": marked(new_code_cell(TESTS), "mine", grade=True, locked=True, points=3),
    "essay (manually graded answer)": marked(new_markdown_cell("Why?"), "essay", grade=True, solution=True, points=4),
    "code (manually graded answer)": marked(new_code_cell("x = 1"), "code", grade=True, solution=True, points=4),
    "project (task)": marked(new_markdown_cell("Build one."), "project", task=True, locked=True, points=5),
}


def course_with(folder: Path, cells: list[NotebookNode], **notebooks: NotebookNode) -> Path:
    """A course whose teacher has added cells to the source, and notebooks beside it, and one untouched submission."""
    course = make_course(folder / "course", STEM)
    source = course / "source" / STEM / f"{STEM}.ipynb"
    notebook = nbformat.read(source, as_version=4)
    notebook.cells += cells
    nbformat.write(notebook, source)
    for name, added in notebooks.items():
        nbformat.write(added, source.with_name(f"{name}.ipynb"))
    Cycle(course, STEM).generate()
    shutil.copytree(course / "release" / STEM, course / "submitted" / "ada" / STEM)
    return course


@pytest.fixture(scope="module", params=OTHERS)
def other(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Such a cell as it is told, and a course that has it."""
    return request.param, course_with(tmp_path_factory.mktemp("other"), [OTHERS[request.param]])


def nbgrader_autograde(course: Path) -> tuple[bool, str]:
    """Run `nbgrader autograde`: whether it did, and what it said."""
    command = [sys.executable, "-P", "-m", "nbgrader", "autograde", STEM]
    environment = os.environ | {"PYTHONPATH": str(PROJECT)}
    ran = subprocess.run(command, cwd=course, env=environment, capture_output=True, text=True, check=False)
    return ran.returncode == 0, ran.stderr


def formgraders_button(course: Path) -> tuple[bool, str]:
    """Press the button of one student."""
    result = Cycle(course, STEM).api.autograde(STEM, "ada", force=True)
    return result["success"], result["log"]


def own_command(course: Path, capsys: pytest.CaptureFixture[str]) -> tuple[bool, str]:
    """Run `python -m autograder grade`."""
    status = main(["--root", str(course), "grade", STEM, "--workers", "1", "--unconfined"])
    return status == 0, capsys.readouterr().err


def refuses(course: Path, told: str, outcome: tuple[bool, str]) -> bool:
    """Whether a way of grading named the cell and the next step, and left nothing behind."""
    done, said = outcome
    words = (f"found {told}. ", f"source/{STEM}", f"nbgrader generate_assignment {STEM}")
    assert all(each in said for each in words), said
    return not done and nothing_left(course)


def nothing_left(course: Path) -> bool:
    """Whether nobody has a grade, a verdict or a graded notebook."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_basics") as gradebook:
        recorded = gradebook.assignment_submissions(STEM)
    return not recorded and not any(list((course / name).rglob("*.*")) for name in ("verdicts", "autograded"))


def test_formgrader_refuses(other: tuple[str, Path]) -> None:
    """Formgrader's button names the cell and grades nothing."""
    told, course = other

    assert refuses(course, told, formgraders_button(course))


def test_grade_refuses(other: tuple[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """So does the course's own command."""
    told, course = other

    assert refuses(course, told, own_command(course, capsys))


def test_all_are_named(tmp_path: Path) -> None:
    """Several cells are named at once, those of a second notebook with their file; so does `nbgrader autograde`."""
    extra = new_notebook(cells=[OTHERS["mine (test cell)"]])
    course = course_with(tmp_path, list(OTHERS.values()), extra=extra)

    with pytest.raises(WorkFailed) as caught:
        Cycle(course, STEM).autograde(["ada"], workers=Workers(count=1), unconfined=UNCONFINED)
    done, said = nbgrader_autograde(course)

    named = (*OTHERS, "mine (test cell) in extra.ipynb")
    assert all(told in str(caught.value) for told in named)
    assert all(told in said for told in (*named, f"source/{STEM}", f"nbgrader generate_assignment {STEM}")), said
    assert not done and nothing_left(course)


def test_a_cell_that_the_gradebook_does_not_know_gets_no_points(tmp_path: Path) -> None:
    """Where only the release has such a cell, the student is named with a reason, and nothing is recorded."""
    course = course_with(tmp_path, [])
    release = course / "release" / STEM / f"{STEM}.ipynb"
    release.chmod(0o644)
    notebook = nbformat.read(release, as_version=4)
    notebook.cells.append(OTHERS["mine (test cell)"])
    nbformat.write(notebook, release)

    failures = Cycle(course, STEM).autograde(["ada"], workers=Workers(count=1), unconfined=UNCONFINED)

    assert "cannot be graded here" in failures["ada"]
    assert not (course / "autograded" / "ada" / STEM).exists()


def test_ungraded_cells_are_welcome(tmp_path: Path) -> None:
    """A teacher's text, code, read-only cell and room for an answer that nobody grades change nothing."""
    read_only = marked(new_markdown_cell("Read me."), "read-only", locked=True)
    room = marked(new_code_cell(""), "room", solution=True)
    course = course_with(tmp_path, [new_markdown_cell("Hello."), new_code_cell("2 + 2"), read_only, room])
    submitted = course / "submitted" / "ada" / STEM / f"{STEM}.ipynb"
    notebook = nbformat.read(submitted, as_version=4)
    notebook.cells[-1].source = "notes = 1"
    nbformat.write(notebook, submitted)

    assert {} == Cycle(course, STEM).autograde(["ada"], workers=Workers(count=1), unconfined=UNCONFINED)
    graded = (course / "autograded" / "ada" / STEM / f"{STEM}.ipynb").read_text()
    assert all(text in graded for text in ("Hello.", "2 + 2", "Read me.", "notes = 1"))
