"""Figures as notebooks show them: vector graphics, legible in both themes, with a text alternative."""

import html
import inspect
import re
import sys
from types import ModuleType

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.pylabtools import select_figure_formats
from IPython.utils.capture import capture_output
from matplotlib import pyplot as plt
from matplotlib.figure import FigureBase
from matplotlib.patches import StepPatch

from course.figures import ch01, ch02, ch03, ch04, ch05, ch06
from course.figures.digits import known_digits
from course.figures.plots import plots_take_the_ink_of_the_page
from course.figures.sharp import Drawing, plot_on_the_page
from tests.contrast import PAGES, contrast, lines, words
from tests.drawn import FIGURES, drawn

CHAPTERS = (ch01, ch02, ch03, ch04, ch05, ch06)
# The tests of a figure run in one process, which draws it once.
of_each_figure = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.xdist_group(f"figure {name}")) for name in FIGURES]
)
SHARED = {"finish", "told"}  # helpers of figure functions


@pytest.fixture(autouse=True)
def shell() -> InteractiveShell:
    """Return the IPython shell that displays figures."""
    return InteractiveShell.instance()


def _drawing(module: ModuleType) -> set[str]:
    """Return the names of a module's figures."""
    functions = inspect.getmembers(module, inspect.isfunction)
    figures = {name for name, each in functions if each.__annotations__.get("return") == "Figure"}
    return {f"{module.__name__.split('.')[-1][:4]} {name}" for name in figures - SHARED if name[0] != "_"}


def test_none_is_left_out() -> None:
    """The tests draw each figure of each chapter."""
    assert {" ".join(name.split()[:2]) for name in FIGURES} == set().union(*map(_drawing, CHAPTERS))


@of_each_figure
@pytest.mark.night
def test_shown(name: str) -> None:
    """A figure is displayed once as SVG of at most the page's width, with a sentence as text alternative.

    It uses the page's text color instead of black or white, has no background, and does not change the page's style.
    """
    with capture_output() as shown:
        drawn(name)._ipython_display_()  # type: ignore[attr-defined]
    (output,) = shown.outputs
    markup = output.data["text/html"]
    width = int(re.findall(r'^<svg [^>]*width="(\d+)"', markup)[0])
    told = html.unescape(re.findall(r'^<svg [^>]*role="img" aria-label="(.*?)"', markup)[0])

    assert 400 < width < 1100 and len(markup) < 200_000 and markup.endswith("</svg>")
    assert told == output.data["text/plain"] and len(told) > 60 and told.endswith(".")
    assert "currentColor" in markup and not re.search("#222222|#000000|<style|<metadata|<!DOCTYPE|<script", markup)
    assert not re.search(r'id="(figure|axes)_\d+">\s*<g id="patch_\d+">\s*<path [^>]*fill: #fff', markup)


@of_each_figure
@pytest.mark.night
def test_legible(name: str) -> None:
    """Texts have a contrast of at least 4.5, lines and shapes one of 3, on light and dark pages."""
    figure = drawn(name)
    figure.draw_without_rendering()  # to compute positions

    for page in PAGES:
        assert not [(page, told, round(float(ratio), 1)) for told, ratio in words(figure, page) if ratio < 4.5]
        assert not [(page, told, round(float(ratio), 1)) for told, ratio in lines(figure, page) if ratio < 3]


@of_each_figure
@pytest.mark.night
def test_no_panel_is_empty(name: str) -> None:
    """A panel whose bars are all outside contains a text."""
    figure = drawn(name)
    bars = [(ax, patch) for ax in figure.axes for patch in ax.patches if isinstance(patch, StepPatch)]

    assert all(ax.texts or any(patch.get_data()[0]) for ax, patch in bars)


def test_contrast_is_that_of_wcag() -> None:
    """The contrast has known values of WCAG."""
    assert 21 == pytest.approx(contrast((0, 0, 0), (1, 1, 1)))
    assert 4.54 == pytest.approx(contrast((0x76 / 255,) * 3, (1, 1, 1)), abs=0.01)


