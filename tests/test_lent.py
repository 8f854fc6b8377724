"""A teacher's assignment with exercises of the course, plain test cells and written answers."""

from __future__ import annotations

import contextlib
import io
import re
from html import unescape
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.__main__ import main
from autograder.authoring.custom_exercise import prove_and_install_custom_exercise, write_custom_exercise_template
from autograder.errors import WorkFailed
from autograder.grading import verdict_store
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
from tests.conftest import UNCONFINED
from tests.own_assignments import KERNEL, Own, answer, by_hand, code, given, graded, hand_in, scores, write_source
from tests.second_course import CHAPTER, COURSE, EXERCISE, TURNED_ROUND, make_second_course

NAME, HW = "moving_average", "hw"
RIGHT = "def moving_average(x, k):\n    return x.unfold(-1, k, 1).mean(dim=-1)\n"
SUM = "def moving_average(x, k):\n    return x.unfold(-1, k, 1).sum(dim=-1)\n"
FROM_FILE = "SCALE = float(open('scale.txt').read())\n\n" + RIGHT.replace("return x", "return SCALE * x")
SWAP = "def swap_ends(row):\n    return torch.cat([row[-1:], row[1:-1], row[:1]])\n"
WRONG = "You add up the neighbors. A mean divides by how many they are."
STARTER = "def {}:\n    ### BEGIN SOLUTION\n    pass\n    ### END SOLUTION"
MIXED = (
    code("import torch\n\nfrom autograder import check"),
    answer(NAME, STARTER.format("moving_average(x, k)")),
    graded(f"check_{NAME}", f'check("{NAME}", {NAME})', 2.5),
    answer("double", STARTER.format("double(x)")),
    graded("seen", "assert double(2) == 4\n### BEGIN HIDDEN TESTS\nassert double(3) == 6\n### END HIDDEN TESTS", 3),
    graded("share", "sum(double(i) == 2 * i for i in range(1, 5)) / 2", 2),
    by_hand("essay", "Why a mean?", points=4),
    answer(EXERCISE, STARTER.format("swap_ends(row)")),
    graded(f"check_{EXERCISE}", f'check("{EXERCISE}", {EXERCISE})', 1),
    given("thanks", "print('thanks')"),
)
DOUBLE = {"double": "def double(x): return 2 * x"}


def forge(cells: list[Any]) -> None:
    """Replace the check by points, and redefine `check`, as a cheating student would."""
    for cell in cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id", "") == f"check_{NAME}":
            cell.source = "2.5"
    cells.append(code("check = lambda *given: 2.5\n2.5"))


CLASS = Own(
    cells=MIXED,
    students={
        "ada": {NAME: RIGHT, **DOUBLE, EXERCISE: SWAP, "essay": "It hangs on no single number."},
        "ben": {NAME: SUM, **DOUBLE, EXERCISE: TURNED_ROUND},
        "cyd": {NAME: RIGHT, "double": "import os\nos._exit(0)", EXERCISE: SWAP},
        "dan": {},
        "eve": {},
        "fay": {NAME: FROM_FILE, **DOUBLE, EXERCISE: SWAP},
    },
    beside={"fay": {"scale.txt": "1.0"}},
    changes={"eve": forge},
)

pytestmark = [
    pytest.mark.xdist_group("lent"),  # one process, which makes the course once
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    pytest.mark.night,
]


def command(course: Path, *words: str) -> str:
    """Run a command on a course folder in this process, and return its output."""
    with contextlib.redirect_stdout(io.StringIO()) as told:
        assert 0 == main(["--root", str(course), *words])
    return told.getvalue()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the course with a proven exercise of the teacher's own."""
    course = make_second_course(tmp_path_factory.mktemp("lent")) / COURSE
    write_custom_exercise_template(course, NAME)
    assert [] == prove_and_install_custom_exercise(course, NAME)
    command(course.parent, "build")
    return course


@pytest.fixture(scope="module")
def course(built: Path) -> Path:
    """Return the course with the teacher's assignment handed in, graded and reported."""
    write_source(built, HW, CLASS)
    cycle = NbgraderCycle(built, HW)
    cycle.generate()
    hand_in(built, HW, CLASS)
    command(built, "grade", HW, "--workers", "1")
    assert {} == cycle.feedback(["ada", "ben"])
    return built


