"""Ordering lines of a program in JupyterLab: by mouse, by keyboard and by finger, in both themes, on a phone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from explorers import arrange
from tests.arranged_programs import PROGRAMS
from tests.asked import by_night
from tests.browser.accessible import faint_texts, focus_ring, nameless_controls
from tests.browser.lab import PATIENCE, Lab
from tests.browser.shown import IS_CUT_OFF, SCHEMES, WIDTHS, exported, in_each_theme

SETUP = "import torch\nfrom autograder import check"
CELL = 'from explorers import arrange\narrange("train_step", seed=0)'
ANSWER = '''def train_step(model, optimizer, criterion, x_batch, y_batch):
    """Do one step of training."""
    # YOUR CODE HERE
    raise NotImplementedError()'''
CHECK = 'check("train_step", train_step)'
LOSS, GIVE = "loss = criterion(gap, y_batch)", "return loss.gap"
RIGHT = ["optimizer.zero_grad()", LOSS, "loss.backward()", "optimizer.step()", GIVE]


@pytest.fixture
def arranger(lab: Lab) -> Locator:
    """Open a notebook with lines to put in order, and an untouched answer cell."""
    return shown(lab)


def shown(lab: Lab) -> Locator:
    """Return the explorer once the page shows it."""
    lab.open(lab.write(SETUP, CELL, ANSWER, CHECK))
    for cell in lab.page.locator(".jp-Notebook .jp-CodeCell").all()[:2]:
        lab.run(cell)
    found = lab.page.locator(".explorer").first
    found.wait_for()
    return found


def unused(arranger: Locator, line: str) -> Locator:
    """Return the button of a line that is not in the program."""
    return arranger.get_by_role("button", name=f"use: {line}", exact=True)


def used(arranger: Locator, line: str) -> Locator:
    """Return the button of a line in the program."""
    return arranger.locator(".x-program").get_by_role("button", name=f"{line}, line")


def text(arranger: Locator) -> str:
    """Return the text of the program on the page."""
    return arranger.get_by_label("The text of your program").input_value()


def middle(of: Locator) -> tuple[float, float]:
    """Return the center of an element, in pixels of the page."""
    box = of.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(lab: Lab, what: Locator, to: tuple[float, float]) -> None:
    """Drag the center of an element to a position, with the mouse."""
    what.scroll_into_view_if_needed()
    lab.page.mouse.move(*middle(what))
    lab.page.mouse.down()
    lab.page.mouse.move(*to, steps=8)
    lab.page.mouse.up()


def fill_gaps(arranger: Locator) -> None:
    """Fill the two gaps with the right expressions."""
    arranger.get_by_label(f"gap in: {LOSS}").fill("model(x_batch)")
    arranger.get_by_label(f"gap in: {GIVE}").fill("item()")


def test_by_mouse(lab: Lab, arranger: Locator) -> None:
    """A mouse drags a line into the program, above another line, to the right, and out again; a click appends it."""
    arranger.scroll_into_view_if_needed()
    drag(lab, unused(arranger, "loss.backward()"), middle(arranger.locator(".x-program")))
    expect(used(arranger, "loss.backward()")).to_have_count(1)
    x, y = middle(used(arranger, "loss.backward()"))
    drag(lab, unused(arranger, "optimizer.zero_grad()"), (x, y - 8))
    assert "    optimizer.zero_grad()\n    loss.backward()" in text(arranger)

    x, y = middle(used(arranger, "loss.backward()"))
    drag(lab, used(arranger, "loss.backward()"), (x + 28, y))
    assert "    optimizer.zero_grad()\n        loss.backward()" in text(arranger)
    drag(lab, used(arranger, "loss.backward()"), middle(arranger.locator(".x-pool")))
    expect(unused(arranger, "loss.backward()")).to_have_count(1)
    for line in RIGHT[1:]:
        unused(arranger, line).click()
    fill_gaps(arranger)
    arranger.get_by_role("button", name="Check this order").click()
    expect(arranger).to_contain_text("train_step: all 6 checks passed", timeout=PATIENCE)
    expect(arranger).to_contain_text("What counts is your answer cell")
    assert PROGRAMS["train_step"].strip() == text(arranger) and [] == lab.complaints


def test_by_keyboard(lab: Lab, arranger: Locator) -> None:
    """Enter uses a line, arrows move and indent it, Delete removes it; a wrong order gets its mistake's sentence."""
    for line in [*RIGHT[1:], "model.train()", RIGHT[0]]:
        unused(arranger, line).focus()
        lab.page.keyboard.press("Enter")
        expect(used(arranger, line)).to_be_focused()
    for key in ("ArrowRight", "ArrowLeft", *["ArrowUp"] * 3):
        lab.page.keyboard.press(key)
    expect(used(arranger, RIGHT[0])).to_be_focused()
    assert focus_ring(used(arranger, RIGHT[0])) >= 2
    used(arranger, "model.train()").focus()
    lab.page.keyboard.press("Delete")
    expect(unused(arranger, "model.train()")).to_have_count(1)
    fill_gaps(arranger)
    check = arranger.get_by_role("button", name="Check this order")
    check.focus()
    lab.page.keyboard.press("Enter")
    expect(arranger).to_contain_text("You clear the gradients after backward has filled them.")

    used(arranger, RIGHT[0]).focus()
    for _ in range(3):
        lab.page.keyboard.press("ArrowUp")
    expect(arranger).to_contain_text("This was said of the order that you checked last.")
    check.focus()
    lab.page.keyboard.press("Enter")
    expect(arranger).to_contain_text("all 6 checks passed")
    assert 4 == lab.page.locator(".jp-Cell").count() and [] == lab.complaints


