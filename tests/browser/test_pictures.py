"""Figures and small pictures in JupyterLab: drawn, with text alternatives, and figures in the page's ink color."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.lab import DARK, LIGHT, Lab

DIGITS = """
from sklearn.datasets import load_digits
from course.instruments import show_digits
images, labels = load_digits().images, load_digits().target
show_digits(images[:12], says=[0, 1, 2, 9] + list(labels[4:12]), is_=labels[:12])"""
PLOT = """
from matplotlib import pyplot as plt
plt.plot([1, 0])
plt.xlabel("epoch"), plt.ylabel("loss")
plt.show()"""
# Returns the color of a figure, and the color of the first element behind it that has one.
INK_AND_PAPER = """svg => {
    const numbers = color => color.match(/[\\d.]+/g).map(Number)
    const isClear = color => numbers(color).length == 4 && numbers(color)[3] == 0
    let behind = svg
    while (isClear(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement
    return [getComputedStyle(svg).fill, getComputedStyle(behind).backgroundColor].map(c => numbers(c).slice(0, 3))
}"""
SETUP = "from course.figures.plots import plots_take_the_ink_of_the_page\nplots_take_the_ink_of_the_page()"
FIRST_PAGE = "from course.figures import ch01 as figures\nfigures.first_page()"


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_pictures_are_shown_and_told(lab: Lab, theme: str) -> None:
    """Each picture has its text for a screen reader, also in a reopened notebook, and fits the theme."""
    notebook = lab.write(SETUP, DIGITS, FIRST_PAGE, PLOT)
    lab.open(notebook)
    lab.use_theme(theme)
    lab.run_all()
    images = lab.page.locator(".jp-OutputArea-output img")
    expect(images).to_have_count(12)
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
        assert figure.evaluate("svg => svg.querySelectorAll('path').length") > 50
        plot = lab.page.get_by_role("img", name="A plot. loss against epoch")
        for drawn in (figure, plot):
            ink, paper = drawn.evaluate(INK_AND_PAPER)
            assert (sum(ink) < 150) == (theme == LIGHT) == (sum(paper) > 600)
    lab.screenshot(f"pictures-{theme.split()[-1].lower()}")