def test_pale_words_would_be_found() -> None:
    """Pale text is detected on the page, on a color and on a picture."""
    figure, (left, right) = plt.subplots(1, 2)
    plt.close(figure)
    left.text(0.5, 0.5, "pale", color="#bbbbbb")
    left.fill([0, 0.3, 0.3, 0], [0, 0, 0.3, 0.3], facecolor="#ffff00", edgecolor="none")
    left.text(0.15, 0.15, "white on yellow", color="white", ha="center", va="center", fontsize=4)
    left.plot([0, 1], [1, 0], color="#ffff00", label="pale line")
    right.imshow([[0, 1]], cmap="Greys")
    right.text(1, 0, "black on black", color="#111111", ha="center", va="center")
    figure.draw_without_rendering()

    told = {told for told, ratio in words(figure, "#ffffff") if ratio < 4.5}
    assert {"pale", "white on yellow", "black on black"} == told
    assert "line pale line" in {told for told, ratio in lines(figure, "#ffffff") if ratio < 3}


def test_a_readers_plot() -> None:
    """A reader's plot becomes SVG with its labels as text alternative, and the figure itself does not change."""
    figure, ax = plt.subplots()
    plt.close(figure)
    ax.plot([0, 1], label="what it learns from")
    ax.set(xlabel="epoch", ylabel="loss")
    ax.legend()
    markup = plot_on_the_page(figure)

    assert markup and 'aria-label="A plot. loss against epoch: what it learns from"' in markup
    assert "#ffffff" not in markup and "currentColor" in markup
    assert (1, 1, 1, 1) == figure.get_facecolor() == ax.get_facecolor()


def test_readers_plots_in_a_notebook(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader's plot has an SVG version unless it is too large."""
    monkeypatch.setattr("course.figures.plots.get_ipython", lambda: None)
    plots_take_the_ink_of_the_page()
    monkeypatch.setattr("course.figures.plots.get_ipython", lambda: shell)
    assert shell.display_formatter is not None
    formatter = shell.display_formatter.formatters["text/html"]
    plots_take_the_ink_of_the_page()
    select_figure_formats(shell, {"png"})  # as the first plot of a notebook does, which removes other formatters
    try:
        figure, ax = plt.subplots()
        plt.close(figure)
        ax.plot([0, 1])
        small = formatter(figure)
        ax.scatter(torch.rand(20_000), torch.rand(20_000), c=torch.rand(20_000))
        assert small.startswith("<svg") and formatter(figure) is None
    finally:
        formatter.pop(FigureBase)


def test_a_curve_through_all_points_is_worse_on_new_ones() -> None:
    """The figure's words give the curve error 0 on its points, and more than twice the line's on new ones."""
    seen, new = (ch04.ten_points(new=new) for new in (False, True))
    assert isinstance(seen, Drawing) and isinstance(new, Drawing)
    (line, curve), (line_on_new, curve_on_new) = (
        map(float, re.findall(r"line (\S+), curve (\d+\.\d+)", figure.words())[0]) for figure in (seen, new)
    )

    assert 0 == curve < line and line_on_new < curve_on_new / 2


def test_pooling_frames_each_block_and_its_number() -> None:
    """Both sides of the figure of pooling have a frame for each of the four blocks."""
    frames = [len(axes.lines) for axes in ch03.pooling(torch.arange(36.0).reshape(6, 6), 3).axes]

    assert [4, 4] == frames


def test_one_place_is_no_plural() -> None:
    """The figure of strides says "+1 place"."""
    figure = ch01.strides(torch.arange(12).reshape(3, 4))
    told = "\n".join(text.get_text() for axes in figure.axes for text in axes.texts)

    assert "one row down: +4 places\none column right: +1 place" in told and "+1 places" not in told


def test_words_are_titles_where_nobody_wrote_any() -> None:
    """Without a text alternative, the titles are used."""
    figure = ch01.strides(torch.arange(12).reshape(3, 4))
    assert isinstance(figure, Drawing)
    figure.alt = ""

    assert "The grid you see, and the line of memory it reads" == figure.words()


def test_digits_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without scikit-learn, the error says what to install."""
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)

    with pytest.raises(ImportError, match=r"run `pip install scikit-learn`, then restart\."):
        known_digits()


def test_digits_without_what_scikit_learn_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a dependency of scikit-learn is missing, its own error is raised."""

    class Finder:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            if name == "sklearn.datasets":
                raise ModuleNotFoundError("No module named 'threads'", name="threads")

    monkeypatch.delitem(sys.modules, "sklearn.datasets", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Finder, *sys.meta_path])

    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'threads'$"):
        known_digits()
