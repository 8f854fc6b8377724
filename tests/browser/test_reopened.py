"""A reopened notebook, whose kernel does not know its explorers: recorded films still play."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.lab import Lab

SHAPE = "from explorers import shape_explorer\nshape_explorer()"
GRAPH = """import torch
from explorers import autograd_stepper
x, y = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
autograd_stepper(x * y, x=x, y=y)"""


def test_films_play_on(lab: Lab) -> None:
    """Films of a reopened notebook play by buttons and arrow keys, and no message says that a model is missing."""
    lab.open(lab.write(SHAPE, GRAPH))
    lab.run_all()
    explorers = lab.page.locator(".explorer")
    expect(explorers).to_have_count(2)
    lab.wait_for_idle()  # else the file may be saved without what the last cell shows
    saved = lab.save()
    saved.with_name("again.ipynb").write_bytes(saved.read_bytes())
    lab.close()
    lab.open("again.ipynb")
    for found, told in ((explorers.first, "result[0, 1] = 0 + 2 = 2"), (explorers.last, "Forward pass, 2 of 3: y")):
        said = found.locator(".x-film-said")
        found.get_by_role("button", name="Step", exact=True).click()
        expect(said).to_contain_text(told)
        first = said.inner_text()
        lab.page.keyboard.press("ArrowRight")
        expect(said).not_to_have_text(first)
        found.get_by_role("button", name="Step back").click()
        expect(said).to_have_text(first)
    lab.screenshot("reopened")

    expect(lab.page.locator(".jp-OutputArea").filter(has_text="model not found")).to_have_count(0)
