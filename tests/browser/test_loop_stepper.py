"""The loop stepper in JupyterLab: by mouse and by keyboard, in both themes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from playwright.sync_api import Browser, Locator, expect
from torch import nn

from explorers import loop_stepper
from tests.asked import by_night
from tests.browser.accessible import focus_ring, nameless_controls
from tests.browser.lab import DARK, THEMES, Lab
from tests.browser.shown import SCHEMES, assert_readable, exported, opened

CELL = """
import torch
from torch import nn
from explorers import loop_stepper
model = nn.Linear(1, 1, bias=False)
nn.init.constant_(model.weight, 1.0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loop_stepper(model, optimizer, nn.MSELoss(), torch.tensor([[2.0]]), torch.tensor([[6.0]]))
"""


@pytest.fixture
def stepper(lab: Lab) -> Locator:
    """Open a notebook with a stepper at its start."""
    return opened(lab, CELL)


def row(stepper: Locator, code: str) -> Locator:
    """Return the row of a line."""
    return stepper.get_by_role("row").filter(has_text=code)


def test_five_presses_are_one_step(lab: Lab, stepper: Locator) -> None:
    """Each press runs one line and shows what it changed; the page reports no error."""
    for _ in range(5):
        stepper.get_by_role("button", name="Next line").click()

    expect(row(stepper, "loss.backward()")).to_contain_text("weight: -16")
    expect(row(stepper, "optimizer.step()")).to_contain_text("weight: 2.6")
    assert lab.complaints == []


def test_line_is_moved_by_keyboard_and_keeps_the_focus(lab: Lab, stepper: Locator) -> None:
    """The focused button moves with its line, so the next press moves that line on."""
    down = stepper.get_by_role("button", name="move down: optimizer.zero_grad()")
    down.focus()
    for place in (2, 3):
        lab.page.keyboard.press("Enter")
        expect(stepper.get_by_role("row").nth(place + 1)).to_contain_text("optimizer.zero_grad()")

    expect(down).to_be_focused()
    assert focus_ring(down) >= 2 and 1 == lab.page.locator(".jp-Cell").count()


def test_left_out_line_shows_its_symptom(lab: Lab, stepper: Locator) -> None:
    """Without zero_grad the gradients add up: a sentence says so, and a curve shows it."""
    switch = stepper.get_by_role("button", name="leave out: optimizer.zero_grad()")
    switch.focus()
    lab.page.keyboard.press("Space")
    expect(switch).to_have_attribute("aria-pressed", "true")
    expect(switch).to_be_focused()
    stepper.get_by_role("button", name="Run 10 steps").click()

    expect(stepper).to_contain_text("This used a sum: the gradients of steps 1 to 10, added up.")
    expect(stepper.locator(".x-loop-curve")).to_be_visible()


def test_table_of_parameters_stays_open(lab: Lab, stepper: Locator) -> None:
    """The table of parameters stays unfolded when the next line replaces the picture."""
    stepper.get_by_text("Each parameter (1)").click()
    stepper.get_by_role("button", name="Run a step").click()

    expect(stepper.get_by_text("Now. Bold: changed by the last line")).to_be_visible()
    expect(stepper.get_by_role("row").filter(has_text="-16").last).to_be_visible()


def test_error_stops_the_loop_and_the_start_mends_it(lab: Lab, stepper: Locator) -> None:
    """The stepper shows torch's message; after "Right order" the loop runs again."""
    stepper.get_by_role("button", name="only once: prediction = model(x)").click()
    stepper.get_by_role("button", name="Run 10 steps").click()
    expect(stepper).to_contain_text("Trying to backward through the graph a second time")
    stepper.get_by_role("button", name="Right order").click()
    stepper.get_by_role("button", name="Run 10 steps").click()

    expect(stepper).to_contain_text("That is the curve of the right order.")


LINE = """
import torch
from torch import nn
from explorers import loop_stepper
x = torch.linspace(-2, 2, 100).reshape(-1, 1)
neuron = nn.Linear(1, 1)
nn.init.zeros_(neuron.weight)
optimizer = torch.optim.SGD(neuron.parameters(), lr=0.1)
stepper = loop_stepper(neuron, optimizer, nn.MSELoss(), x, 2 * x)
stepper.run(1)
stepper
"""


def test_the_line_moves_at_a_rate_that_is_chosen(lab: Lab) -> None:
    """By keyboard, Play moves line and balls to the last step; a new rate updates film and table."""
    stepper = opened(lab, LINE)
    play = stepper.get_by_role("button", name="Play")
    line = stepper.locator("[data-part='fit']")
    before = line.get_attribute("points")
    play.focus()
    lab.page.keyboard.press("Space")
    expect(stepper.locator(".x-film-said")).to_contain_text("After 30 steps: weight 2")
    expect(play).to_be_focused()
    lab.page.keyboard.press("ArrowLeft")
    expect(stepper.locator(".x-film-said")).to_contain_text("After 29 steps")

    assert line.get_attribute("points") != before
    rate = stepper.get_by_role("slider", name="Learning rate")
    rate.focus()
    for _ in range(7):
        lab.page.keyboard.press("ArrowRight")
    expect(rate).to_have_attribute("aria-valuetext", "2")
    expect(stepper.locator(".x-film-said")).to_contain_text("e+")
    expect(stepper).to_contain_text("SGD(lr=2.0)", timeout=30_000)
    expect(rate).to_be_focused()
    assert lab.complaints == [] and nameless_controls(stepper) == []


SLOWLY = """
import time
from explorers import learning_rate_animation, loop_stepper_widget
asked, recorded = [], learning_rate_animation.LoopFilm.recorded
def slowly(film, lines, rate):
    time.sleep(0.7 if asked else 0)
    asked.append(rate)
    return recorded(film, lines, rate)
learning_rate_animation.LoopFilm.recorded = slowly
loop_stepper_widget.LoopStepper.tell = lambda stepper: f"{len(asked)} recorded"
"""
NOTED = """root => {
  window.noted = [];
  const rate = root.querySelectorAll("input[type='range']")[1];
  const note = () => noted.push(+rate.value);
  new MutationObserver(note).observe(rate, { attributes: true, attributeFilter: ["aria-valuetext"] });
  rate.addEventListener("input", note);
}"""


def test_the_last_rate_wins_and_the_slider_never_jumps_back(lab: Lab) -> None:
    """Of six quick presses, Python computes only the first and the last rate.

    The slider's value only rises.
    """
    stepper = opened(lab, SLOWLY + LINE)
    rate = stepper.get_by_role("slider", name="Learning rate")
    stepper.evaluate(NOTED)
    rate.focus()
    for _ in range(6):
        lab.page.keyboard.press("ArrowRight")
    last = rate.get_attribute("aria-valuetext")
    expect(stepper).to_contain_text(f"SGD(lr={last})", timeout=30_000)
    expect(stepper.locator(".x-said")).to_have_text("3 recorded")
    noted = lab.page.evaluate("noted")

    assert noted == sorted(noted) and last == rate.get_attribute("aria-valuetext") == "1.2"
    expect(rate).to_be_focused()
    assert lab.complaints == []
    lab.restart_kernel()  # in which recording stays slow


def test_all_columns_stand_at_1000_pixels(lab: Lab) -> None:
    """At a width of 1000 pixels the table shows all columns, at the first step and after a hundred."""
    lab.page.set_viewport_size({"width": 1000, "height": 1100})
    stepper = opened(lab, LINE)
    for button, step in (("Run a step", 2), ("Run 100 steps", 102)):
        stepper.get_by_role("button", name=button).click()
        expect(stepper.locator(".x-loop-frame")).to_contain_text(f"Step {step}:")
        lab.screenshot(f"loop-1000-{step}", stepper)
        assert stepper.locator(".x-loop-frame").evaluate("frame => frame.scrollWidth <= frame.clientWidth")


def test_reduced_motion_goes_from_step_to_step(lab: Lab) -> None:
    """With reduced motion, the film shows no state between two steps."""
    lab.page.emulate_media(reduced_motion="reduce")
    stepper = opened(lab, LINE)
    seen = stepper.evaluate(
        """async root => {
          const line = root.querySelector("[data-part='weight']"), seen = new Set();
          root.querySelector(".x-film-play").click();
          while (root.querySelector(".x-film-play").textContent === "Pause") {
            seen.add(line.getAttribute("transform"));
            await new Promise(requestAnimationFrame);
          }
          return seen.size;
        }"""
    )

    assert 2 < seen <= 31


@pytest.mark.parametrize("theme", by_night(THEMES, [DARK]))
def test_can_be_read_and_named(lab: Lab, stepper: Locator, theme: str) -> None:
    """In each state and theme, text is readable, each control has a name, and the table scrolls within its frame."""
    lab.use_theme(theme)
    stepper.get_by_text("Each parameter (1)").click()
    for button, state in (
        ("leave out: optimizer.zero_grad()", "(left out)"),
        ("Run 10 steps", "What the numbers say"),
        ("only once: prediction = model(x)", "Before step 1."),
        ("Run 10 steps", "The error:"),
        ("Next line", "go back to the start"),
    ):
        stepper.get_by_role("button", name=button).click()
        expect(stepper).to_contain_text(state)
        name = state.strip("():.").replace(" ", "-").lower()
        assert_readable(lab, stepper, f"loop-{name}-{theme.split()[-1].lower()}")


@pytest.mark.parametrize("scheme", by_night(SCHEMES, ["light"]))
def test_page_without_a_kernel(browser: Browser, tmp_path: Path, scheme: str) -> None:
    """A notebook exported as HTML shows a whole step, without controls."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 1.0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    stepper = loop_stepper(model, optimizer, nn.MSELoss(), torch.tensor([[2.0]]), torch.tensor([[6.0]]))

    with exported(browser, tmp_path, stepper, "loop", scheme) as found:
        expect(row(found, "loss.backward()")).to_contain_text("weight: -16")
