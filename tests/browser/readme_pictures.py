"""Make the README's pictures in docs/pictures/: `make site`, then `python -m tests.browser.readme_pictures`.

The pad is that of the solved chapter 6, drawn on in JupyterLab; the feedback and the class report come from the site.
Each picture is dark on white in a frame of its own, so that it looks the same on a dark page.
"""

from __future__ import annotations

import io
import math
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from PIL import Image, ImageOps
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.chromium import MISSING, chromium
from tests.browser.hosted import hosted
from tests.browser.lab import Desk
from tests.browser.lab_server import lab_server
from tests.browser.test_digit_pad import drag
from tests.small_chapter import PROJECT

PICTURES = PROJECT / "docs" / "pictures"
SITE = PROJECT / "build" / "site" / "html"
CHAPTER = PROJECT / "solutions" / "ch06a_your_handwriting.ipynb"
CRISP, COLORS = 2, 32  # screenshot pixels per CSS pixel, and colors kept, for a third of the bytes
MARGIN, FRAME = 32, 2  # pixels around the picture
STEPS = 14  # points of each of the two bows of a 3


def bow(y: float, width: float, height: float, begin: int, end: int) -> list[tuple[float, float]]:
    """Return points of an ellipse around (15, y) on the pad, from one angle to another, in degrees."""
    angles = [math.radians(begin + (end - begin) * step / STEPS) for step in range(STEPS + 1)]
    return [(15 + width * math.cos(angle), y + height * math.sin(angle)) for angle in angles]


def keep(name: str, png: bytes) -> None:
    """Save a picture with a frame as docs/pictures/NAME.png."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    framed = ImageOps.expand(ImageOps.expand(picture, MARGIN, "white"), FRAME, "#8c959f")
    framed.quantize(COLORS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
        PICTURES / f"{name}.png", optimize=True
    )


def pad(browser: Browser, folder: Path) -> bytes:
    """Return a screenshot of chapter 6's pad with a 3 on it, which the chapter's model reads."""
    notebook = nbformat.read(CHAPTER, as_version=4)
    asked = next(number for number, cell in enumerate(notebook.cells) if "pad = digit_pad(" in cell.source)
    notebook.cells = notebook.cells[: asked + 1]
    (folder / "home").mkdir()
    (folder / "notebooks").mkdir()
    nbformat.write(notebook, folder / "notebooks" / "pad.ipynb")
    with lab_server(folder / "home", folder / "notebooks") as server:
        desk = Desk(browser, server, device_scale_factor=CRISP, viewport={"width": 1100, "height": 1000})
        lab = desk.lab()
        lab.open("pad.ipynb")
        lab.run_all()
        found = lab.page.locator(".explorer").filter(has_text="Drawing pad").last
        drag(lab.page, found, *bow(8, 5, 6, -160, 90), *bow(22, 5.5, 8, -90, 160))
        expect(found).to_contain_text("The model reads a 3")
        lab.page.evaluate("document.activeElement.blur()")
        png = found.screenshot()
        desk.put_away()
    return png


def feedback(page: Page, address: str) -> bytes:
    """Return a screenshot of the first page's feedback on a wrong answer."""
    page.goto(f"{address}index.html")
    return page.locator(".taken").filter(has_text="checks passed").screenshot()


def report(page: Page, address: str) -> bytes:
    """Return a screenshot of the first three misunderstandings in the class report."""
    page.goto(f"{address}class-report.html")
    part = page.locator("section#what-the-class-misunderstood")
    heading, last = part.locator("h2").bounding_box(), part.locator("ol > li").nth(2).bounding_box()
    assert heading is not None and last is not None
    height = last["y"] + last["height"] - heading["y"]
    return page.screenshot(full_page=True, clip={**heading, "height": height})


@contextmanager
def _opened(browser: Browser) -> Iterator[tuple[Page, str]]:
    with hosted(SITE) as address:
        yield browser.new_page(device_scale_factor=CRISP, viewport={"width": 860, "height": 1200}), address


def main() -> None:
    """Make all three pictures."""
    found = chromium()
    if found is None:
        sys.exit(MISSING)
    if not (SITE / "index.html").is_file():
        sys.exit(f"expected the site in {SITE}, found none. Run `make site` first.")
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        with _opened(browser) as (page, address):
            keep("feedback", feedback(page, address))
            keep("report", report(page, address))
        keep("pad", pad(browser, Path(folder)))
        browser.close()


if __name__ == "__main__":
    main()
