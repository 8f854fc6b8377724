"""nbgrader's formgrader in a real browser: its Autograde button is our engine, and a teacher's own marks survive it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import Browser, Page, expect

from autograder.example.example_class import copy_course
from autograder.example.made_students import ClassMaker, Student
from autograder.grading import classroom
from autograder.grading.assignment import assignment
from autograder.grading.cycle import Cycle
from autograder.grading.grader import grader
from tests.browser.lab import keep_picture
from tests.browser.lab_server import Server, lab_server
from tests.small_chapter import PROJECT

STEM, RIGHT, WRONG = "ch01_tensors", "right-01", "wrong-01"
PATIENCE = 120_000  # milliseconds for grading one submission, with everything that is imported for it

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder where two students have handed in, and nothing is graded."""
    course = tmp_path_factory.mktemp("teacher") / "course"
    copy_course(PROJECT, course, STEM)
    Cycle(course, STEM).generate()
    made_from = grader(assignment(course, STEM))
    for student in ClassMaker(made_from.judge, made_from.release).students(mishaps=False):
        if student.name in (RIGHT, WRONG):
            hand_in(course, student)
    return course


def hand_in(course: Path, student: Student) -> None:
    """Put a student's file where nbgrader collects it."""
    folder = course / "submitted" / student.name / STEM
    folder.mkdir(parents=True)
    (folder / student.filename).write_bytes(student.data)


@pytest.fixture(scope="module")
def server(course: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Server]:
    """JupyterLab started in the course folder, as a teacher does."""
    with lab_server(tmp_path_factory.mktemp("teacher-home"), course) as server:
        yield server


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    """A page that is signed in."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(30_000)
    page.goto(f"{server.address}/formgrader?token={server.token}")
    yield page
    context.close()


def pressed(page: Page, server: Server, student: str) -> None:
    """Press the Autograde button of a student and wait for nbgrader's word."""
    page.goto(f"{server.address}/formgrader/manage_submissions/{STEM}")
    page.get_by_role("row").filter(has_text=student).locator(".autograde a").click()
    expect(page.locator(".modal-title")).to_have_text(re.compile("Success|Error"), timeout=PATIENCE)
    expect(page.locator(".modal-title")).to_have_text("Success")


def points(course: Path, student: str) -> float:
    """What the gradebook says of a student."""
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_basics") as gradebook:
        return float(gradebook.find_submission(STEM, student).score)


def test_button_grades_with_our_engine(page: Page, server: Server, course: Path) -> None:
    """It leaves a verdict file, and the points of the right answers and of the wrong ones."""
    for student in (RIGHT, WRONG):
        pressed(page, server, student)

    assert all(classroom.stored(course, STEM, student) for student in (RIGHT, WRONG))
    assert points(course, RIGHT) > points(course, WRONG) > 0
    keep_picture(page, "formgrader-graded")


def test_teachers_marks_survive_the_button(page: Page, server: Server, course: Path) -> None:
    """A score typed in by hand and a comment are still there after the submission is graded again."""
    pressed(page, server, WRONG)
    before = points(course, WRONG)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_basics") as gradebook:
        notebook = gradebook.find_submission_notebook(STEM, STEM, WRONG).id
    page.goto(f"{server.address}/formgrader/submissions/{notebook}/?index=0")
    score, comment = page.locator("input.score").first, page.locator("textarea.comment").first
    with page.expect_response(lambda response: "/api/grade/" in response.url and response.request.method == "PUT"):
        score.fill("0.5")
        score.press("Tab")
    with page.expect_response(lambda response: "/api/comment/" in response.url and response.request.method == "PUT"):
        comment.fill("Well argued.")
        comment.press("Tab")
    keep_picture(page, "formgrader-marked")
    by_hand = points(course, WRONG)
    pressed(page, server, WRONG)

    assert before != by_hand == points(course, WRONG)
    page.goto(f"{server.address}/formgrader/submissions/{notebook}/?index=0")
    expect(page.locator("input.score").first).to_have_value("0.5")
    expect(page.locator("textarea.comment").first).to_have_value("Well argued.")
