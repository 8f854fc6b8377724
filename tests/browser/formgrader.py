"""nbgrader's formgrader as a teacher uses it: a page object over Playwright, and the course folder that it works on."""

from __future__ import annotations

import re
from pathlib import Path

from nbgrader.api import Gradebook
from playwright.sync_api import Page, expect

from autograder.authoring.example_class import copy_files_for_grading
from autograder.authoring.example_students import ExampleClassMaker, ExampleStudent
from autograder.grading.assignment import read_assignment
from autograder.grading.assignment_grader import get_grader
from tests.browser.lab_server import Server
from tests.conftest import UNCONFINED
from tests.small_chapter import PROJECT

STEM, RIGHT, WRONG = "ch01a_tensors", "right-01", "wrong-01"
PATIENCE = 120_000  # milliseconds for grading one submission, imports included


class Formgrader:
    """A browser page with formgrader."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page, self.server = page, server
        page.set_default_timeout(30_000)
        page.goto(f"{server.address}/formgrader?token={server.token}")

    def press(self, table: str, row: str, column: str) -> None:
        """Press the button of a row, and wait for nbgrader's dialog; fails if it does not report success."""
        self.page.goto(f"{self.server.address}/formgrader/{table}")
        self.page.get_by_role("row").filter(has_text=row).locator(f".{column} a").first.click()
        expect(self.page.locator(".modal-title")).to_have_text(re.compile("Success|Error"), timeout=PATIENCE)
        expect(self.page.locator(".modal-title")).to_have_text("Success")

    def autograde(self, student: str) -> None:
        """Press the Autograde button of a student."""
        self.press(f"manage_submissions/{STEM}", student, "autograde")

    def open_submission(self, course: Path, student: str) -> None:
        """Open a student's notebook for grading by hand."""
        with gradebook_of(course) as gradebook:
            notebook = gradebook.find_submission_notebook(STEM, STEM, student).id
        self.page.goto(f"{self.server.address}/formgrader/submissions/{notebook}/?index=0")
        self.page.wait_for_load_state("networkidle")  # formgrader saves no changes before

    def mark(self, score: str, comment: str) -> None:
        """Type a score and a comment into their first fields."""
        for box, text, kind in (("input.score", score, "grade"), ("textarea.comment", comment, "comment")):
            with self.page.expect_response(lambda response, kind=kind: _saves(response, kind)):
                self.page.locator(box).first.fill(text)
                self.page.locator(box).first.press("Tab")


def _saves(response: object, kind: str) -> bool:
    request = response.request  # type: ignore[attr-defined]
    return f"/api/{kind}/" in request.url and request.method == "PUT"


def gradebook_of(course: Path) -> Gradebook:
    """Return the gradebook of a course folder."""
    return Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_basics")


def points(course: Path, student: str) -> float:
    """Return a student's score in the gradebook."""
    with gradebook_of(course) as gradebook:
        return float(gradebook.find_submission(STEM, student).score)


def new_course(folder: Path) -> Path:
    """Make a course folder as a teacher has it after `make build`, with an exchange beside it."""
    course = folder / "course"
    copy_files_for_grading(PROJECT, course, STEM)
    exchange = folder / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)  # nbgrader requires it
    with (course / "nbgrader_config.py").open("a") as file:
        file.write(f"\nc.Exchange.root = {str(exchange)!r}\nc.Exchange.cache = {str(folder / 'cache')!r}\n")
    return course


def made_students(course: Path) -> dict[str, ExampleStudent]:
    """Return the students made from the answer bank, by name, once nbgrader has generated the assignment."""
    made_from = get_grader(read_assignment(course, STEM, unconfined=UNCONFINED))
    return {each.name: each for each in ExampleClassMaker(made_from.judge, made_from.release).students(mishaps=False)}
