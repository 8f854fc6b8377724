"""The students' notebooks in JupyterLab: students run them, type answers, check, restart and validate."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from playwright.sync_api import Locator, expect

from autograder.course.chapter_judge import Judge
from autograder.course.lint_chapter import RESERVED_CELL_NAMES
from tests.asked import NIGHT, by_night
from tests.browser.lab import PATIENCE, Lab
from tests.made_submissions import handed_in
from tests.our_course import COURSE
from tests.small_chapter import PROJECT

STEM, EXERCISE, MISTAKE = "ch01b_broadcasting", "add_bias", "batch-axis"
EXPLORER = "from explorers import shape_explorer\nshape_explorer()"
# By day it shows all that sittings have in common; explorers have tests of their own, and `make nbval` runs all cells.
BY_DAY = ("ch04a_training_loop",)
SLOW = 180_000  # milliseconds that a chapter, or nbgrader on one, may take on a busy machine


def student(stem: str) -> Path:
    """Return the path of a notebook as students get it."""
    return PROJECT / "notebooks" / f"{stem}.ipynb"


def whole(stem: str) -> NotebookNode:
    """Return a notebook as students get it; by day with the fewer repetitions that its own parameter sets.

    `make nbval` runs its cells in full; the tests here only hold that a page shows all of it.
    """
    notebook: NotebookNode = nbformat.read(student(stem), as_version=4)
    for cell in notebook.cells:
        if cell.id == "parameters" and not NIGHT:
            cell.source = cell.source.replace("short = False", "short = True")
    return notebook


def around(stem: str, exercise: str) -> NotebookNode:
    """Return a notebook as students get it without its lessons: the setup, one exercise, and the progress.

    It is for tests of what happens at one exercise; tests with whole chapters hold that these run.
    """
    notebook: NotebookNode = nbformat.read(student(stem), as_version=4)
    wanted = {*RESERVED_CELL_NAMES, "parameters", exercise, f"check_{exercise}", "progress"}
    notebook.cells = [cell for cell in notebook.cells if cell.id in wanted]
    assert len(wanted) == len(notebook.cells)
    return notebook


@pytest.fixture(scope="module")
def judge() -> Judge:
    """Return the worked solutions and the answer bank of the first chapter."""
    return Judge(PROJECT / "course", STEM)


def solution_cell(lab: Lab, exercise: str) -> Locator:
    """Return the cell for the answer to an exercise."""
    return lab.page.locator(".jp-CodeCell").filter(has_text=f"def {exercise}(").first


def check_cell(lab: Lab, exercise: str) -> Locator:
    """Return the cell that checks the answer to an exercise."""
    return lab.page.locator(".jp-CodeCell").filter(has_text=f'check("{exercise}", {exercise})').first


def answered(lab: Lab, exercise: str, source: str) -> Locator:
    """Type an answer, run it and its check, and return the check's cell."""
    cell, check = solution_cell(lab, exercise), check_cell(lab, exercise)
    lab.type(cell, source)
    lab.run(cell)
    lab.run(check)
    return check


@pytest.mark.parametrize("stem", by_night(COURSE.stems, BY_DAY))
def test_untouched_notebook_runs_to_its_end(lab: Lab, stem: str) -> None:
    """Run All runs every code cell of an unsolved notebook without an error, and the page reports none."""
    nbformat.write(whole(stem), lab.server.folder / f"{stem}.ipynb")
    lab.open(f"{stem}.ipynb")
    lab.run_all()
    lab.wait_for_idle()
    notebook = nbformat.read(lab.save(), as_version=nbformat.NO_CONVERT)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]

    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip())
    assert [] == [output for output in outputs if output.output_type == "error"]
    assert [] == lab.complaints
    lab.screenshot(f"chapter-{stem}")


def first_section(notebook: NotebookNode) -> int:
    """Return the number of cells up to the end of a notebook's first section."""
    begun = [number for number, cell in enumerate(notebook.cells) if cell.source.startswith("## ")]
    return begun[1]


@pytest.mark.parametrize("stem", by_night(COURSE.stems, [STEM]))
def test_shift_and_enter_from_the_top_lead_into_no_error(lab: Lab, stem: str) -> None:
    """The first instruction of a notebook, followed to the letter to the end of the first section, raises nothing."""
    notebook = nbformat.read(student(stem), as_version=4)
    presses = first_section(notebook)
    nbformat.write(notebook, lab.server.folder / f"{stem}-first.ipynb")
    lab.open(f"{stem}-first.ipynb")
    lab.page.locator(".jp-Notebook .jp-Cell").first.click()
    for _ in range(presses):
        lab.page.keyboard.press("Shift+Enter")
        lab.page.wait_for_timeout(50)  # milliseconds; a reader is slower
    expect(lab.page.locator(".jp-InputPrompt", has_text="[*]:")).to_have_count(0, timeout=SLOW)
    lab.wait_for_idle()
    ran = [cell for cell in nbformat.read(lab.save(), as_version=4).cells if cell.get("execution_count")]

    assert "Press Shift and Enter, from the top" in notebook.cells[0].source
    assert ["install", "parameters", "setup"] == [cell.id for cell in ran[:3]]
    assert [] == [output for cell in ran for output in cell.outputs if output.output_type == "error"]


