"""A notebook that is opened again, with a kernel that knows nothing of its explorers: what was recorded still plays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Lab
from tests.browser.shown import opened

SHAPE = "from explorers import shape_explorer\nshape_explorer()"
GRAPH = """import torch
from explorers import autograd_stepper
x, y = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
autograd_stepper(x * y, x=x, y=y)"""
KEEP = "raw => jupyterapp.serviceManager.settings.save('@jupyter-widgets/jupyterlab-manager:plugin', raw)"


@pytest.fixture
def keeping(lab: Lab) -> Iterator[Lab]:
    """JupyterLab as the course sets it: a notebook keeps the state of its explorers."""
    lab.open(lab.write("first.ipynb", ""))
    lab.page.evaluate(KEEP, '{"saveState": true}')
    lab.close()  # the setting is read when JupyterLab begins
    yield lab
    lab.page.evaluate(KEEP, "{}")
    lab.close()


@pytest.mark.parametrize(
    ("code", "told"), [(SHAPE, "result[0, 1] = 0 + 2 = 2"), (GRAPH, "Forward pass, 2 of 3: y")], ids=["shape", "graph"]
)
def test_a_film_plays_on(keeping: Lab, code: str, told: str) -> None:
    """By its buttons and its arrow keys."""
    lab = keeping
    opened(lab, code)
    saved = lab.save()
    saved.with_name("again.ipynb").write_bytes(saved.read_bytes())
    lab.close()
    lab.open("again.ipynb")
    found = lab.page.locator(".explorer").first
    said = found.locator(".x-film-said")
    found.get_by_role("button", name="Step", exact=True).click()
    expect(said).to_contain_text(told)
    first = said.inner_text()
    lab.page.keyboard.press("ArrowRight")
    expect(said).not_to_have_text(first)
    found.get_by_role("button", name="Step back").click()

    expect(said).to_have_text(first)