def test_each_cell_has_its_own_way_of_being_graded(course: Path) -> None:
    """Exercises are judged, test cells get nbgrader's points, and a written answer waits for a person."""
    found = scores(course, HW)
    cells = (f"check_{NAME}", "seen", "share", "essay", f"check_{EXERCISE}")

    assert {
        "ada": [2.5, 3.0, 2.0, None, 1.0],
        "ben": [0.0, 3.0, 2.0, 0.0, 0.5],
        "cyd": [2.5, 0.0, 0.0, 0.0, 1.0],
        "dan": [0.0] * 5,
        "eve": [0.0] * 5,
        "fay": [2.5, 3.0, 2.0, 0.0, 1.0],
    } == {student: [marks[cell][0] for cell in cells] for student, marks in found.items()}
    assert found["ada"]["essay"][1]


def test_cases_are_fresh(course: Path) -> None:
    """The verdict has a seed of fresh cases, and the teacher's points."""
    verdict = verdict_store.read_verdict(course, HW, "ben")

    assert verdict is not None and verdict.seed
    assert (2.5, 8.5, 5.5) == (verdict.points[NAME], verdict.max_score, verdict.score)
    assert ["sum"] == list(verdict.report(NAME).mistakes)


def test_feedback_tells_the_sentence(course: Path) -> None:
    """The feedback has the message, and the points of all cells."""
    page = unescape((course / "feedback" / "ben" / HW / f"{HW}.html").read_text(encoding="utf-8"))

    assert WRONG in page and "0 of 2.5 points" in page
    for cell in (NAME, "seen", "share", "essay", EXERCISE):
        assert cell in page
    assert "BEGIN HIDDEN" not in page and "double(3)" not in page
    assert "Look at `Tensor.unfold`" in page.replace("<code>", "`").replace("</code>", "`")


def test_a_score_by_hand_adds_up(course: Path) -> None:
    """A manual score is added, and stays when the submission is regraded; `summary` says for whom it is missing."""
    waits = "Not scored yet: 1 part of 1 student, in formgrader: ada (1)."
    assert waits in command(course, "summary", HW) and waits in command(course, "report", HW)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_basics") as gradebook:
        grade = gradebook.find_grade("essay", HW, HW, "ada")
        grade.manual_score, grade.needs_manual_grade = 3, False
        gradebook.db.commit()
    told = command(course, "grade", HW, "--force", "--student", "ada")
    assert "Not scored yet" not in told + command(course, "summary", HW)

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_basics") as gradebook:
        assert 11.5 == gradebook.find_submission(HW, "ada").score
        assert not gradebook.find_submission(HW, "ada").needs_manual_grade


def test_the_report_is_about_all_of_it(course: Path) -> None:
    """The report has misunderstandings, lessons to teach again, test cells as items, and a page per student."""
    command(course, "report")

    reports = course / "reports"
    page, index = (unescape((reports / f"{name}.html").read_text(encoding="utf-8")) for name in (HW, "index"))
    assert WRONG in page and "To teach again: moving_average" in page and WRONG in index
    assert {"moving_average", "swap_ends", "seen", "share"} <= set(re.findall(r"[a-z_]+", page))
    ben = unescape((reports / "students" / "ben.html").read_text(encoding="utf-8"))
    assert WRONG in ben and "5.5 of 12.5" in ben
    assert f"{NAME},2.5,0,3,1,2" in (reports / f"items-{HW}.csv").read_text(encoding="utf-8")


SEVERAL = Own(
    cells=(*MIXED[:3], MIXED[6]),
    # A notebook with the name of the chapter that it borrows from, and a test cell with an exercise's name.
    more={CHAPTER: (MIXED[0], *MIXED[7:9], answer("one"), graded(NAME, "assert one() == 1", 2))},
    students={
        "ada": {NAME: RIGHT, EXERCISE: SWAP, "one": "def one(): return 1"},
        "ben": {NAME: SUM, EXERCISE: TURNED_ROUND},
        "cyd": {NAME: RIGHT, EXERCISE: SWAP},
    },
)


@pytest.fixture(scope="module")
def exam(built: Path) -> Path:
    """Return the course with an assignment of two notebooks, handed in, graded and reported."""
    write_source(built, "exam", SEVERAL)
    cycle = NbgraderCycle(built, "exam")
    cycle.generate()
    hand_in(built, "exam", SEVERAL)
    (built / "submitted" / "cyd" / "exam" / f"{CHAPTER}.ipynb").unlink()
    command(built, "grade", "exam", "--workers", "1")
    command(built, "report", "exam")
    assert {} == cycle.feedback(["ben"])
    return built


