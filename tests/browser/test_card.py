"""The card at the end of a chapter in JupyterLab, in the light and the dark theme, and as a saved image."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from autograder.notebook.progress_log import PROGRESS_FILE, PROGRESS_VARIABLE
from autograder.notebook.progress_overview import merge_sittings
from tests.browser.accessible import faint_texts, nameless_controls
from tests.browser.lab import Lab
from tests.browser.lab_server import Server
from tests.browser.shown import WIDTHS, in_each_theme
from tests.our_course import COURSE

FIRST = merge_sittings(COURSE.listed, COURSE.listed[0])
CELL = (
    f"import os\nos.environ.pop({PROGRESS_VARIABLE!r}, None)\nfrom autograder import progress\nprogress({FIRST.number})"
)


@pytest.fixture(autouse=True)
def all_passed(server: Server) -> Iterator[None]:
    """Record in the server's folder that every exercise of chapter 1 has passed."""
    lines = (json.dumps({"exercise": name, "passed": 1, "of": 1}) for name in FIRST.exercises)
    path = server.folder / PROGRESS_FILE
    path.write_text("\n".join(lines), encoding="utf-8")
    yield
    path.unlink()


def card(lab: Lab) -> Locator:
    """Return the output of `progress` in a notebook."""
    lab.open(lab.write(CELL))
    lab.run_all()
    shown = lab.page.locator(".jp-OutputArea-output").filter(has_text="You can now")
    shown.wait_for()
    return shown


def test_can_be_read(lab: Lab) -> None:
    """Each text has enough contrast, the picture fits and has a text alternative, and the page reports no error."""
    shown = card(lab)
    picture = shown.get_by_role("img")
    expect(picture).to_have_attribute("aria-label", "Ten average pictures, of 0 to 9. With the lesson's distances they "
                                      "read 90% of digits never seen.")  # fmt: skip
    signs = ("✓", "")  # the words beside them have the same meaning
    for theme in in_each_theme(lab, shown, "card"):
        assert [] == [each for each in faint_texts(shown) if each[0] not in signs], theme
    assert [] == nameless_controls(shown) and [] == lab.complaints
    for width in WIDTHS:
        lab.page.set_viewport_size({"width": width, "height": 1000})
        assert picture.evaluate("one => one.getBoundingClientRect().width <= one.parentElement.clientWidth"), width


def test_is_kept_as_an_image(lab: Lab) -> None:
    """The link saves an image file, and a browser draws it in the size that it states."""
    shown = card(lab)
    with lab.page.expect_download() as waiting:
        shown.get_by_role("link", name="Save this card as an image").click()
    assert waiting.value.suggested_filename == f"{FIRST.stem}.svg"
    sizes = shown.get_by_role("link").evaluate(
        "async link => { const one = new Image(); one.src = link.href; await one.decode();"
        " return [one.naturalWidth, one.naturalHeight]; }"
    )
    assert sizes[0] == 960 and 300 < sizes[1] < 900
