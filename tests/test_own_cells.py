"""A teacher's own assignment without a chapter is graded in the sandbox with nbgrader's scores."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from autograder.__main__ import main
from autograder.grading import verdict_store
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
from tests.conftest import UNCONFINED
from tests.own_assignments import Own, answer, by_hand, graded, hand_in, scores, task, write_source
from tests.sample_course import make_course

pytestmark = [
    pytest.mark.xdist_group("own cells"),  # one process, which makes the course once
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    pytest.mark.night,
]

HIDDEN = "assert square(2) == 4\n### BEGIN HIDDEN TESTS\nassert square(3) == 9\n### END HIDDEN TESTS"
# Without a sandbox nothing limits the disk, so there the answer writes only one block.
BLOCKS = 1 if UNCONFINED else 100_000
FILLS = f"with open('full', 'wb') as file:\n    for _ in range({BLOCKS}):\n        file.write(bytes(2**20))"
SQUARES = Own(
    cells=(
        answer("square", "def square(x):\n    ### BEGIN SOLUTION\n    return x * x\n    ### END SOLUTION"),
        graded("seen", "assert square(2) == 4", 1),
        graded("hidden", HIDDEN, 3),
        graded("share", "sum(square(i) == i * i for i in range(4)) / 2", 2),
        graded("bool", "square(3) == 9", 1),
        by_hand("essay"),
        by_hand("code", "# plot it", of=new_code_cell),
        task("project"),
    ),
    students={
        "ada": {"square": "def square(x): return x * x", "essay": "Because.", "code": "print('drawn')"},
        "bob": {"square": "def square(x): return 2 * x"},
        "cyd": {"square": "import os\nos._exit(0)"},
        "dan": {},
        "eve": {"square": "while True: pass"},
        "flo": {"square": f"{FILLS}\nraise OSError('full')"},
        "hal": {"square": "from utils import square"},
        "gus": {"square": "open('note', 'w').write('mine')\ndef square(x): return x * x"},
    },
)
NOTHING = {"seen": (0.0, False), "hidden": (0.0, False), "share": (0.0, False), "bool": (0.0, False)}
BY_HAND = {"essay": (0.0, False), "code": (0.0, False), "project": (None, True)}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course with a chapter and a teacher's own assignment, handed in."""
    folder = make_course(tmp_path_factory.mktemp("own") / "course")
    with (folder / "nbgrader_config.py").open("a") as config:
        config.write("\nc.Execute.timeout = 1\n")
    write_source(folder, "hw", SQUARES)
    NbgraderCycle(folder, "hw").generate()
    hand_in(folder, "hw", SQUARES)
    return folder


@pytest.fixture(scope="module")
def printed(course: Path) -> str:
    """Return the output of `grade`."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        lines: list[str] = []
        monkeypatch.setattr("builtins.print", lambda *words, **_: lines.extend(map(str, words)))
        more = ["--unconfined"] if UNCONFINED else []
        assert 0 == main(["--root", str(course), "grade", "hw", "--workers", "1", *more])
    return "\n".join(lines)


def test_scores_are_nbgraders(course: Path, printed: str) -> None:
    """Asserts, hidden tests and returned numbers give points, and cells for a person wait unless untouched."""
    found = scores(course, "hw")

    assert {
        "seen": (1.0, False),
        "hidden": (3.0, False),
        "share": (2.0, False),
        "bool": (1.0, False),
        "essay": (None, True),
        "code": (None, True),
        "project": (None, True),
    } == found["ada"]
    assert {**NOTHING, **BY_HAND, "seen": (1.0, False), "share": (1.0, False), "bool": (1.0, False)} == found["bob"]
    assert {**NOTHING, **BY_HAND} == found["dan"]


def test_what_ends_the_process_costs_itself(course: Path, printed: str) -> None:
    """An answer that ends the process, never ends or fills the disk costs only its own student's tests."""
    found = scores(course, "hw")

    assert {**NOTHING, **BY_HAND} == found["cyd"] == found["eve"] == found["flo"]
    assert (3.0, False) == found["gus"]["hidden"]  # this file fits