def test_in_each_of_several_notebooks(exam: Path) -> None:
    """Each exercise is judged in its notebook, and a missing notebook costs only its own cells."""
    cells = (f"check_{NAME}", f"{CHAPTER}/check_{EXERCISE}", f"{CHAPTER}/{NAME}")

    assert {"ada": [2.5, 1.0, 2.0], "ben": [0.0, 0.5, 0.0], "cyd": [2.5, 0.0, 0.0]} == {
        student: [marks[cell][0] for cell in cells] for student, marks in scores(exam, "exam").items()
    }
    verdict = verdict_store.read_verdict(exam, "exam", "cyd")
    assert verdict is not None and {NAME: "exam", EXERCISE: CHAPTER} == verdict.notebooks


def test_told_in_the_notebook_where_it_stands(exam: Path) -> None:
    """The message is on the feedback page of its notebook, and in the report."""
    pages = exam / "feedback" / "ben" / "exam"
    first, second = (unescape((pages / f"{name}.html").read_text(encoding="utf-8")) for name in ("exam", CHAPTER))
    report = unescape((exam / "reports" / "exam.html").read_text(encoding="utf-8"))

    assert WRONG in first and WRONG not in second and "0.5 of 1" in second
    assert WRONG in report and "sum(dim=-1)" in report


def test_of_several_notebooks_one_exercise_again(exam: Path) -> None:
    """`--only` finds an exercise in any notebook of the assignment."""
    assert "Nothing was changed." in command(exam, "grade", "exam", "--only", EXERCISE, "--preview", "--workers", "1")


def test_an_answer_can_be_learned_from(course: Path) -> None:
    """`learn` finds the answer in another assignment's notebook."""
    told = command(course, "learn", str(course / "submitted" / "ben" / HW), NAME)

    assert "sum" in told


def test_only_one_exercise_again(course: Path) -> None:
    """`--only` accepts a borrowed exercise, and a test cell; if it knows no such name, it says what there is."""
    for name in (NAME, "seen"):
        printed = command(course, "grade", HW, "--only", name, "--preview", "--workers", "1")
        assert "Nothing was changed." in printed
    with contextlib.redirect_stderr(io.StringIO()) as told:
        assert 1 == main(["--root", str(course), "grade", HW, "--only", "sen", "--preview", "--workers", "1"])
    assert f"found sen. Nothing was graded. It has {NAME}, {EXERCISE}, seen, share." in told.getvalue()


def test_a_chapter_with_an_exercise_from_elsewhere(built: Path) -> None:
    """A chapter can contain an exercise from elsewhere, and its setup cell serves both."""
    source = built / "source" / CHAPTER / f"{CHAPTER}.ipynb"
    notebook = nbformat.read(source, as_version=4)
    notebook.cells += [MIXED[1], MIXED[2], MIXED[6]]
    nbformat.write(notebook, source)
    cycle = NbgraderCycle(built, CHAPTER)
    cycle.generate()
    hand_in(built, CHAPTER, Own(cells=(), students={"ada": {NAME: RIGHT, EXERCISE: TURNED_ROUND}, "ben": {NAME: SUM}}))

    assert {} == cycle.autograde(["ada", "ben"], how=GradingOptions(unconfined=UNCONFINED))
    found = scores(built, CHAPTER)
    cells = (f"check_{NAME}", f"check_{EXERCISE}", "essay")
    assert {"ada": [2.5, 1.0, 0.0], "ben": [0.0, 0.0, 0.0]} == {s: [found[s][c][0] for c in cells] for s in found}


def test_refuses_one_exercise_twice(built: Path) -> None:
    """An exercise in two notebooks of an assignment is refused."""
    write_source(built, "twice", Own(cells=MIXED[:3], more={"again": MIXED[:3]}))
    cycle = NbgraderCycle(built, "twice")
    cycle.generate()

    with pytest.raises(WorkFailed, match=f"several notebooks of twice check {NAME}"):
        cycle.autograde(["ada"], how=GradingOptions(unconfined=UNCONFINED))


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ([MIXED[0], MIXED[2]], f"has no cell for the answer: expected one above the check with the id {NAME}"),
        ([*MIXED[:2], graded("mine", f'check("{NAME}", {NAME})')], "mine calls `check` and checks no exercise of bad"),
        ([*MIXED[:2], graded("check_x", 'check("x", 1)')], "check_x calls `check` and checks no exercise of bad"),
    ],
)
def test_refuses(built: Path, cells: list[Any], told: str) -> None:
    """An assignment whose check cannot be judged is refused, because it would give full points."""
    folder = built / "source" / "bad"
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=KERNEL), folder / "bad.ipynb")
    cycle = NbgraderCycle(built, "bad")
    cycle.generate()

    with pytest.raises(WorkFailed, match=told):
        cycle.autograde(["ada"], how=GradingOptions(unconfined=UNCONFINED))
