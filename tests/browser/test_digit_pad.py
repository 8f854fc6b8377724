"""The drawing pad in JupyterLab and Notebook 7: by mouse, finger and keyboard, in both themes, on a phone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page, expect

from explorers import digit_pad, saved_drawings_file
from tests.asked import by_night
from tests.browser.accessible import faint_texts, focus_ring, nameless_controls
from tests.browser.lab import LIGHT, PATIENCE, THEMES, Lab
from tests.browser.lab_server import Server
from tests.browser.shown import SCHEMES, assert_readable, exported, opened

# The model returns the number of the eight rows with ink: a long stroke from top to bottom is an 8.
PREDICT = """
import torch
from explorers import digit_pad
def predict(seen):
    return torch.nn.functional.one_hot((seen.sum(1) > 0).sum(), 10) * 5.0
pad = digit_pad(predict)
pad
"""
# The last line prints what Python has received, for the test to read.
TELLS = "print('ink', int(pad.drawing.sum()), 'kept', tuple(pad.kept[0].shape), pad.kept[1].tolist())"
SLOW = PREDICT.replace("    return", "    import time; time.sleep(0.6)\n    return")


@pytest.fixture(autouse=True)
def no_file(server: Server) -> None:
    """Delete the file of saved drawings."""
    (server.folder / saved_drawings_file.DRAWINGS_FILE).unlink(missing_ok=True)


@pytest.fixture
def pad(lab: Lab) -> Locator:
    """Open an empty pad."""
    return opened(lab, PREDICT)


def surface(pad: Locator) -> Locator:
    """Return the drawing surface."""
    return pad.get_by_label("Draw a digit")


def picture(pad: Locator) -> Locator:
    """Return the picture of the model's input and output."""
    return pad.locator(".x-picture")


def at(pad: Locator, x: float, y: float) -> tuple[float, float]:
    """Return a position of the drawing in pixels of the page."""
    box = surface(pad).bounding_box()
    assert box is not None
    return box["x"] + x / 32 * box["width"], box["y"] + y / 32 * box["height"]


def drag(page: Page, pad: Locator, *places: tuple[float, float], lift: bool = True) -> None:
    """Draw a stroke with the mouse."""
    surface(pad).scroll_into_view_if_needed()
    page.mouse.move(*at(pad, *places[0]))
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*at(pad, *place), steps=8)
    if lift:
        page.mouse.up()


def ink(pad: Locator) -> int:
    """Return the number of strokes on the page."""
    return pad.locator(".x-pad-ink path").count()


def told(lab: Lab) -> str:
    """Return what Python has received, as a second cell prints it."""
    lab.run(lab.page.locator(".jp-Notebook .jp-Cell").nth(1))
    found = lab.page.locator(".jp-Notebook .jp-Cell").nth(1).locator(".jp-OutputArea-output")
    return found.inner_text().strip()


def with_second_cell(lab: Lab, code: str = PREDICT) -> Locator:
    """Open a pad above a cell that prints what Python has received."""
    lab.open(lab.write(code, TELLS))
    lab.run_all()
    found = lab.page.locator(".explorer").first
    found.wait_for()
    return found


def test_with_a_mouse(lab: Lab) -> None:
    """The model reads a drawing during the stroke, and Python receives what the page shows."""
    pad = with_second_cell(lab)
    drag(lab.page, pad, (16, 6), (16, 18), lift=False)
    lab.page.wait_for_timeout(300)
    lab.page.mouse.move(*at(pad, 16, 18.5))
    expect(picture(pad)).to_contain_text(re.compile("The model reads a [2345]"))

    lab.page.mouse.up()
    drag(lab.page, pad, (16, 18), (16, 27))
    expect(picture(pad)).to_contain_text("The model reads a 7 (94\u00a0%).")
    expect(picture(pad).locator("svg")).to_have_count(2)
    expect(pad.locator(".x-pad-cursor")).to_be_hidden()
    expect(picture(pad).locator("tr.x-largest th")).to_have_text("7")
    expect(pad.locator("p[aria-live]")).to_have_text("The model reads a 7 (94\u00a0%).")
    assert re.match(r"ink 9\d kept \(0, 32, 32\) \[\]", told(lab))
    assert [] == lab.complaints


