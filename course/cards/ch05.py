"""The card of chapter 5: the same training in 32 and in 16 bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from course.figures.ch05 import first_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAN_NOW = (
    "write code that runs on any device, and say what makes it wait",
    "measure time and memory so that the figures mean something",
    "predict dtypes under autocast, and keep small gradients alive",
    "write the whole training step in mixed precision",
)


def picture(_own: Mapping[str, Any]) -> Figure:
    """Draw the chapter's first picture: half of the bytes, and the same loss."""
    return first_page()
