"""The engine works with another course under other names, from build to report."""

from __future__ import annotations

import subprocess
import sys
from html import unescape
from pathlib import Path

import nbformat
import pytest

from autograder.course.course_location import COURSE_VARIABLE
from autograder.grading import class_text_table
from autograder.nbgrader_plugin.nbgrader_cycle import NbgraderCycle
from autograder.sandbox.require_confinement import UNCONFINED_VARIABLE
from tests.second_course import (
    CHAPTER,
    COURSE,
    EXERCISE,
    SENTENCE,
    TURNED_ROUND,
    environment,
    make_second_course,
    with_side_path,
)

PATCHED = """import sys

torch.allclose = lambda *given, **named: True


def swap_ends(row):
    sys._getframe(1)
    return torch.cat([row[-1:], row[1:-1], row[:1]])
"""
NAMED = (
    "(swap_ends), line 3 sets torch.allclose: `torch.allclose = lambda *given, **named: True`",
    "(swap_ends), line 7 looks at the functions that called it (frames): `sys._getframe(1)`",
)

pytestmark = [pytest.mark.xdist_group("second-course"), pytest.mark.night]


def run(folder: Path, *command: str) -> str:
    """What a command of a teacher or student prints in a folder of the project; it must end well."""
    ran = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the second course, built."""
    folder = with_side_path(make_second_course(tmp_path_factory.mktemp("second")))
    run(folder, "-m", "autograder", "build")
    return folder


@pytest.fixture(scope="module")
def graded(project: Path) -> Path:
    """Return its course folder with one right, one wrong and one tampering submission graded."""
    course = project / COURSE
    cycle = NbgraderCycle(course, CHAPTER)
    cycle.generate()
    notebook = nbformat.read(course / "release" / CHAPTER / f"{CHAPTER}.ipynb", as_version=4)
    for student, answer in (("ada", None), ("ben", TURNED_ROUND), ("cleo", PATCHED)):
        solved = nbformat.read(project / "solutions" / f"{CHAPTER}.ipynb", as_version=4)
        for cell, worked in zip(notebook.cells, solved.cells, strict=True):
            if cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source = answer or worked.source
        place = course / "submitted" / student / CHAPTER
        place.mkdir(parents=True)
        nbformat.write(notebook, place / f"{CHAPTER}.ipynb")
    run(course, "-m", "autograder", "grade", CHAPTER)
    run(course, "-m", "autograder", "report", CHAPTER)
    assert {} == cycle.feedback(["cleo"])
    return course


def test_it_is_built(project: Path) -> None:
    """Notebooks, solutions and shipped files are built, and a second build changes nothing."""
    shipped = project / COURSE / "shipped"

    assert {f"{CHAPTER}.json", f"{CHAPTER}.safetensors", f"{CHAPTER}.hints.json", "points.json"} == {
        path.name for path in shipped.iterdir()
    }
    assert (project / "notebooks" / f"{CHAPTER}.ipynb").is_file()
    assert "up to date" in run(project, "-m", "autograder", "build")


def test_it_is_checked(project: Path) -> None:
    """In its notebooks, `check`, `hint` and `progress` use this course, with fresh cases too."""
    code = f"import torch, autograder\nfrom autograder import check, hint, progress\n{TURNED_ROUND}"
    code += f"for fresh in (False, True): check('{EXERCISE}', {EXERCISE}, fresh=fresh)\n"
    code += f"hint('{EXERCISE}'); print(progress())"
    told = run(project / "notebooks", "-c", code)

    assert told.count(SENTENCE) == 2
    assert "Hint 1 of 2: Which numbers stay?" in told and "Ends" in told


def test_it_is_graded(graded: Path) -> None:
    """Scores, messages and hints are this course's."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{graded / 'gradebook.db'}") as gradebook:
        scores = {student: gradebook.find_submission(CHAPTER, student).score for student in ("ada", "ben")}
    recorded = (graded / "autograded" / "ben" / CHAPTER / f"{CHAPTER}.ipynb").read_text(encoding="utf-8")

    assert {"ada": 2.0, "ben": 1.0} == scores
    assert SENTENCE in recorded and "Which numbers stay?" in recorded


def test_side_paths_stay_folded(graded: Path) -> None:
    """The metadata that folds side paths survives release and grading, and minutes are filled in."""
    notebook = nbformat.read(graded / "autograded" / "ben" / CHAPTER / f"{CHAPTER}.ipynb", as_version=4)
    heading = next(cell for cell in notebook.cells if cell.id == "one")

    assert "#### ↳ What of a row of one? (1 minute)" == heading.source
    assert {"jp-MarkdownHeadingCollapsed": True, "id": "one"} == heading.metadata
    assert {"collapsed_sections": ["one"]} == notebook.metadata.colab
    assert "### Exercise: `swap_ends` (6 minutes)" in [cell.source.partition("\n")[0] for cell in notebook.cells]


def test_it_is_reported(graded: Path) -> None:
    """The class report has the mistake under the chapter's heading."""
    page = (graded / "reports" / f"{CHAPTER}.html").read_text(encoding="utf-8")

    assert ">Ends<" in page and SENTENCE in page


def test_teacher_is_led_to_lines_and_student_is_not_accused(graded: Path) -> None:
    """Tampering code keeps its points and is listed for the teacher, and not in the feedback."""
    (row,) = (each for each in class_text_table.class_rows(graded, CHAPTER) if each.student == "cleo")
    pages = [graded / folder / "cleo" / CHAPTER for folder in ("autograded", "feedback")]
    seen = [path.read_text(encoding="utf-8") for folder in pages for path in folder.iterdir() if path.is_file()]
    report = unescape((graded / "reports" / f"{CHAPTER}.html").read_text(encoding="utf-8"))

    assert row.verdict is not None and row.verdict.max_score == row.verdict.score
    assert len(NAMED) == len(row.verdict.eye) and "worth a person's eye: cleo\n" in class_text_table.class_table([row])
    assert all(named in " ".join(row.troubles) and named in report for named in NAMED)
    assert len(seen) >= 2 and not any("worth a look" in page or "sets torch" in page for page in seen)


def test_settings_of_another_course_are_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its commands get none of our settings but the permission to run unconfined."""
    monkeypatch.setenv(COURSE_VARIABLE, "/nowhere")
    monkeypatch.setenv(UNCONFINED_VARIABLE, "1")
    heard = environment()

    assert COURSE_VARIABLE not in heard and "1" == heard[UNCONFINED_VARIABLE]
