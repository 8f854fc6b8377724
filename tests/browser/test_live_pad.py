"""The pad of the site's first page in a real browser: it reads what torch reads, by mouse, finger and keys."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Page, expect
from torch import Tensor

from autograder.authoring.site.live_drawing_pad import render_live_pad
from explorers.drawing_pad_state import BRUSHES, PenStroke, rasterize_strokes
from tests.browser.accessible import nameless_controls
from tests.browser.lab import keep_picture
from tests.small_chapter import PROJECT
from tests.ten_hands import TIMES, all_drawings, counts, lesson

pytestmark = pytest.mark.xdist_group("live pad")  # one process trains it

MOST_BYTES = 60_000
LAYERS = "JSON.parse(document.querySelector('script[type=\"application/json\"]').textContent)"
READ = f"drawings => {{ const data = handwriting.network({LAYERS}); return drawings.map(ink => {{"
READ += " const { seen, shares } = handwriting.read(data, ink); return [[...seen], [...shares]]; }); }"
INK = "strokes => [...handwriting.inkOf(strokes)]"
SEVEN = ((8, 6), (24, 6), (14, 27))


@dataclass(frozen=True)
class Made:
    """A page with the pad alone, and the lesson that its network comes from, with rounded weights and without."""

    page: Path
    lesson: dict[str, Any]
    exact: dict[str, Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Train as the lesson does, and write the page."""
    folder = tmp_path_factory.mktemp("pad")
    trained = lesson(0)
    exact = {**trained, "well_read": copy.deepcopy(trained["well_read"])}
    pad = render_live_pad(trained, "well_read", "boxed", 4)
    styles = "".join((PROJECT / name).read_text() for name in ("explorers/static/explorer.css", "docs/site.css"))
    page = folder / "index.html"
    head = f"<meta charset=utf-8><meta name=viewport content='width=device-width'><style>{styles}</style>"
    page.write_text(f"<!DOCTYPE html><html lang=en>{head}<main>{pad}</main></html>")
    (folder / "_static").mkdir()
    for name in ("docs/_static/handwriting.js", "explorers/static/pad.js"):
        shutil.copy(PROJECT / name, folder / "_static")
    return Made(page, trained, exact)


@pytest.fixture
def page(made: Made, browser: Browser) -> Iterator[Page]:
    """Open the page in a new context; its scripts must not complain."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page, complaints = context.new_page(), list[str]()
    page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(made.page.as_uri())
    yield page
    context.close()
    assert [] == complaints


def at(page: Page, x: float, y: float) -> tuple[float, float]:
    """Return a position of the drawing in pixels of the page."""
    box = page.locator(".x-pad").bounding_box()
    assert box is not None
    return box["x"] + x / 32 * box["width"], box["y"] + y / 32 * box["height"]


def draw(page: Page, *places: tuple[float, float]) -> None:
    """Draw a stroke with the mouse."""
    page.mouse.move(*at(page, *places[0]))
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*at(page, *place), steps=8)
    page.mouse.up()


def test_ten_hands(made: Made, page: Page) -> None:
    """The page reads each drawing of ten hands as torch does with the same weights, and as many as the lesson's pad."""
    drawings = all_drawings()
    read = page.evaluate(READ, drawings.flatten(1).int().tolist())
    seen = torch.stack([made.lesson["boxed"](drawing) for drawing in drawings])
    shares = made.lesson["probabilities"](made.lesson["well_read"], seen[:, None] / 16)
    found = torch.tensor([shares for _, shares in read])

    assert seen.flatten(1).tolist() == [seen for seen, _ in read]
    assert torch.allclose(shares, found, atol=1e-4) and torch.equal(shares.argmax(1), found.argmax(1))
    right = (found.argmax(1) == torch.arange(10).repeat(len(drawings) // 10)).reshape(-1, 10 * TIMES).sum(1) / TIMES
    for (hand, lessons), here in zip(counts(made.exact).items(), right.tolist(), strict=True):
        assert abs(lessons[-1] - here) <= 0.5, (hand, lessons[-1], here)


def test_strokes_blacken_the_same_pixels(page: Page) -> None:
    """The page's drawing is that of the notebook's pad, also for dots, and for lines that leave the paper."""
    chance = Random(0)
    for count in (1, 2, 2, 5, 40):
        points = tuple((round(chance.uniform(-3, 35), 2), round(chance.uniform(-3, 35), 2)) for _ in range(count))
        width = chance.choice(list(BRUSHES.values()))
        inked: Tensor = rasterize_strokes((PenStroke("a", points, width),))
        assert inked.flatten().int().tolist() == page.evaluate(INK, [{"points": points, "width": width}])


def test_the_weights_are_few(made: Made) -> None:
    """The whole pad, with the weights of its network, is smaller than 60 kB."""
    assert len(made.page.read_text().partition("<main>")[2].encode()) < MOST_BYTES


def test_with_a_mouse(page: Page) -> None:
    """The sample makes room for the first stroke, which is read; Clear takes it away by keyboard."""
    assert page.locator(".x-pad-ink path").count() == 2
    draw(page, *SEVEN)
    expect(page.locator(".x-pad-ink path")).to_have_count(1)
    expect(page.locator(".x-pad-verdict")).to_contain_text("The model reads a 7 (")
    expect(page.get_by_role("status")).to_contain_text("The model reads a 7 (")
    expect(page.locator("tr.x-largest th")).to_have_text("7")
    keep_picture(page, "site-pad")
    assert 0.9 < sum(page.locator(".x-share").evaluate_all("all => all.map(e => parseInt(e.textContent) / 100)")) < 1.1
    page.get_by_role("button", name="Clear").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".x-pad-ink path")).to_have_count(0)
    expect(page.get_by_role("status")).to_contain_text("Nothing is drawn yet.")