def test_undo_and_clear(lab: Lab, pad: Locator) -> None:
    """Undo removes a stroke and restores a cleared drawing; an empty pad says so and remains usable."""
    drag(lab.page, pad, (8, 6), (8, 26))
    drag(lab.page, pad, (20, 6), (20, 26))
    expect(pad.locator(".x-pad-ink path")).to_have_count(2)
    pad.get_by_role("button", name="Undo").click()
    expect(pad.locator(".x-pad-ink path")).to_have_count(1)
    pad.get_by_role("button", name="Clear").click()
    expect(pad.locator(".x-pad-ink path")).to_have_count(0)
    expect(picture(pad)).to_contain_text("Nothing is drawn yet.")
    pad.get_by_role("button", name="Undo").click()
    expect(pad.locator(".x-pad-ink path")).to_have_count(1)
    expect(picture(pad)).to_contain_text("The model reads a 6")
    assert [] == lab.complaints


def test_brush(lab: Lab, pad: Locator) -> None:
    """A new brush width applies to the next stroke and not to earlier ones."""
    drag(lab.page, pad, (8, 6), (8, 26))
    pad.get_by_label("Brush").select_option("thick")
    expect(pad.get_by_label("Brush")).to_have_value("thick")
    lab.page.wait_for_timeout(300)
    drag(lab.page, pad, (20, 6), (20, 26))

    expect(pad.locator(".x-pad-ink path").nth(1)).to_have_attribute("stroke-width", "4")
    expect(pad.locator(".x-pad-ink path").nth(0)).to_have_attribute("stroke-width", "3")


def test_save(lab: Lab) -> None:
    """A drawing saved with its digit goes to `pad.kept`, and the pad empties; without one a sentence asks for it."""
    pad = with_second_cell(lab)
    save = pad.get_by_role("button", name="Save this drawing")
    save.click()
    expect(picture(pad).locator(".x-note")).to_contain_text("Nothing is drawn yet.")
    drag(lab.page, pad, (16, 6), (16, 26))
    save.click()
    expect(picture(pad).locator(".x-note")).to_contain_text("Choose which digit it is")
    expect(pad.locator(".x-pad-ink path")).to_have_count(1)

    pad.get_by_label("This is a").select_option("1")
    save.click()
    expect(picture(pad)).to_contain_text("Kept as a 1.")
    expect(picture(pad)).to_contain_text("pad.kept: 1 drawing.")
    expect(pad.locator(".x-pad-ink path")).to_have_count(0)
    assert "ink 0 kept (1, 32, 32) [1]" == told(lab)


def test_with_a_keyboard(lab: Lab) -> None:
    """Arrows move the pen, Space and Enter lower and lift it; JupyterLab gets none of these keys."""
    pad, press = with_second_cell(lab), lab.page.keyboard.press
    pad.get_by_label("Brush").focus()
    press("Shift+Tab")
    expect(surface(pad)).to_be_focused()
    assert focus_ring(surface(pad)) >= 2
    expect(pad.locator(".x-pad-cursor")).to_be_visible()

    for _ in range(3):
        press("Shift+ArrowUp")
    press("Space")
    for _ in range(6):
        press("Shift+ArrowDown")
    expect(pad.locator("span[aria-live]")).to_have_text("Pen down, column 16, row 28")
    press("Enter")
    expect(pad.locator("span[aria-live]")).to_have_text("Pen up, column 16, row 28")
    press("ArrowLeft")
    press("b")  # in a notebook's command mode, a new cell

    expect(picture(pad)).to_contain_text("The model reads an 8")
    lab.screenshot("pad-keyboard", pad)
    assert 1 == ink(pad) and 2 == lab.page.locator(".jp-Cell").count()
    assert "ink 81 kept (0, 32, 32) []" == told(lab)


def test_pen_is_lifted_with_the_focus(lab: Lab, pad: Locator) -> None:
    """When the focus leaves the pad, the pen is lifted: the next drawing is another stroke."""
    surface(pad).focus()
    lab.page.keyboard.press("Space")
    lab.page.keyboard.press("Shift+ArrowDown")
    lab.page.keyboard.press("Tab")
    expect(pad.get_by_label("Brush")).to_be_focused()
    lab.page.keyboard.press("Shift+Tab")
    lab.page.keyboard.press("Shift+ArrowRight")
    assert 1 == ink(pad)
    lab.page.keyboard.press("Space")
    lab.page.keyboard.press("ArrowDown")
    assert 2 == ink(pad)


