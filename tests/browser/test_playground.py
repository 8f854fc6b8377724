"""The playground in JupyterLab: the border moves, another rate trains anew, and an error keeps the picture."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.browser.accessible import faint_texts, nameless_controls
from tests.browser.lab import Lab
from tests.browser.shown import IS_CUT_OFF, WIDTHS, in_each_theme, opened

STEP = """
import torch
from torch import nn
from explorers import playground

def train_step(model, optimizer, criterion, x, y):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()
"""
MODEL = "lambda: nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))"
BREAKS = """
steps = []
def breaks(model, optimizer, criterion, x, y):
    steps.append(x)
    return train_step(model, optimizer, criterion, x if len(steps) < 10 else x[:, :1], y)
"""
PATIENCE = 30_000  # milliseconds for a training, and for torch to import its optimizers


def said(found: Locator) -> Locator:
    """Return the sentence below the picture."""
    return found.locator(".x-film-said")


def test_the_border_moves(lab: Lab) -> None:
    """By keyboard alone, Play ends at the last step with another border, and the spiral has a training of its own."""
    found = opened(lab, f"{STEP}\nplayground({MODEL}, train_step)")
    region = found.locator("[data-part='region']")
    before = region.get_attribute("d")
    found.get_by_role("button", name="Play").focus()
    lab.page.keyboard.press("Enter")
    expect(said(found)).to_contain_text("After 400 steps", timeout=PATIENCE)

    assert region.get_attribute("d") != before
    rate = found.get_by_role("slider", name="Learning rate")
    rate.focus()
    lab.page.keyboard.press("ArrowRight")
    expect(said(found)).to_contain_text("200 of 200 right", timeout=PATIENCE)
    expect(rate).to_be_focused()
    found.get_by_role("combobox", name="Data").select_option("spiral")
    expect(said(found)).not_to_contain_text("200 of 200 right", timeout=PATIENCE)
    assert [] == nameless_controls(found) and [] == lab.complaints
    for theme in in_each_theme(lab, found, "playground"):
        assert [] == faint_texts(found), theme
    for width in WIDTHS:
        lab.page.set_viewport_size({"width": width, "height": 1000})
        assert not found.evaluate(IS_CUT_OFF), width


def test_pause_step_and_another_rate(lab: Lab) -> None:
    """A new rate in the middle of a run continues from the same border and the same step."""
    found = opened(lab, f"{STEP}\nplayground({MODEL}, train_step)")
    for _ in range(4):
        found.get_by_role("button", name="Step", exact=True).click()
    expect(said(found)).to_contain_text("After 4 steps")
    region = found.locator("[data-part='region']")
    before, told = region.get_attribute("d"), said(found).inner_text()
    rate = found.get_by_role("slider", name="Learning rate")
    rate.focus()
    lab.page.keyboard.press("ArrowRight")
    expect(found).to_contain_text("0.3 until step 4, then 1.", timeout=PATIENCE)
    expect(said(found)).to_have_text(told)
    expect(rate).to_be_focused()
    assert before == region.get_attribute("d")
    found.get_by_role("button", name="Play").click()

    expect(said(found)).to_contain_text("After 400 steps", timeout=PATIENCE)
    assert lab.complaints == []


def test_a_step_that_raises(lab: Lab) -> None:
    """After an error the picture shows the steps before it, and the message names the reader's own line."""
    found = opened(lab, f"{STEP}{BREAKS}\nplayground({MODEL}, breaks)")
    expect(said(found)).to_contain_text("After 0 steps")
    found.get_by_role("button", name="Play").click()

    expect(found.locator(".x-error")).to_contain_text("Step 10 raised RuntimeError: mat1 and mat2", timeout=PATIENCE)
    expect(found.locator(".x-error")).to_contain_text("of train_step: loss = criterion(model(x), y)")
    expect(said(found)).to_contain_text("After 8 steps")
    assert found.locator("[data-part='region']").get_attribute("d")