def test_answers_are_typed_and_judged(lab: Lab, judge: Judge) -> None:
    """A wrong answer gets its own sentence, a right one passes; both survive a restart of the kernel."""
    wrong = next(answer for answer in judge.banks[EXERCISE] if answer.tag == MISTAKE)
    right = judge.chapter.solution(EXERCISE)
    nbformat.write(around(STEM, EXERCISE), lab.server.folder / f"{STEM}.ipynb")
    lab.open(f"{STEM}.ipynb")
    lab.run_all()

    check = answered(lab, EXERCISE, wrong.source)
    expect(check).to_contain_text(str(wrong.sentence).replace("`", ""))
    lab.screenshot("answer-wrong", check)

    check = answered(lab, EXERCISE, right)
    expect(check).to_contain_text(re.compile(r"all \d+ checks passed"))
    lab.screenshot("answer-right", check)

    lab.restart_kernel()
    lab.run_all()
    expect(check).to_contain_text(re.compile(r"all \d+ checks passed"))
    told = lab.page.locator(".jp-CodeCell").filter(has_text="progress(1)").first
    expect(told).to_contain_text(re.compile(rf"{EXERCISE}.*passed", re.DOTALL))
    lab.screenshot("progress", told)


def test_notebook_7_opens_and_runs(lab: Lab) -> None:
    """The same file in Notebook 7: all cells are there and run, and no complaint is about them; by day no lessons."""
    notebook = whole(STEM) if NIGHT else around(STEM, EXERCISE)
    notebook.cells.append(nbformat.v4.new_code_cell(EXPLORER))
    nbformat.write(notebook, lab.server.folder / "seven.ipynb")
    lab.page.goto(lab.server.plain_page("seven.ipynb"))
    cells = lab.page.locator(".jp-Notebook .jp-Cell")
    expect(cells).to_have_count(len(notebook.cells), timeout=PATIENCE)
    lab.wait_for_idle()  # Notebook 7 never runs a cell requested before a kernel exists
    lab.page.get_by_role("menuitem", name="Run", exact=True).click()
    lab.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    expect(lab.page.locator(".explorer").first).to_contain_text("Shape explorer", timeout=PATIENCE)
    expect(check_cell(lab, EXERCISE)).to_contain_text("not begun yet")

    assert [] == [told for told in lab.complaints if re.search("widget|explorer|cell|kernel", told, re.IGNORECASE)]
    lab.screenshot("notebook-7", check_cell(lab, EXERCISE))


class TestValidateButton:
    """nbgrader's Validate button runs the saved notebook and shows which checks fail."""

    @pytest.fixture
    def solved(self, judge: Judge) -> dict[str, str]:
        """Return the worked solutions."""
        return {name: judge.chapter.solution(name) for name in judge.chapter.exercises}

    @staticmethod
    def validated(lab: Lab, release: NotebookNode, answers: dict[str, str]) -> Locator:
        """Press the button on a notebook with these answers, and return nbgrader's dialog."""
        (lab.server.folder / "validate.ipynb").write_bytes(handed_in(release, answers))
        lab.open("validate.ipynb")
        lab.page.locator(".validate-button").click()
        dialog = lab.page.locator(".jp-Dialog")
        expect(dialog).to_contain_text(re.compile("Success|failed", re.IGNORECASE), timeout=SLOW)
        return dialog

    @pytest.mark.night
    def test_solved(self, lab: Lab, solved: dict[str, str]) -> None:
        """With every exercise solved, all is well."""
        expect(self.validated(lab, whole(STEM), solved)).to_contain_text("Success")

    def test_wrong(self, lab: Lab, judge: Judge, solved: dict[str, str]) -> None:
        """With one wrong answer, the dialog names the failed check and shows the sentence of its mistake."""
        wrong = next(answer for answer in judge.banks[EXERCISE] if answer.tag == MISTAKE)
        dialog = self.validated(lab, around(STEM, EXERCISE), solved | {EXERCISE: wrong.source})

        expect(dialog).to_contain_text(f'The following cell failed:check("{EXERCISE}"')
        expect(dialog).to_contain_text(str(wrong.sentence))  # regardless of line breaks
        lab.screenshot("validate-wrong")


def test_check_tells_of_a_helper_further_down(lab: Lab) -> None:
    """A check that needs a helper from a cell below passes, with a note that names that cell."""
    answer = "def add_bias(x, bias):\n    return x + as_column(bias)"
    helper = "def as_column(bias):\n    return bias[:, None]"
    setup = "import torch\nfrom autograder import check"
    lab.open(lab.write(setup, answer, 'check("add_bias", add_bias)', helper))
    cells = lab.page.locator(".jp-CodeCell")
    for place in (0, 3, 1, 2):
        lab.run(cells.nth(place))

    expect(cells.nth(2)).to_contain_text("which only a cell further down defines (the one that begins")
    lab.screenshot("check-note")
