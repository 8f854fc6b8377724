"""Figures of a drawn digit, and of what a program gets of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from autograder.notebook.colors import BLUE, VERMILION
from course.instruments import drawn_four

from .digits import known_digits
from .drawing import new_figure, paper, told, write_numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NEW = 1538  # one of the digits after the first 1,500; a known 2 is among the nearest of this 8


def first_page() -> Figure:
    """Draw the end of the course: a drawn digit, the same shrunk to 8 by 8, and how like each known digit it is."""
    drawing = drawn_four()
    shrunk = _shrunk(drawing)
    fig, (left, middle, right) = new_figure(1, 3, figsize=(9.5, 3.0))
    paper(left, drawing, "what you draw")
    paper(middle, shrunk, "what the program gets")
    shares = _likeness(shrunk)
    right.bar(range(10), shares.tolist(), color=[VERMILION if share == shares.max() else BLUE for share in shares])
    right.set(xticks=range(10), yticks=[], xlabel="digit", title=f"what it says: {shares.argmax().item()}")
    return told(
        fig,
        "Three pictures in a row: a four drawn in black strokes; the same four in 8 by 8 gray pixels; "
        "ten bars, one for each digit, of which that of the four is the highest.",
    )


def nearest() -> Figure:
    """Draw a digit, and the five known digits that are nearest to it, with the squared distance of each."""
    rows, labels = known_digits()
    known, new = rows[:1500], rows[_NEW]
    distances = ((known - new) ** 2).sum(dim=1)
    places = distances.argsort()[:5]
    fig, (left, *others) = new_figure(1, 6, figsize=(9.5, 2.0))
    paper(left, new.reshape(8, 8), "new")
    for ax, place in zip(others, places, strict=True):
        paper(ax, known[place].reshape(8, 8), f"{labels[place]}: {distances[place]:.0f}")
    return told(
        fig,
        "Six small pictures in a row: a new digit, and the five known digits that are nearest to it, "
        "each with its label and its squared distance.",
    )


def shrink(drawing: Tensor) -> Figure:
    """Draw a (32, 32) drawing with its blocks of 4 by 4, and the ink counted in each block."""
    fig, (left, right) = new_figure(1, 2, figsize=(9.5, 4.6))
    paper(left, drawing, "32 by 32, black or white; blocks of 4 by 4")
    for edge in range(4, 32, 4):
        left.axhline(edge - 0.5, color=VERMILION, linewidth=0.8)
        left.axvline(edge - 0.5, color=VERMILION, linewidth=0.8)
    shrunk = _shrunk(drawing)
    paper(right, shrunk, "8 by 8, the ink counted in each block")
    write_numbers(right, shrunk, 9)
    return told(
        fig,
        "Left, a drawn four of 32 by 32 black and white pixels under a grid of blocks of 4 by 4. "
        "Right, 8 by 8 gray squares, each with the number of black pixels in its block, from 0 to 16.",
    )


def _shrunk(drawing: Tensor) -> Tensor:
    return drawing.reshape(8, 4, 8, 4).sum(dim=(1, 3))


def _likeness(picture: Tensor) -> Tensor:
    """How like each digit a picture is: a softmax of minus the squared distance to the nearest known one."""
    known, labels = known_digits()
    distances = ((known - picture.reshape(-1)) ** 2).sum(dim=1)
    nearest = torch.stack([distances[labels == number].min() for number in range(10)])
    return torch.softmax(-nearest / 200, dim=0)
