"""nbgrader's formgrader in a real browser: all steps of a teacher, with our engine behind the Autograde button."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

from autograder.authoring.example_students import ExampleStudent
from autograder.grading import verdict_store
from autograder.nbgrader_plugin.nbgrader_cycle import NbgraderCycle
from tests.browser.formgrader import RIGHT, STEM, WRONG, Formgrader, made_students, new_course, points
from tests.browser.lab import keep_picture
from tests.browser.lab_server import Server, lab_server
from tests.graded import SEED
from tests.our_course import COURSE

pytestmark = [
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    pytest.mark.xdist_group("formgrader"),  # the tests share one server and one class
]

EVIL = "mallory"
# Each script that ran would set `window.HACKED` in the page that shows it.
SCRIPT = "<script>window.HACKED = 1</script><img src=x onerror='window.HACKED = 1'>"
_ANSWER = f'''
def describe(x):
    """{SCRIPT}"""
    # </pre></code>{SCRIPT}
    return {{"shape": "{SCRIPT}", "dtype": "</pre>{SCRIPT}"}}
'''


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a course folder as it is after `make build`: nothing generated, nothing released."""
    return new_course(tmp_path_factory.mktemp("teacher"))


@pytest.fixture(scope="module")
def server(course: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Server]:
    """Start JupyterLab in the course folder, as a teacher does."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        # With other cases a wrong answer may get other points: with one seed, only the teacher's actions change them.
        monkeypatch.setenv(verdict_store.SEED_VARIABLE, str(SEED))
        with lab_server(tmp_path_factory.mktemp("teacher-home"), course) as server:
            yield server


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Open a page in a context of its own."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    yield context.new_page()
    context.close()


@pytest.fixture
def formgrader(page: Page, server: Server) -> Formgrader:
    """Return formgrader in a page that is signed in."""
    return Formgrader(page, server)


@pytest.fixture(scope="module")
def collected(browser: Browser, server: Server, course: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate, release and collect by formgrader's buttons, with three submissions, and return the course folder."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    teacher = Formgrader(context.new_page(), server)
    teacher.press("manage_assignments", STEM, "assign")
    teacher.press("manage_assignments", STEM, "release")
    students = made_students(course)
    cycle = NbgraderCycle(course, STEM)
    for student in (students[RIGHT], students[WRONG], evil(students[WRONG])):
        home = tmp_path_factory.mktemp("students") / student.name
        (home / STEM).mkdir(parents=True)
        (home / STEM / student.filename).write_bytes(student.data)
        cycle.submit(student.name, home)
    teacher.press("manage_assignments", STEM, "collect")
    keep_picture(teacher.page, "formgrader-collected")
    context.close()
    return course


@pytest.fixture(scope="module")
def graded(browser: Browser, server: Server, collected: Path) -> Path:
    """Press the Autograde button for a right and a wrong submission, and return the course folder."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    teacher = Formgrader(context.new_page(), server)
    for student in (RIGHT, WRONG):
        teacher.autograde(student)
    keep_picture(teacher.page, "formgrader-graded")
    context.close()
    return collected


def evil(student: ExampleStudent) -> ExampleStudent:
    """Return a submission with a script in each place where a notebook can hold one."""
    notebook: Any = nbformat.reads(student.data.decode(), as_version=4)
    shown = {"text/html": SCRIPT, "application/javascript": "window.HACKED = 1", "image/svg+xml": SCRIPT}
    output = nbformat.v4.new_output("display_data", data=shown)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "describe":
            cell.source = _ANSWER
        if cell.cell_type == "code":
            cell.outputs = [copy.deepcopy(output)]
        else:
            cell.source += f"\n\n{SCRIPT}\n\n[click](javascript:window.HACKED=1)"
    notebook.cells.insert(1, nbformat.v4.new_markdown_cell(f"# {SCRIPT}\n\n<style>body {{display: none}}</style>"))
    notebook.cells.insert(2, nbformat.v4.new_raw_cell(SCRIPT, metadata={"format": "text/html"}))
    notebook.metadata["title"] = SCRIPT
    return ExampleStudent(EVIL, nbformat.writes(notebook).encode(), student.expected, student.filename)


