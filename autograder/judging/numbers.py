"""One number as a short text."""

from __future__ import annotations

import math


def number(value: object, digits: int = 4) -> str:
    """A number with so many significant digits; whole floats keep their point."""
    if not isinstance(value, float) or not math.isfinite(value):
        return str(value)
    return f"{value:.1f}" if value == int(value) and abs(value) < 1e6 else f"{value:.{digits}g}"
