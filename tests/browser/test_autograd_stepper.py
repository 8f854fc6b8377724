"""The autograd stepper in JupyterLab: by mouse and by keyboard, in both themes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from playwright.sync_api import Browser, Locator, expect

from explorers import autograd_stepper
from tests.asked import by_night
from tests.browser.accessible import focus_ring
from tests.browser.lab import DARK, THEMES, Lab
from tests.browser.shown import SCHEMES, assert_readable, exported, opened

SMALL = """import torch
from explorers import autograd_stepper
x, y = torch.tensor([2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)
loss = (x * y + x) ** 2
autograd_stepper(loss, x=x, y=y, loss=loss)"""
LARGE = """import torch
from torch import nn
from explorers import autograd_stepper
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.first, self.second = nn.LayerNorm(8), nn.Linear(8, 8), nn.Linear(8, 8)
    def forward(self, x):
        return x + self.second(torch.relu(self.first(self.norm(x))))
model = nn.Sequential(*(Block() for _ in range(20)))
autograd_stepper(model(torch.ones(2, 8)).pow(2).mean(), model=model)"""
BROKEN = """import torch
from explorers import autograd_stepper
x = torch.tensor([2.0], requires_grad=True)
y = x.exp()
y += 1
autograd_stepper(y.sum(), x=x, y=y)"""
LONG = """import torch
from explorers import autograd_stepper
w = torch.tensor(1.0, requires_grad=True)
result = w
for _ in range(100):
    result = result * w
autograd_stepper(result, w=w)"""
OVER = """place => [place.scrollWidth - place.clientWidth, place.scrollHeight - place.clientHeight]
    .map(pixels => pixels > 1 ? pixels : 0)"""
IS_IN_SIGHT = """place => {
    const [here, seen] = [place.querySelector("[data-part='here']"), place].map(each => each.getBoundingClientRect())
    return here.left >= seen.left && here.right <= seen.right && here.top >= seen.top && here.bottom <= seen.bottom
}"""
LIVE = ":is([role=status], [aria-live]:not([aria-live=off])):not([hidden])"


def heading(stepper: Locator) -> Locator:
    """Return the heading, which names the current step."""
    return stepper.locator(".x-heading")


def test_with_a_mouse(lab: Lab) -> None:
    """Next steps forward and back, a box and a row select a step, and `.grad` shows where backward adds to it."""
    stepper = opened(lab, SMALL)
    following = stepper.get_by_role("button", name="Next")
    expect(heading(stepper)).to_have_text("Forward pass, 1 of 5: x")
    for place in ("2 of 5: y", "3 of 5: Mul", "4 of 5: Add", "5 of 5: Pow → loss", "1 of 5: Pow → loss"):
        following.click()
        expect(heading(stepper)).to_contain_text(place)
    stepper.locator("svg .x-box").filter(has_text="Mul").click()
    expect(heading(stepper)).to_have_text("Backward pass, 3 of 5: Mul")
    stepper.get_by_role("button", name="1 x", exact=True).click()

    expect(stepper.locator("table").filter(has_text="What backward would add")).to_contain_text("None")
    expect(stepper.locator("table").filter(has_text="Several gradients")).to_contain_text("[48]")
    stepper.get_by_label("Pass").select_option("forward pass")
    expect(heading(stepper)).to_have_text("Forward pass, 1 of 5: x")
    assert [] == lab.complaints


def test_with_a_keyboard(lab: Lab) -> None:
    """Tab reaches the controls and the rows, with a focus ring; Enter and Space work, and the focus stays."""
    stepper = opened(lab, SMALL)
    press, focused = lab.page.keyboard.press, lab.page.locator(":focus")
    stepper.get_by_role("button", name="Previous").focus()
    press("Tab")
    expect(focused).to_have_text("Next ▶")
    press("Enter")
    expect(heading(stepper)).to_have_text("Forward pass, 2 of 5: y")
    press("Space")
    expect(heading(stepper)).to_have_text("Forward pass, 3 of 5: Mul")
    expect(focused).to_have_text("Next ▶")
    for _ in range(8):  # the choice of the pass, the film's five controls, then the rows
        press("Tab")
    expect(focused).to_have_text("2 y")
    assert focus_ring(focused) >= 2
    press("Enter")

    expect(heading(stepper)).to_have_text("Forward pass, 2 of 5: y")
    expect(focused).to_have_text("▶ 2 y")
    assert [] == lab.complaints


def test_several_hundred_nodes(lab: Lab) -> None:
    """A large graph starts folded, unfolds a module in place, fits its frame as a whole, and steps within a second."""
    stepper = opened(lab, LARGE)
    expect(heading(stepper)).to_contain_text("of 42: module 0")
    stepper.get_by_role("button", name="Unfold its steps").click()
    expect(heading(stepper)).to_contain_text("of 45: module 0.norm")
    stepper.get_by_role("button", name="Unfold modules").click()
    expect(heading(stepper)).to_contain_text("1 of 262: 0.norm.weight")
    assert stepper.locator(".x-film-picture").evaluate(OVER) == [0, 0]
    for number in range(2, 12):
        stepper.get_by_role("button", name="Next").click()
        expect(heading(stepper)).to_contain_text(f"{number} of 262", timeout=1000)
    lab.screenshot("autograd-large", stepper)
    stepper.get_by_role("button", name="Fold modules", exact=True).click()

    expect(heading(stepper)).to_contain_text("1 of 42: module 0")
    assert [] == lab.complaints


def test_close_up(lab: Lab) -> None:
    """A graph larger than its frame is scaled to fit it; close up, the frame follows the step."""
    stepper = opened(lab, LONG)
    stage = stepper.locator(".x-film-picture")
    assert stage.evaluate(OVER) == [0, 0]
    stepper.get_by_role("button", name="Close up").click()
    assert max(stage.evaluate(OVER)) > 100
    stepper.get_by_role("slider", name="Step").focus()
    for key in ("End", "Home"):
        lab.page.keyboard.press(key)
        assert stage.evaluate(IS_IN_SIGHT), key
    lab.screenshot("autograd-close-up", stepper)
    stepper.get_by_role("button", name="Whole").click()

    assert stage.evaluate(OVER) == [0, 0]
    assert [] == lab.complaints


def test_one_live_region(lab: Lab) -> None:
    """One live region announces each step, by the film's buttons as by Python's."""
    stepper = opened(lab, SMALL)
    told = stepper.locator(LIVE)
    for name in ("Next", "Step"):
        before = stepper.locator(".x-said").inner_text()
        stepper.get_by_role("button", name=name, exact=name == "Step").click()
        expect(stepper.locator(".x-said")).not_to_have_text(before)

        expect(told).to_have_count(1)
        expect(told).to_have_class("x-said")


def test_changed_in_place(lab: Lab) -> None:
    """The stepper shows both versions of a saved tensor that was changed in place, below torch's error message."""
    stepper = opened(lab, BROKEN)
    stepper.get_by_role("button", name="2 Exp").click()

    expect(stepper).to_contain_text("0 when saved, 1 now: changed in place")
    expect(stepper.locator(".x-picture .x-error")).to_contain_text("modified by an inplace operation")
    lab.screenshot("autograd-broken", stepper)


@pytest.mark.parametrize("theme", by_night(THEMES, [DARK]))
def test_can_be_read_and_named(lab: Lab, theme: str) -> None:
    """At each step and in each theme, each text is readable, each control has a name, and nothing is cut off."""
    stepper = opened(lab, SMALL)
    lab.use_theme(theme)
    for moment in range(10):
        assert_readable(lab, stepper, f"autograd-{moment}-{theme.split()[-1].lower()}")
        before = heading(stepper).inner_text()
        stepper.get_by_role("button", name="Next").click()
        if moment < 9:
            expect(heading(stepper)).not_to_have_text(before)


@pytest.mark.parametrize("scheme", by_night(SCHEMES, ["light"]))
def test_page_without_a_kernel(browser: Browser, tmp_path: Path, scheme: str) -> None:
    """A notebook exported as HTML shows all steps, without controls."""
    x, y = torch.tensor([2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)
    loss = (x * y + x) ** 2
    stepper = autograd_stepper(loss, x=x, y=y, loss=loss)

    with exported(browser, tmp_path, stepper, "autograd", scheme) as found:
        expect(found).to_contain_text(".grad: None becomes [64]")
        expect(found.locator("svg.x-graph")).to_be_visible()
        expect(found.locator("svg.x-towers")).to_be_visible()