def test_a_dot_is_not_read(page: Page) -> None:
    """A drawing that is no larger than a dot is no digit."""
    draw(page, (16, 16))

    expect(page.locator(".x-pad-verdict")).to_contain_text("too small to be a digit")
    assert page.locator("tr.x-largest").count() == 0


def test_with_keys(page: Page) -> None:
    """Space puts the pen down, arrows draw, and a screen reader is told where the pen is and what is read."""
    page.get_by_role("application", name="Draw a digit").focus()
    for _ in range(2):
        page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("Space")
    for _ in range(5):
        page.keyboard.press("Shift+ArrowDown")
    expect(page.locator("[aria-live=polite]")).to_contain_text("Pen down")
    expect(page.get_by_role("status")).to_have_text("Drawing.")
    page.keyboard.press("Space")

    expect(page.get_by_role("status")).to_contain_text("The model reads a 1 (")
    assert [] == nameless_controls(page.locator("main"))


def test_with_a_finger(made: Made, browser: Browser) -> None:
    """On a phone a finger draws and does not scroll, and the page is no wider than the screen."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(made.page.as_uri())
    touches = context.new_cdp_session(page)
    for kind, place in (("touchStart", SEVEN[0]), *(("touchMove", place) for place in SEVEN[1:]), ("touchEnd", None)):
        points = [] if place is None else [dict(zip("xy", at(page, *place), strict=True))]
        touches.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    expect(page.get_by_role("status")).to_contain_text("The model reads a 7 (")
    assert 0 == page.evaluate("scrollY") and 390 == page.evaluate("document.documentElement.scrollWidth")
    context.close()


def test_without_scripts(made: Made, browser: Browser) -> None:
    """A sentence says that the picture stands still, and it shows a drawing, what the model sees and its bars."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(made.page.as_uri())

    expect(page.locator("noscript p")).to_be_visible()
    expect(page.locator(".x-pad path").first).to_be_visible()
    assert page.locator(".x-bars tr.x-largest th").inner_text() == "4"
    context.close()


def test_the_data_is_plain(made: Made) -> None:
    """The data in the page is JSON of layers that the script can run."""
    data = made.page.read_text().partition('application/json">')[2].partition("</script>")[0]

    assert [layer["kind"] for layer in json.loads(data)["layers"]][-1] == "linear"
