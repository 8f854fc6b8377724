"""The shape explorer in JupyterLab, as readers use it: with a mouse, with a keyboard, in both themes."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from explorers import shape_explorer
from tests.asked import by_night
from tests.browser.accessible import focus_ring
from tests.browser.lab import LIGHT, THEMES, Lab
from tests.browser.shown import SCHEMES, assert_readable, exported, opened

OPENED = "from explorers import shape_explorer\nshape_explorer()"
SLOW = """import time, torch
from explorers import shape_explorer, shape_widget
explorer, ask = shape_explorer(x=torch.ones(24)), shape_widget.explore_operation
explorer.choose("operation", "view")
explorer.show()
def slowly(*asked):
    time.sleep(2)
    return ask(*asked)
shape_widget.explore_operation = slowly
explorer"""


@pytest.fixture
def explorer(lab: Lab) -> Locator:
    """Open a shape explorer on its own tensors."""
    return opened(lab, OPENED)


def picture(explorer: Locator) -> Locator:
    """Return the explorer's picture, without the controls."""
    return explorer.locator(".x-picture")


def test_with_a_mouse(lab: Lab, explorer: Locator) -> None:
    """When a reader selects an operation and tensors, the picture shows the result, and the page reports no error."""
    explorer.get_by_label("Operation").select_option("matmul")
    explorer.get_by_label("First tensor").select_option("table")
    explorer.get_by_label("Second tensor").select_option("weights")

    expect(picture(explorer)).to_contain_text("table @ weights")
    expect(picture(explorer)).to_contain_text("known before any number is: (3, 2)")
    expect(picture(explorer)).to_contain_text("summed over, and gone")
    assert [] == lab.complaints


def test_with_a_keyboard(lab: Lab, explorer: Locator) -> None:
    """Tab, arrows, letters and Space change every control, with visible focus; JupyterLab gets none of these keys."""
    press = lab.page.keyboard.press
    operation = explorer.get_by_label("Operation")
    operation.focus()
    press("t")  # selects transpose
    press("Tab")
    expect(picture(explorer)).to_contain_text("column.transpose(0, 1)")
    assert focus_ring(explorer.get_by_label("Tensor", exact=True)) >= 2

    press("ArrowDown")
    press("ArrowDown")
    press("Tab")
    expect(picture(explorer)).to_contain_text("table.transpose(0, 1)")
    expect(explorer.get_by_label("dim0")).to_be_focused()
    press("-")
    press("1")
    press("Tab")
    press("Tab")
    press("Space")
    expect(explorer.get_by_label("Your prediction of the shape")).to_be_visible()
    press("Tab")
    press("Tab")
    expect(explorer.get_by_role("button")).to_be_focused()
    press("b")  # in a notebook's command mode, B inserts a cell
    press("Enter")  # and Enter opens an editor

    expect(picture(explorer)).to_contain_text("table.transpose(-1, 1)")
    expect(picture(explorer)).to_contain_text("torch says (3, 4).")
    expect(picture(explorer)).to_be_focused()
    assert 1 == lab.page.locator(".jp-Cell").count()


def test_answers_take_no_letters_away(lab: Lab) -> None:
    """A late answer to an earlier input does not change what the reader is typing."""
    lab.open(lab.write(SLOW, "shape_widget.explore_operation = ask"))
    slow, as_before = lab.page.locator(".jp-CodeCell").all()
    lab.run(slow)
    explorer = lab.page.locator(".explorer").first
    sizes = explorer.get_by_label("sizes")
    sizes.fill("4")
    lab.page.wait_for_timeout(700)  # during this pause the page sends the input
    sizes.press("End")
    sizes.press_sequentially(", 3, 2, 1, 1, 1", delay=250)

    expect(picture(explorer)).to_contain_text("x.view(4, 3, 2, 1, 1, 1)", timeout=15_000)
    expect(sizes).to_have_value("4, 3, 2, 1, 1, 1")
    lab.run(as_before)  # the next test has the same kernel


def test_impossible_operation(explorer: Locator) -> None:
    """An impossible operation shows torch's own error message, and marks the sizes that do not fit."""
    explorer.get_by_label("Operation").select_option("matmul")

    expect(picture(explorer).locator(".x-error")).to_contain_text("RuntimeError: ")
    expect(picture(explorer).locator("td", has_text="✗")).to_have_attribute("title", "does not fit")
    expect(explorer.locator(".x-said")).to_contain_text("torch refuses")


