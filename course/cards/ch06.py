"""The card of chapter 6: a drawing that is misread as it is, and read once it is prepared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from course.figures.ch06 import first_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAN_NOW = (
    "write a trainer that runs on any device and measures as it goes",
    "stop a training, and go on to the same last bit",
    "find silent faults in a trainer that runs",
    "say what a model was trained for, and begin a project of your own",
)


def picture(_own: Mapping[str, Any]) -> Figure:
    """Draw the chapter's first picture."""
    return first_page()
