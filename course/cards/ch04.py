"""The card of chapter 4: a sine, and what the reader's own training makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from course.figures.ch04 import first_page, fit_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAN_NOW = (
    "write the five lines of training, and say what each is for",
    "tell from two curves whether a model learns, or learns by heart",
    "choose an optimizer and a learning rate, and change it on the way",
    "find the silent faults in a loop that runs",
)


def picture(own: Mapping[str, Any]) -> Figure:
    """Draw the fit of the reader's own training, or the chapter's first picture."""
    if "sin_fit" not in own:
        return first_page()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return fit_of(own["sin_fit"](lr=0.01, optimizer="adam"))