def test_with_a_finger(phone: Lab) -> None:
    """A finger draws and does not scroll the page."""
    lab = phone
    pad = opened(lab, PREDICT)
    surface(pad).scroll_into_view_if_needed()
    before = surface(pad).bounding_box()
    session = lab.page.context.new_cdp_session(lab.page)

    def touch(kind: str, *place: float) -> None:
        points: list[Any] = [dict(zip("xy", at(pad, *place), strict=True))] if place else []
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 16, 3)
    for y in range(5, 30, 2):
        touch("touchMove", 16, y)
    touch("touchEnd")

    expect(picture(pad)).to_contain_text("The model reads an 8")
    assert 1 == ink(pad) and before == surface(pad).bounding_box()


def test_page_does_not_wait(lab: Lab) -> None:
    """The page draws at once while Python is slow, queues no requests, and in the end Python has all strokes."""
    pad = with_second_cell(lab, SLOW)
    for x in (6, 12, 18, 24):
        drag(lab.page, pad, (x, 4), (x, 28))
    assert 4 == ink(pad)
    lab.page.wait_for_timeout(1000)  # Python has answered some strokes and not others
    assert 4 == ink(pad)

    expect(picture(pad)).to_contain_text("The model reads an 8", timeout=15_000)
    lab.wait_for_idle()
    expect(pad.locator(".x-pad-ink path")).to_have_count(4)
    assert re.match(r"ink 3\d\d ", told(lab))


def test_stroke_leaves_the_pad_and_comes_back(lab: Lab, pad: Locator) -> None:
    """A stroke that leaves the pad and returns is one stroke, cut off at the edge."""
    drag(lab.page, pad, (16, 6), (40, 12), (16, 30))
    expect(picture(pad)).to_contain_text("The model reads a")
    assert 1 == ink(pad)


def test_restarted_kernel(lab: Lab, pad: Locator) -> None:
    """After a restart of the kernel the pad still draws, and asks the reader to run the cell again."""
    lab.restart_kernel()
    drag(lab.page, pad, (16, 6), (16, 26))

    assert 1 == ink(pad)
    expect(pad.get_by_role("status")).to_contain_text("run this cell again", timeout=15_000)


def test_predict_that_raises(lab: Lab) -> None:
    """When `predict` raises, the pad shows one sentence and keeps the drawing."""
    pad = opened(lab, "from explorers import digit_pad\ndigit_pad(lambda seen: {}[int(seen.sum())])")
    drag(lab.page, pad, (16, 6), (16, 26))

    expect(picture(pad).locator(".x-error")).to_contain_text("predict stopped with KeyError")
    assert 1 == ink(pad)
    assert [] == lab.complaints


def test_two_views_show_the_same(lab: Lab) -> None:
    """A second view of the pad shows what the reader draws in the first."""
    lab.open(lab.write(PREDICT, "pad"))
    lab.run_all()
    first, second = lab.page.locator(".explorer").first, lab.page.locator(".explorer").nth(1)
    second.wait_for()
    drag(lab.page, first, (16, 6), (16, 26))

    expect(second.locator(".x-pad-ink path")).to_have_count(1)
    expect(picture(second)).to_contain_text("The model reads a 6")


def test_second_pad_on_the_same_paper(lab: Lab) -> None:
    """After Run All each pad reads with its own function, and both show what is drawn on one of them."""
    lab.open(lab.write(PREDICT, "pad.use(predict, lambda drawing: drawing.reshape(8, 4, 8, 4).sum((1, 3)).T)"))
    lab.run_all()
    first, second = lab.page.locator(".explorer").first, lab.page.locator(".explorer").nth(1)
    second.wait_for()
    drag(lab.page, first, (16, 6), (16, 26))
    expect(picture(first)).to_contain_text("The model reads a 6")
    expect(picture(second)).to_contain_text("The model reads a 2")
    expect(second.locator(".x-pad-ink path")).to_have_count(1)

    second.get_by_role("button", name="Clear").click()
    expect(picture(first)).to_contain_text("Nothing is drawn yet.")
    expect(first.locator(".x-pad-ink path")).to_have_count(0)
    assert [] == lab.complaints