def test_into_the_answer_cell(lab: Lab, arranger: Locator) -> None:
    """The lines replace the starter's body below its docstring; the button never overwrites a reader's own code."""
    for line in RIGHT:
        unused(arranger, line).click()
    fill_gaps(arranger)
    into = arranger.get_by_role("button", name="Put it into the answer cell")
    into.click()
    expect(arranger.locator(".x-told")).to_contain_text("It stands in the answer cell")
    answer, check = (
        lab.page.locator(".jp-Notebook .jp-CodeCell").nth(2),
        lab.page.locator(".jp-Notebook .jp-CodeCell").nth(3),
    )
    head, *body = PROGRAMS["train_step"].strip().split("\n")
    lines = [head, '    """Do one step of training."""', *body]
    assert lines == answer.locator(".cm-line").all_inner_texts()
    lab.run(answer)
    lab.run(check)
    expect(check).to_contain_text("train_step: all 6 checks passed")
    into.click()
    expect(arranger.locator(".x-told")).to_contain_text("No answer cell that is still empty is in sight")


def test_copied(lab: Lab, arranger: Locator) -> None:
    """The button copies the text to the clipboard, open gaps included."""
    lab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    unused(arranger, GIVE).click()
    arranger.get_by_role("button", name="Copy the text").click()
    expect(arranger.locator(".x-told")).to_have_text("Copied.")
    assert text(arranger) == lab.page.evaluate("navigator.clipboard.readText()") and "return loss.___" in text(arranger)


def test_by_finger(phone: Lab) -> None:
    """A tap uses a line, the buttons move it, and nothing is cut off on a phone."""
    arranger = shown(phone)
    for line in ("loss.backward()", "optimizer.step()"):
        unused(arranger, line).tap()
    for name in ("move up", "indent more"):
        arranger.get_by_role("button", name=name).tap()
    assert text(arranger).endswith("        optimizer.step()\n    loss.backward()")
    arranger.get_by_role("button", name="take out").tap()
    expect(unused(arranger, "optimizer.step()")).to_have_count(1)
    phone.screenshot("arrange-phone", arranger)
    assert arranger.evaluate("root => root.scrollWidth <= root.clientWidth")


def test_dragged_by_a_finger(phone: Lab) -> None:
    """A finger drags a line by its handle, while a finger on the text scrolls; Escape cancels a drag."""
    arranger = shown(phone)
    for line in ("optimizer.step()", "loss.backward()"):
        unused(arranger, line).tap()
    arranger.locator(".x-program").scroll_into_view_if_needed()
    session = phone.page.context.new_cdp_session(phone.page)

    def touch(kind: str, *place: float) -> None:
        points = [dict(zip("xy", place, strict=True))] if place else []
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    for is_kept in (False, True):
        (x, y), (_, goal) = (middle(used(arranger, line)) for line in ("loss.backward()", "optimizer.step()"))
        touch("touchStart", x, y)
        for share in range(1, 9):
            touch("touchMove", x, y + (goal - 12 - y) * share / 8)
        if not is_kept:
            phone.page.keyboard.press("Escape")
        touch("touchEnd")
        lines = ["loss.backward()", "optimizer.step()"]
        expected = lines if is_kept else lines[::-1]
        expect(arranger.locator(".x-program li")).to_contain_text(expected)
        assert [line.strip() for line in text(arranger).split("\n")[1:]] == expected


def test_can_be_read_and_named(lab: Lab, arranger: Locator) -> None:
    """Each text has enough contrast, each control a name, and nothing is wider than its frame."""
    for line in (LOSS, "optimizer.step()", "optimizer.zero_grad()"):
        unused(arranger, line).click()
    arranger.get_by_role("button", name="Check this order").click()
    expect(arranger).to_contain_text("Fill the gap in")
    fill_gaps(arranger)
    arranger.get_by_role("button", name="Check this order").click()
    expect(arranger).to_contain_text("of 6 checks passed")
    for theme in in_each_theme(lab, arranger, "arrange"):
        assert [] == faint_texts(arranger.locator(".x-controls")), theme  # the feedback below is not the explorer's own
    assert [] == nameless_controls(arranger)
    for width in WIDTHS:
        lab.page.set_viewport_size({"width": width, "height": 1000})
        assert not arranger.evaluate(IS_CUT_OFF), width


@pytest.mark.parametrize("scheme", by_night(SCHEMES, ["dark"]))
def test_page_without_a_kernel(browser: Browser, tmp_path: Path, scheme: str) -> None:
    """A notebook exported as HTML lists the lines, without controls."""
    with exported(browser, tmp_path, arrange("evaluate", seed=0), "arrange", scheme) as found:
        expect(found.get_by_role("listitem")).to_have_count(14)
