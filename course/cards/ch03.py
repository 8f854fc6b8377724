"""The card of chapter 3: a digit, and what four kernels find in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from course.figures.ch03 import first_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAN_NOW = (
    "write a module, and say what it keeps and what it does not",
    "build a model from layers, and spot the layers that hide",
    "choose the first weights, so that a deep model can learn",
    "save, load and freeze, and look inside while it runs",
)


def picture(_own: Mapping[str, Any]) -> Figure:
    """Draw the chapter's first picture: what it shows can now be read number by number."""
    return first_page()