def test_predict_first(lab: Lab, explorer: Locator) -> None:
    """The picture hides the result until the reader predicts it; then the picture gets the focus."""
    explorer.get_by_label("Predict first").check()
    expect(picture(explorer)).to_contain_text("What is the shape of the result?")
    expect(picture(explorer)).not_to_contain_text("(3, 4)")

    explorer.get_by_label("Your prediction of the shape").fill("3, 4")
    lab.page.keyboard.press("Tab")
    lab.page.keyboard.press("Enter")

    expect(picture(explorer)).to_contain_text("You predicted (3, 4); torch says (3, 4). Your prediction holds.")
    expect(picture(explorer)).to_be_focused()


def test_enter_submits_a_prediction(lab: Lab, explorer: Locator) -> None:
    """Enter submits a prediction as the button does, right after typing; an empty field submits nothing."""
    explorer.get_by_label("Predict first").check()
    field = explorer.get_by_label("Your prediction of the shape")
    field.press("Enter")
    field.press_sequentially("(4, 3)")
    field.press("Enter")

    expect(picture(explorer)).to_contain_text("You predicted (4, 3); torch says (3, 4). Not what you expected?")
    expect(picture(explorer)).to_be_focused()
    assert 1 == lab.page.locator(".jp-Cell").count() and [] == lab.complaints


def test_a_mask_and_a_shape_in_brackets_are_taken(explorer: Locator) -> None:
    """The fields accept a mask and a shape in brackets, as in Python."""
    explorer.get_by_label("Operation").select_option("index")
    explorer.get_by_label("Tensor", exact=True).select_option("table")
    explorer.get_by_label("index").fill("table > 5")
    expect(picture(explorer)).to_contain_text("known before any number is: (6,)")
    explorer.get_by_label("Operation").select_option("reshape")
    explorer.get_by_label("sizes").fill("(4, 3)")
    explorer.get_by_label("sizes").press("Enter")

    expect(picture(explorer)).to_contain_text("known before any number is: (4, 3)")


@pytest.mark.night
def test_restarted_kernel(lab: Lab, explorer: Locator) -> None:
    """After a restart of the kernel, the explorer asks the reader to run the cell again."""
    lab.restart_kernel()
    explorer.get_by_label("Operation").select_option("sum")

    expect(explorer.locator(".x-waiting")).to_contain_text("run this cell again", timeout=15_000)


def test_names_are_text(lab: Lab) -> None:
    """The explorer shows a tensor's name that looks like markup as text, and the browser does not run it."""
    name = "<img src=x onerror=document.title='broken'>"
    found = opened(
        lab, f"import torch\nfrom explorers import shape_explorer\nshape_explorer(**{{{name!r}: torch.ones(2)}})"
    )

    expect(picture(found)).to_contain_text(name)
    assert "broken" not in lab.page.title() and 0 == found.locator("img").count()


@pytest.mark.parametrize("theme", by_night(THEMES, [LIGHT]))
def test_can_be_read_and_named(lab: Lab, explorer: Locator, theme: str) -> None:
    """In each state and theme, each text is readable, each control has a name, and nothing is cut off."""
    lab.use_theme(theme)
    for state in ("add", "matmul", "view", "covered"):
        if state == "covered":
            explorer.get_by_label("Predict first").check()
            expect(picture(explorer)).to_contain_text("What is")
        else:
            explorer.get_by_label("Operation").select_option(state)
            expect(explorer.get_by_label("Operation")).to_have_value(state)
            expect(picture(explorer)).to_contain_text({"add": "+", "matmul": "@", "view": "view("}[state])

        assert_readable(lab, explorer, f"shape-{state}-{theme.split()[-1].lower()}")


@pytest.mark.parametrize("scheme", by_night(SCHEMES, ["dark"]))
def test_page_without_a_kernel(browser: Browser, tmp_path: Path, scheme: str) -> None:
    """A notebook exported as HTML shows the same picture, without controls."""
    with exported(browser, tmp_path, shape_explorer(), "shape", scheme) as found:
        expect(found).to_contain_text("known before any number is: (3, 4)")
