"""A chapter with additional cells of the teacher's: graded besides the exercises, or refused before grading."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook

from autograder.__main__ import main
from autograder.grading.grading_executors import WorkerOptions
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
from tests.conftest import UNCONFINED
from tests.own_assignments import answer, by_hand, graded, marked, scores, task
from tests.processes import PYTHONPATH
from tests.sample_course import STEM, make_course

pytestmark = [
    pytest.mark.xdist_group("other cells"),  # one process, which makes each course once
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    pytest.mark.night,
]


RIGHT = """def standardize(x, dim, eps):
    var = x.var(dim=dim, keepdim=True, correction=0)
    return (x - x.mean(dim=dim, keepdim=True)) / torch.sqrt(var + eps)
"""
TESTS = "x = torch.ones(2, 3)\nassert standardize(x, 0, 1.0).shape == x.shape\n"
HIDDEN = "### BEGIN HIDDEN TESTS\nassert double(2) == 4\n### END HIDDEN TESTS"
OWN = (
    answer("double", "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"),
    graded("mine", TESTS + HIDDEN, 3),
    graded("share", "double(1) / 4", 2),
    by_hand("essay", "Why?"),
    by_hand("code", "x = 1", of=new_code_cell),
    task("project"),
)
CALLS = graded("again", 'check("standardize", standardize)')


def course_with(folder: Path, cells: Sequence[NotebookNode], **notebooks: NotebookNode) -> Path:
    """Return a course with additional cells and notebooks in the source, and one untouched submission."""
    course = make_course(folder / "course")
    source = course / "source" / STEM / f"{STEM}.ipynb"
    notebook = nbformat.read(source, as_version=4)
    notebook.cells += cells
    nbformat.write(notebook, source)
    for name, added in notebooks.items():
        nbformat.write(added, source.with_name(f"{name}.ipynb"))
    NbgraderCycle(course, STEM).generate()
    shutil.copytree(course / "release" / STEM, course / "submitted" / "ada" / STEM)
    return course


def test_graded_beside_exercises(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exercises are judged, test cells get nbgrader's points, and a person's cells wait."""
    course = course_with(tmp_path, OWN)
    write_in(course, "bob", standardize=RIGHT, double="def double(x): return 2 * x", essay="So.", code="print('x')")
    unconfined = ["--unconfined"] if UNCONFINED else []

    assert 0 == main(["--root", str(course), "grade", STEM, "--workers", "1", *unconfined])
    found = scores(course, STEM)

    told = ("check_standardize", "mine", "share", "essay", "code", "project")
    assert [(3.0, False), (3.0, False), (0.5, False), (None, True), (None, True), (None, True)] == [
        found["bob"][name] for name in told
    ]
    assert [(0.0, False)] * 5 + [(None, True)] == [found["ada"][name] for name in told]
    assert "6.5/16" in capsys.readouterr().out
    graded_notebook = (course / "autograded" / "bob" / STEM / f"{STEM}.ipynb").read_text()
    assert "So." in graded_notebook and '"x\\n"' in graded_notebook


def write_in(course: Path, student: str, **answers: str) -> None:
    """Hand in the release with these cells filled in."""
    folder = course / "submitted" / student / STEM
    folder.mkdir(parents=True)
    notebook = nbformat.read(course / "release" / STEM / f"{STEM}.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = answers.get(cell.metadata.get("nbgrader", {}).get("grade_id", ""), cell.source)
    nbformat.write(notebook, folder / f"{STEM}.ipynb")


@pytest.fixture(scope="module", params=("a check", "two notebooks"))
def other(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Return the message about a cell that cannot be graded, and a course with it."""
    folder = tmp_path_factory.mktemp("other")
    if request.param == "a check":
        return "again calls `check`", course_with(folder, [CALLS])
    return "found extra. ", course_with(folder, [], extra=new_notebook(cells=[graded("mine", "assert True")]))


def nbgrader_autograde(course: Path, stem: str = STEM) -> tuple[bool, str]:
    """Run `nbgrader autograde`: whether it did, and what it said."""
    command, variables = (
        [sys.executable, "-P", "-m", "nbgrader", "autograde", stem],
        os.environ | {"PYTHONPATH": PYTHONPATH},
    )
    ran = subprocess.run(command, cwd=course, env=variables, capture_output=True, text=True, check=False)
    return ran.returncode == 0, ran.stderr


def formgraders_button(course: Path) -> tuple[bool, str]:
    """Grade one student as formgrader's button does; return whether it succeeded, and its log."""
    result = NbgraderCycle(course, STEM).api.autograde(STEM, "ada", force=True)
    return result["success"], result["log"]


def own_command(course: Path, capsys: pytest.CaptureFixture[str]) -> tuple[bool, str]:
    """Run `autograder grade`; return whether it succeeded, and its errors."""
    status = main(["--root", str(course), "grade", STEM, "--workers", "1", "--unconfined"])
    return status == 0, capsys.readouterr().err


def nothing_left(course: Path) -> bool:
    """Return whether there is no grade, verdict or graded notebook."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_basics") as gradebook:
        recorded = gradebook.assignment_submissions(STEM)
    # Hidden files do not count: `.exercises.json` holds the points of the exercises.
    return not recorded and not any(list((course / name).rglob("[!.]*.*")) for name in ("verdicts", "autograded"))


def test_refuses(other: tuple[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """A cell that cannot be graded is named with the next step by every grading command, and nothing is recorded."""
    told, course = other

    for done, said in (formgraders_button(course), own_command(course, capsys), nbgrader_autograde(course)):
        assert not done and told in said and "nbgrader generate_assignment" in said
    assert nothing_left(course)


def test_a_cell_that_the_gradebook_does_not_know_gets_no_points(tmp_path: Path) -> None:
    """If only the release has such a cell, the student gets a reason, and nothing is recorded."""
    course = course_with(tmp_path, [])
    release = course / "release" / STEM / f"{STEM}.ipynb"
    release.chmod(0o644)
    notebook = nbformat.read(release, as_version=4)
    notebook.cells.append(graded("mine", "assert True"))
    nbformat.write(notebook, release)

    failures = NbgraderCycle(course, STEM).autograde(
        ["ada"], how=GradingOptions(workers=WorkerOptions(count=1, stays=True), unconfined=UNCONFINED)
    )

    assert "cannot be graded here" in failures["ada"]
    assert not (course / "autograded" / "ada" / STEM).exists()


def test_ungraded_cells_are_welcome(tmp_path: Path) -> None:
    """Additional cells without points change nothing."""
    read_only = marked(new_markdown_cell("Read me."), "read-only", locked=True)
    room = marked(new_code_cell(""), "room", solution=True)
    course = course_with(tmp_path, [new_markdown_cell("Hello."), new_code_cell("2 + 2"), read_only, room])
    submitted = course / "submitted" / "ada" / STEM / f"{STEM}.ipynb"
    notebook = nbformat.read(submitted, as_version=4)
    notebook.cells[-1].source = "notes = 1"
    nbformat.write(notebook, submitted)

    assert {} == NbgraderCycle(course, STEM).autograde(
        ["ada"], how=GradingOptions(workers=WorkerOptions(count=1, stays=True), unconfined=UNCONFINED)
    )
    graded = (course / "autograded" / "ada" / STEM / f"{STEM}.ipynb").read_text()
    assert all(text in graded for text in ("Hello.", "2 + 2", "Read me.", "notes = 1"))
