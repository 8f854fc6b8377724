"""The kind of a value in words: a tensor, a number, a device."""

from __future__ import annotations

import torch

from autograder.exercises.difference import Difference
from autograder.exercises.observation import Foreign, Plain, Seen

# What beginners meet under a name that says little.
_NAMES = {"ndarray": "NumPy array", "ellipsis": "`...`", "Tensor": "tensor in a special layout, such as sparse"}
# What an answer gives; other kinds may also be a probe's own word for what it saw, and then nobody asked for one.
_ASKED_FOR = (float, int, Seen, torch.device, torch.dtype, list, tuple, dict)


def kind(value: Plain) -> str:
    """A value's type, for a sentence."""
    if isinstance(value, Seen):
        return "a tensor"
    if value is None:
        return "None"
    name = type(value).__name__
    if isinstance(value, Foreign):
        name = _NAMES.get(value.type, value.type)
    if isinstance(value, torch.Size):
        name = "torch.Size"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def type_sentence(place: str, expected: Plain, got: Plain) -> str:
    """That a value is of another type than is asked for, and what makes one of it."""
    advice = ""
    if got is None and place == "the result":  # an entry of it may be None on purpose
        advice = " Did you forget `return`?"
    return f"Expected {place} to be {kind(expected)}, got {kind(got)}.{advice or _way(expected, got)}"


def note_of_kind(difference: Difference) -> str:
    """What to add to a sentence about values where yours is of another kind altogether; "" where it need not be.

    A tensor, or an object that is no plain data, is never a probe's own word for what it saw; None may be one, except
    within a result.
    """
    expected, got = difference.expected, difference.got
    if difference.aspect != "type" or isinstance(expected, bool) or not isinstance(expected, _ASKED_FOR):
        return ""
    named = isinstance(expected, torch.device | torch.dtype) and isinstance(got, str)
    nothing = got is None and difference.path[0] == "returned"
    if not (named or nothing or isinstance(got, Seen | Foreign)):
        return ""
    return f" Yours is {kind(got)} where {kind(expected)} is asked for.{_way(expected, got)}"


def _way(expected: Plain, got: Plain) -> str:
    """What makes the one of the other, where beginners often need to."""
    if isinstance(got, Seen) and isinstance(expected, bool | int | float):
        return " `.item()` turns a tensor with one element into a Python number."
    if isinstance(got, Foreign) and got.type == "ndarray":
        return " `torch.from_numpy` makes a tensor of it; mind the dtype."
    return ""
