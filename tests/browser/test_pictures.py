"""Figures and small pictures in JupyterLab: drawn, told to who does not see them, on white in both themes."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.lab import DARK, LIGHT, Lab

DIGITS = """
from sklearn.datasets import load_digits
from course.instruments import show_digits
images, labels = load_digits().images, load_digits().target
show_digits(images[:12], says=[0, 1, 2, 9] + list(labels[4:12]), is_=labels[:12])"""
FIRST_PAGE = "from course.figures import ch01_tensors as figures\nfigures.first_page()"


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_pictures_are_shown_and_told(lab: Lab, theme: str) -> None:
    """Each has its words as its name for a screen reader, also when the notebook is opened again; a figure is sharp."""
    notebook = lab.write("pictures.ipynb", DIGITS, FIRST_PAGE)
    lab.open(notebook)
    lab.use_theme(theme)
    lab.run_all()
    images = lab.page.locator(".jp-OutputArea-output img")
    expect(images).to_have_count(13)
    lab.save()
    for again in (False, True):
        if again:
            lab.open(notebook)
        digit = lab.page.get_by_role("img", name="9 ✗ is 3")
        figure = lab.page.get_by_role("img", name="Three pictures in a row")
        for image in (digit, figure):
            expect(image).to_have_count(1)
            image.scroll_into_view_if_needed()
        assert digit.evaluate("image => image.complete && image.naturalWidth == 8")
        assert figure.evaluate("image => image.complete && image.naturalWidth > 1800")
    lab.screenshot(f"pictures-{theme.split()[-1].lower()}")
