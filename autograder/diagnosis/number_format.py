"""Format numbers as short texts, with enough digits to tell two of them apart."""

from __future__ import annotations

import math

USUAL_DIGITS = 4  # significant digits
_MOST = 17  # significant digits that tell any two floats apart


def number_text(value: object, digits: int = USUAL_DIGITS) -> str:
    """Return a number as text with this many significant digits; a whole float keeps its point.

    With more digits than `USUAL`, trailing zeros are kept, so that two numbers line up.
    """
    if not isinstance(value, float) or not math.isfinite(value):
        return str(value)
    text = f"{value:#.{digits}g}" if digits > USUAL_DIGITS else f"{value:.{digits}g}"
    if digits > USUAL_DIGITS:
        return f"{text}0" if text.endswith(".") else text
    whole, rounded = value.is_integer() and abs(value) < 1e6, float(text)
    near = rounded.is_integer() and abs(rounded) < 10 ** (digits - 1)  # 0.99999 is 1.0, and no int
    return f"{value if whole else rounded:.1f}" if whole or near else text


def digits_that_tell_apart(one: object, other: object) -> int:
    """Return how many significant digits tell two numbers apart, at least `USUAL`."""
    if not (isinstance(one, float) and isinstance(other, float)) or not math.isfinite(one) or not math.isfinite(other):
        return USUAL_DIGITS
    apart = (d for d in range(USUAL_DIGITS, _MOST + 1) if float(f"{one:.{d}g}") != float(f"{other:.{d}g}"))
    return next(apart, USUAL_DIGITS)