def test_saved_drawings_outlive_the_kernel(lab: Lab) -> None:
    """After a restart the pad offers the saved drawings, and one press restores them."""
    pad = with_second_cell(lab)
    assert 0 == pad.get_by_role("button", name="Bring back").count()
    drag(lab.page, pad, (16, 6), (16, 26))
    pad.get_by_label("This is a").select_option("1")
    pad.get_by_role("button", name="Save this drawing").click()
    expect(picture(pad)).to_contain_text("Kept as a 1.")

    lab.restart_kernel()
    lab.run_all()
    pad.get_by_role("button", name="Bring back 1 saved drawing").click(timeout=PATIENCE)
    expect(picture(pad)).to_contain_text("pad.kept: 1 drawing.")
    expect(pad.get_by_role("button", name="Bring back")).to_have_count(0)
    assert "ink 0 kept (1, 32, 32) [1]" == told(lab)
    assert [] == faint_texts(pad) and [] == nameless_controls(pad)


@pytest.mark.night
def test_in_notebook_7(lab: Lab) -> None:
    """In Notebook 7 a mouse draws, a key undoes, and Python receives what the reader saves."""
    page = lab.page
    page.goto(lab.server.plain_page(lab.write(PREDICT, TELLS)))
    cells = page.locator(".jp-Notebook .jp-Cell")
    expect(cells).to_have_count(2, timeout=PATIENCE)
    expect(cells.nth(1)).to_contain_text("pad.kept")
    lab.wait_for_idle()  # what is run before there is a kernel is never run
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    expect(cells.nth(1)).to_contain_text("ink 0 kept (0, 32, 32) []", timeout=PATIENCE)
    pad = page.locator(".explorer").first
    pad.wait_for(timeout=PATIENCE)
    drag(page, pad, (16, 6), (16, 26))
    expect(picture(pad)).to_contain_text("The model reads a 6")
    surface(pad).focus()
    page.keyboard.press("Space")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Space")
    expect(pad.locator(".x-pad-ink path")).to_have_count(2)
    page.keyboard.press("b")  # in a notebook's command mode, a new cell
    pad.get_by_role("button", name="Undo").click()
    pad.get_by_label("This is a").select_option("1")
    pad.get_by_role("button", name="Save this drawing").click()
    expect(picture(pad)).to_contain_text("pad.kept: 1 drawing.")

    cells.nth(1).locator(".jp-InputArea-editor .cm-content").click()
    page.keyboard.press("Control+Enter")
    expect(cells.nth(1)).to_contain_text("ink 0 kept (1, 32, 32) [1]")
    expect(cells).to_have_count(2)
    assert [] == [told for told in lab.complaints if re.search("widget|explorer|pad|cell|kernel", told, re.IGNORECASE)]


@pytest.mark.parametrize("theme", by_night(THEMES, [LIGHT]))
def test_can_be_read_and_named(lab: Lab, pad: Locator, theme: str) -> None:
    """In each state and theme, each text is readable, each control has a name, and nothing is cut off."""
    lab.use_theme(theme)
    for state in ("empty", "drawn", "kept"):
        if state == "drawn":
            drag(lab.page, pad, (10, 6), (22, 6), (14, 27))
            drag(lab.page, pad, (11, 16), (21, 17))
            expect(picture(pad)).to_contain_text("The model reads")
        if state == "kept":
            pad.get_by_label("This is a").select_option("7")
            pad.get_by_role("button", name="Save this drawing").click()
            expect(picture(pad)).to_contain_text("Kept as a 7")

        assert_readable(lab, pad, f"pad-{state}-{theme.split()[-1].lower()}")


@pytest.mark.parametrize("scheme", by_night(SCHEMES, ["dark"]))
def test_page_without_a_kernel(browser: Browser, tmp_path: Path, scheme: str) -> None:
    """A notebook exported as HTML shows sample drawings and the model's predictions, without controls."""
    pad = digit_pad(lambda seen: torch.nn.functional.one_hot((seen.sum(1) > 0).sum(), 10) * 5.0)
    with exported(browser, tmp_path, pad, "pad", scheme) as found:
        expect(found).to_contain_text("of 10 read right")
        expect(found.locator("figure")).to_have_count(10)
