"""Open explorers where readers see them: in a notebook with a kernel, and in an exported page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbconvert.exporters import HTMLExporter
from playwright.sync_api import Browser, Locator

from explorers.explorer_base_widget import Explorer
from tests.browser.accessible import faint_texts, nameless_controls
from tests.browser.lab import DARK, LAPTOP, LIGHT, Lab, keep_picture

SCHEMES = ("light", "dark")  # of an exported page; by day each explorer's is looked at in one
WIDTHS = (1280, 1000, 390)  # a laptop, a window beside another one, a phone
IS_CUT_OFF = "root => root.scrollWidth > root.clientWidth"


def opened(lab: Lab, code: str) -> Locator:
    """Open the explorer that a cell shows in JupyterLab."""
    lab.open(lab.write(code))
    lab.run_all()
    found = lab.page.locator(".explorer").first
    found.wait_for()
    return found


def in_each_theme(lab: Lab, shown: Locator, name: str) -> Iterator[str]:
    """Yield the names of the themes, light at the end, while each is on; saves build/screenshots/NAME-THEME.png."""
    for theme in (DARK, LIGHT):
        lab.use_theme(theme)
        lab.screenshot(f"{name}-{theme.split()[-1].lower()}", shown)
        yield theme


def assert_readable(lab: Lab, explorer: Locator, name: str) -> None:
    """Assert that each text has enough contrast, each control a name, and that nothing is cut off at any width.

    By night it saves build/screenshots/NAME-WIDTH.png.
    """
    assert [] == faint_texts(explorer)
    assert [] == nameless_controls(explorer)
    for width in WIDTHS:
        lab.page.set_viewport_size({"width": width, "height": 1000})
        lab.screenshot_at_night(f"{name}-{width}", explorer)
        assert not explorer.evaluate(IS_CUT_OFF), width
    lab.page.set_viewport_size(LAPTOP)


@contextmanager
def exported(browser: Browser, folder: Path, explorer: Explorer, name: str, scheme: str) -> Iterator[Locator]:
    """Yield the explorer in a notebook exported as HTML, offline; at the end, assert what holds for all of them.

    The page has no controls, and each text is readable. It saves build/screenshots/NAME-exported-SCHEME.png.
    """
    data, metadata = explorer._repr_mimebundle_()
    output = nbformat.v4.new_output("display_data", data, metadata=metadata)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("explorer", outputs=[output])])
    text, _ = HTMLExporter(theme=scheme).from_notebook_node(notebook)
    (folder / "page.html").write_text(text, encoding="utf-8")
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1000, "height": 900})
    page.route("http*://**", lambda route: route.abort())
    page.goto((folder / "page.html").as_uri())
    found = page.locator(".explorer")
    yield found

    assert 0 == found.locator("button, select, input").count()
    assert [] == faint_texts(found)
    keep_picture(found, f"{name}-exported-{scheme}")
    page.close()