def test_collected_by_buttons(collected: Path) -> None:
    """After generating, releasing and collecting by buttons, the folder is as after nbgrader's commands."""
    assert (collected / "release" / STEM / f"{STEM}.ipynb").is_file()
    assert {RIGHT, WRONG, EVIL} == {path.parent.name for path in (collected / "submitted").glob(f"*/{STEM}")}


def test_button_grades_with_our_engine(graded: Path) -> None:
    """The button writes a verdict file, and a right submission gets more points than a wrong one."""
    assert all(verdict_store.read_verdict(graded, STEM, student) for student in (RIGHT, WRONG))
    assert points(graded, RIGHT) > points(graded, WRONG) > 0


def test_teachers_marks_survive_the_button(formgrader: Formgrader, graded: Path) -> None:
    """A score and a comment typed by the teacher remain when the button grades the submission again."""
    before = points(graded, WRONG)
    formgrader.open_submission(graded, WRONG)
    formgrader.mark("0.5", "Well argued.")
    keep_picture(formgrader.page, "formgrader-marked")
    by_hand = points(graded, WRONG)
    formgrader.autograde(WRONG)

    assert before != by_hand == points(graded, WRONG)
    formgrader.open_submission(graded, WRONG)
    expect(formgrader.page.locator("input.score").first).to_have_value("0.5")
    expect(formgrader.page.locator("textarea.comment").first).to_have_value("Well argued.")


def test_feedback_by_button(formgrader: Formgrader, graded: Path, page: Page) -> None:
    """The feedback has sentences, counterexamples, hints and the teacher's comment, and no hidden test."""
    formgrader.open_submission(graded, WRONG)
    formgrader.mark("0.25", "Nearly there.")
    formgrader.press(f"manage_submissions/{STEM}", WRONG, "generate-feedback")
    path = graded / "feedback" / WRONG / STEM / f"{STEM}.html"
    page.goto(path.as_uri())
    verdict = verdict_store.read_verdict(graded, STEM, WRONG)
    assert verdict is not None
    report = next(report for report in verdict.reports if report.mistakes and report.first and report.first.got)
    first = report.first
    assert first is not None
    text = page.locator("body").inner_text()

    assert first.sentence.replace("`", "") in text and first.call in text and "Nearly there." in text
    page.get_by_text("Hint", exact=True).first.click()
    assert COURSE.hints(STEM)["describe"][0].split("`")[0].strip() in page.locator("body").inner_text()
    assert "HIDDEN TESTS" not in path.read_text(encoding="utf-8")
    keep_picture(page, "feedback")


def test_scripts_in_a_submission_run_nowhere(formgrader: Formgrader, collected: Path, page: Page) -> None:
    """A submission's scripts run neither in formgrader nor in the feedback page.

    A teacher is signed in to formgrader, and a student opens the feedback.
    """
    formgrader.autograde(EVIL)
    formgrader.press(f"manage_submissions/{STEM}", EVIL, "generate-feedback")
    seen = {}
    formgrader.open_submission(collected, EVIL)
    for place in ("formgrader", "feedback"):
        page.wait_for_load_state("load")
        page.wait_for_timeout(500)  # an image takes a while to fail
        seen[place] = (page.evaluate("window.HACKED ?? null"), page.locator("body").is_visible())
        assert "window.HACKED" in page.locator("body").inner_text()  # the page shows the script as text
        keep_picture(page, f"scripts-{place}")
        page.goto((collected / "feedback" / EVIL / STEM / f"{STEM}.html").as_uri())

    assert {"formgrader": (None, True), "feedback": (None, True)} == seen, json.dumps(seen)
