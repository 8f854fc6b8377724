"""Figures as notebooks show them: sharp, and with words for who cannot see them."""

import base64
import html
import re
import sys

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from course.figures import ch01_tensors, ch02_autograd, ch03_modules, ch06_capstone
from course.figures.digits import known_digits
from course.figures.sharp import Drawing
from course.instruments import drawn_four

FIGURES = {
    "a first page": ch01_tensors.first_page,
    "titles": lambda: ch01_tensors.strides(torch.arange(12).reshape(3, 4)),
    "a product": lambda: ch01_tensors.matrix_product(torch.ones(3, 2), torch.ones(2, 3)),
    "a drawing": lambda: ch01_tensors.shrink(drawn_four()),
    "templates": ch02_autograd.first_page,
    "edges": ch03_modules.first_page,
    "a convolution": lambda: ch03_modules.convolution(torch.eye(8), torch.ones(3, 3), 1, 2),
    "one drawing, read twice": ch06_capstone.first_page,
    "a card": lambda: ch06_capstone.card(
        {"losses": [1.0, 0.5], "accuracies": [0.5, 0.9]},
        10 * torch.eye(10).long(),
        torch.eye(32).expand(12, 32, 32),
        torch.arange(12) % 10,
        torch.arange(12) % 10,
    ),
}


@pytest.fixture(autouse=True)
def shell() -> InteractiveShell:
    """What displays."""
    return InteractiveShell.instance()


@pytest.mark.parametrize("name", FIGURES)
def test_shown(name: str) -> None:
    """One picture of twice the dots that it is wide on the page, with a sentence and not only a title."""
    with capture_output() as shown:
        figure = FIGURES[name]()
        figure._ipython_display_()  # type: ignore[attr-defined]
    (output,) = shown.outputs
    picture = base64.b64decode(re.findall(r"base64,([^\"]+)", output.data["text/html"])[0])
    width = int(re.findall(r'width="(\d+)"', output.data["text/html"])[0])
    words = html.unescape(re.findall(r'alt="(.*?)"', output.data["text/html"])[0])

    assert int.from_bytes(picture[16:20], "big") in (2 * width, 2 * width + 1) and 400 < width < 1100
    assert words == output.data["text/plain"] and len(words) > 60 and words.endswith(".")


def test_words_are_titles_where_nobody_wrote_any() -> None:
    """Better than nothing."""
    figure = ch01_tensors.strides(torch.arange(12).reshape(3, 4))
    assert isinstance(figure, Drawing)
    figure.alt = ""

    assert "The grid you see, and the line of memory it reads" == figure.words()


def test_digits_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says what to install."""
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)

    with pytest.raises(ImportError, match=r"run `pip install scikit-learn`, then restart\."):
        known_digits()
