"""An assignment of several notebooks: each has its own points, and a broken one costs only itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.__main__ import main
from autograder.errors import WorkFailed
from autograder.grading import class_text_table
from autograder.grading.grading_executors import WorkerOptions
from autograder.grading.verdict_paths import verdict_path
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
from tests.conftest import UNCONFINED
from tests.own_assignments import Own, answer, by_hand, graded, hand_in, scores, write_source
from tests.sample_course import make_course
from tests.test_other_cells import nbgrader_autograde

SECOND = (answer("g"), graded("two", "assert g() == 2", 3))
OWN = Own(
    (answer("f"), graded("two", "assert f() == 2", 2), by_hand("essay")),
    {
        "ada": {"f": "def f(): return 2", "g": "def g(): return 2", "essay": "So."},
        "bob": {"f": "def f(): return 2", "g": "def g(): return 2"},
        "cyd": {"f": "import os\nos._exit(1)", "g": "def g(): return 2"},
        "dan": {"f": "def f(): return 2"},
        "eve": {"f": "def f(): return 2"},
    },
    more={"second": SECOND},
)

pytestmark = [
    pytest.mark.xdist_group("several notebooks"),  # one process, which makes the course once
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    pytest.mark.night,
]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course with such an assignment and five submissions, three of them unusual, graded."""
    folder = make_course(tmp_path_factory.mktemp("several") / "course")
    write_source(folder, "hw", OWN)
    cycle = NbgraderCycle(folder, "hw")
    cycle.generate()
    hand_in(folder, "hw", OWN)
    (folder / "submitted" / "bob" / "hw" / "second.ipynb").unlink()
    (folder / "submitted" / "dan" / "hw" / "second.ipynb").write_text("{ no notebook")
    for path in (folder / "submitted" / "eve" / "hw").glob("*.ipynb"):
        path.rename(path.with_name(f"my-{path.name}"))
    failures = cycle.autograde(
        cycle.students(), how=GradingOptions(workers=WorkerOptions(count=1), unconfined=UNCONFINED)
    )
    assert {"eve"} == set(failures) and "expected hw.ipynb, second.ipynb" in failures["eve"]
    return folder


def test_each_has_its_own_points(course: Path) -> None:
    """Cells of one name in two notebooks are separate, and a broken notebook costs only itself."""
    found = {
        student: [cells[name][0] for name in ("two", "second/two")] for student, cells in scores(course, "hw").items()
    }

    assert {"ada": [2, 3], "bob": [2, 0], "cyd": [0, 3], "dan": [2, 0]} == {
        s: found[s] for s in ["ada", "bob", "cyd", "dan"]
    }


def test_what_a_person_should_know(course: Path) -> None:
    """The table has the sum of all notebooks, and names missing and unreadable ones."""
    rows = {row.student: row for row in class_text_table.class_rows(course, "hw", {})}

    assert (5.0, 5.0) == (rows["ada"].verdict.score, rows["ada"].verdict.max_score)
    assert ("second.ipynb is missing",) == rows["bob"].verdict.eye[:1]
    assert any(told.startswith("second: could not be read") for told in rows["dan"].troubles)


def test_written_down_apart(course: Path) -> None:
    """There are separate graded notebooks and feedback pages."""
    assert {} == NbgraderCycle(course, "hw").feedback(["ada"])

    folder = course / "autograded" / "cyd" / "hw"
    given = {path.stem: nbformat.read(path, as_version=4).cells[1].outputs for path in folder.glob("*.ipynb")}
    assert [] == given["second"] and "error" == given["hw"][0].output_type
    assert {"hw.html", "second.html"} == {path.name for path in (course / "feedback" / "ada" / "hw").glob("*.html")}


def test_report_and_nbgraders_command(course: Path) -> None:
    """The report names cells with their notebook, and `nbgrader autograde` gives the same scores."""
    before = scores(course, "hw")
    shutil.rmtree(course / "submitted" / "eve")
    for student in ("ada", "bob"):
        verdict_path(course, "hw", student).unlink()
    assert (True, True) == (nbgrader_autograde(course, "hw")[0], 0 == main(["--root", str(course), "report"]))

    assert before == scores(course, "hw")
    assert "second/two" in (course / "reports" / "items-hw.csv").read_text(encoding="utf-8")


def test_release_that_the_gradebook_does_not_know(course: Path, tmp_path: Path) -> None:
    """A notebook that the gradebook does not know raises WorkFailed."""
    shutil.copytree(course, tmp_path / "course")
    release = tmp_path / "course" / "release" / "hw"
    shutil.copyfile(release / "second.ipynb", release / "third.ipynb")

    with pytest.raises(WorkFailed, match="found hw, second, third"):
        NbgraderCycle(tmp_path / "course", "hw").autograde(["ada"], how=GradingOptions(unconfined=UNCONFINED))


def test_score_by_hand_for_other_points_is_looked_at_again(course: Path) -> None:
    """If a cell's points change, its manual score is listed and waits in formgrader again."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_basics") as gradebook:
        grade = gradebook.find_grade("essay", "hw", "hw", "ada")
        grade.manual_score, grade.needs_manual_grade = 3, False
        gradebook.db.commit()
    assert {} == regraded(course)

    path = course / "source" / "hw" / "hw.ipynb"
    path.write_text(path.read_text().replace('"points": 4', '"points": 8'))

    assert {"ada": ("hw/essay",)} == regraded(course)
    assert scores(course, "hw")["ada"]["essay"][1]


def regraded(course: Path) -> dict[str, tuple[str, ...]]:
    """Generate and regrade; return the manual scores that need another look."""
    cycle = NbgraderCycle(course, "hw")
    cycle.generate()
    cycle.autograde(["ada"], how=GradingOptions(workers=WorkerOptions(count=1), unconfined=UNCONFINED, force=True))
    return cycle.scored_before
