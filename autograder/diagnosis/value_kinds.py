"""Name the kind of a value in words (a tensor, a float, a torch.device), for messages about a wrong type."""

from __future__ import annotations

import torch

from autograder.exercises.compare_observations import Difference
from autograder.exercises.observation import OtherValue, Plain, TensorSnapshot

# Clearer names for types whose own name tells beginners little.
_NAMES = {"ndarray": "NumPy array", "ellipsis": "`...`", "Tensor": "tensor in a special layout, such as sparse"}
# Types that an answer returns. A value of another type may be made by the probe, and then no student was asked for it.
_ASKED_FOR = (float, int, TensorSnapshot, torch.device, torch.dtype, list, tuple, dict)


def type_with_article(value: Plain) -> str:
    """Return the type of a value with an article: "a tensor", "an int"."""
    if isinstance(value, TensorSnapshot):
        return "a tensor"
    if value is None:
        return "None"
    name = type(value).__name__
    if isinstance(value, OtherValue):
        name = _NAMES.get(value.type, value.type)
    if isinstance(value, torch.Size):
        name = "torch.Size"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def wrong_type_message(place: str, expected: Plain, got: Plain) -> str:
    """Return the sentence that a value has the wrong type, with advice on how to convert it."""
    advice = ""
    if got is None and place == "the result":  # an entry of it may be None on purpose
        advice = " Did you forget `return`?"
    advice = advice or _conversion_advice(expected, got)
    return f"Expected {place} to be {type_with_article(expected)}, got {type_with_article(got)}.{advice}"


def wrong_type_note(difference: Difference) -> str:
    """Return a sentence on a wrong type, to follow the author's own sentence; "" if there is nothing to add.

    It is added only where the answer itself must have made the value: a tensor, a foreign object, a str in place of
    a dtype or device, or None in the facet `returned`. A probe may have made any other value.
    """
    expected, got = difference.expected, difference.got
    if difference.aspect != "type" or isinstance(expected, bool) or not isinstance(expected, _ASKED_FOR):
        return ""
    named = isinstance(expected, torch.device | torch.dtype) and isinstance(got, str)
    nothing = got is None and difference.path[0] == "returned"
    if not (named or nothing or isinstance(got, TensorSnapshot | OtherValue)):
        return ""
    advice = _conversion_advice(expected, got)
    return f" Yours is {type_with_article(got)} where {type_with_article(expected)} is asked for.{advice}"


def _conversion_advice(expected: Plain, got: Plain) -> str:
    """Return a sentence on the call that converts `got` to the expected type, such as `.item()`; "" if unknown."""
    if isinstance(got, TensorSnapshot) and isinstance(expected, bool | int | float):
        return " `.item()` turns a tensor with one element into a Python number."
    if isinstance(got, OtherValue) and got.type == "ndarray":
        return " `torch.from_numpy` makes a tensor of it; mind the dtype."
    return ""