def test_full_points_for_no_number_are_told(printed: str) -> None:
    """The table names students whose test cell ends in False, for which nbgrader gives full points."""
    (line,) = [each for each in printed.splitlines() if each.startswith("bob")]

    assert "the test cell bool ends in 'False', no number of points" in line


def test_feedback_says_what_waits_and_keeps_what_is_hidden(course: Path, printed: str) -> None:
    """Feedback marks unscored cells, and reveals no hidden test or path of the grader."""
    assert {} == NbgraderCycle(course, "hw").feedback(["ada", "bob", "eve"])
    folder = course / "feedback"
    ada, bob, eve = (unescape((folder / who / "hw" / "hw.html").read_text()) for who in ("ada", "bob", "eve"))

    assert "7 of 20 points, 13 not scored yet" in ada and "not scored yet, of 4" in ada
    assert "(a hidden test)" in bob and "AssertionError" in bob and "HIDDEN" not in bob and "square(3)" not in bob
    assert "KeyboardInterrupt" in eve and "shell.py" not in eve


def test_what_was_stopped_is_told(printed: str) -> None:
    """The table names students with a cell that never ends, ends the process, or imports a file of the student's."""
    lines = [each.removeprefix("grade hw").strip() for each in printed.splitlines()]
    told = {who: next(each for each in lines if each.startswith(who)) for who in ("cyd", "eve", "gus", "hal")}

    assert "cell 1 ended the Python process" in told["cyd"] and "cell 1 did not end in its time" in told["eve"]
    assert "cell 1 imports what this machine does not have" in told["hal"]
    assert "did not end" not in told["gus"] and "ended" not in told["gus"]


def test_outputs_are_for_the_teacher_to_see(course: Path, printed: str) -> None:
    """The graded notebook has the outputs and the hidden tests."""
    notebook = nbformat.read(course / "autograded" / "ada" / "hw" / "hw.ipynb", as_version=4)
    cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook.cells}

    assert "drawn\n" == cells["code"].outputs[0].text
    assert "2.0" == cells["share"].outputs[0].data["text/plain"]
    assert "square(3) == 9" in cells["hidden"].source


def test_the_report_is_about_it(course: Path, printed: str) -> None:
    """The report has the passed and failed test cells of the assignment."""
    assert 0 == main(["--root", str(course), "report"])

    page = (course / "reports" / "hw.html").read_text(encoding="utf-8")
    assert "only cells that nbgrader scores" in page and "no point in a test cell" in page and "hidden" in page
    assert "share,2,0,2,6,0,0.25,,0" in (course / "reports" / "items-hw.csv").read_text(encoding="utf-8")
    assert "AssertionError" in (course / "reports" / "students" / "bob.html").read_text(encoding="utf-8")


def test_formgraders_button(course: Path, printed: str) -> None:
    """Formgrader's button gives the same scores."""
    before = scores(course, "hw")["bob"]

    result = NbgraderCycle(course, "hw").api.autograde("hw", "bob", force=True)

    assert result["success"], result["log"]
    assert before == scores(course, "hw")["bob"]


def test_what_has_not_changed_is_not_run_again(course: Path, printed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run grades nothing, unless a test cell in the gradebook has changed."""

    def fails(*_: Any, **__: Any) -> None:
        raise AssertionError("graded again")

    monkeypatch.setattr(verdict_store, "store_unrecorded_verdict", fails)
    cycle = NbgraderCycle(course, "hw")

    assert {} == cycle.autograde(cycle.students(), how=GradingOptions(unconfined=UNCONFINED))
    with cycle.api.gradebook as gradebook:
        gradebook.update_or_create_source_cell("seen", "hw", "hw", source="assert square(2) == 5")
    with pytest.raises(AssertionError, match="graded again"):
        cycle.autograde(["ada"], how=GradingOptions(unconfined=UNCONFINED))
