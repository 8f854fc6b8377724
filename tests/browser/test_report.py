"""The class report in a real browser: readable in light and dark and on a phone; its page runs no script."""

from __future__ import annotations

import io
from pathlib import Path

import nbformat
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator

from autograder.reports import chapter_page_sections
from autograder.reports.lecture_question_page import lecture_page
from autograder.reports.notebook_to_offline_html import page_from_notebook as page_of
from tests.browser.accessible import faint_texts
from tests.browser.lab import keep_picture
from tests.test_lecture_questions import COSTLY, class_with
from tests.test_reporting import EVIL, HUNG, KNOWN, LOOSE, PASS, STUB, results, verdict


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of a chapter about a made class."""
    strong, weak = verdict(PASS, PASS, KNOWN), verdict(KNOWN, LOOSE, PASS)
    made = results(*[strong] * 7, *[weak] * 6, verdict(HUNG, STUB, STUB), None)
    parts = [
        chapter_page_sections.overview_section,
        chapter_page_sections.misunderstandings_section,
        chapter_page_sections.exercises_section,
        chapter_page_sections.unexplained_answers_table,
        chapter_page_sections.submissions_to_review_section,
    ]
    shown = [nbformat.v4.new_output("display_data", {"text/html": part(made)}) for part in parts]
    cells = [nbformat.v4.new_markdown_cell("## A section"), nbformat.v4.new_code_cell("1", outputs=shown)]
    file = tmp_path_factory.mktemp("report") / "ch.html"
    file.write_bytes(page_of(nbformat.v4.new_notebook(cells=cells), "A chapter", {"The course": "index.html"}))
    return file


def corner_of(picture: Locator) -> tuple[int, ...]:
    """Return the background color of a picture as (red, green, blue), as a reader sees it."""
    seen = Image.open(io.BytesIO(picture.screenshot())).convert("RGB").getpixel((8, 8))
    assert isinstance(seen, tuple)
    return seen


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_can_be_read(path: Path, browser: Browser, scheme: str, width: int) -> None:
    """Each text has enough contrast, the page does not scroll sideways, and it reports no error."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page, wrong = context.new_page(), list[str]()
    page.on("console", lambda message: wrong.append(message.text))
    page.on(
        "request", lambda request: None if request.url.startswith(("file:", "data:")) else wrong.append(request.url)
    )
    page.goto(path.as_uri())
    keep_picture(page, f"report-{scheme}-{width}")

    corner = corner_of(page.locator("figure img").first)
    assert (sum(corner) < 150) == (scheme == "dark") == (sum(corner) < 600)
    assert not faint_texts(page.locator("body")) and not wrong
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1600, 390])
def test_questions_for_the_lecture(browser: Browser, tmp_path: Path, scheme: str, width: int) -> None:
    """Each question fills a screen or more with text that can be read; its answer is folded until it is opened."""
    (tmp_path / "lecture.html").write_bytes(lecture_page(class_with(COSTLY)))
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto((tmp_path / "lecture.html").as_uri())
    keep_picture(page, f"lecture-{scheme}-{width}")
    heights = page.locator(".slide").evaluate_all("found => found.map(each => each.offsetHeight)")

    assert len(heights) >= 4 and min(heights) >= 900
    assert not faint_texts(page.locator("body"))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not page.locator("details p").first.is_visible()
    page.locator("summary").first.click()
    assert page.locator("details p").first.is_visible()
    context.close()


def test_a_script_that_got_in_would_not_run(browser: Browser, tmp_path: Path) -> None:
    """The page's content security policy blocks a script that passed the sanitizer."""
    output = nbformat.v4.new_output(
        "display_data", {"text/html": f"<p>{EVIL.replace('alert', 'window.HACKED = ')}</p>"}
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", outputs=[output])])
    (tmp_path / "page.html").write_bytes(page_of(notebook, "A chapter", {}))
    context = browser.new_context()
    page = context.new_page()
    page.goto((tmp_path / "page.html").as_uri())

    assert page.evaluate("window.HACKED ?? null") is None
    context.close()
