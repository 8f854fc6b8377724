"""Format values as short texts: one alone, or two so that the difference between them can be seen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

from autograder.diagnosis.number_format import USUAL_DIGITS, digits_that_tell_apart, number_text
from autograder.exercises.compare_observations import Difference, Tolerance, mask_within_tolerance
from autograder.exercises.observation import ExceptionSnapshot, OtherValue, Plain, TensorSnapshot

MAX_TEXT_WIDTH = 240
RESULT_FACETS = (
    "returned",
    "again",
)  # facets with what the answer returned; the values of others are made by the probe
_CHANGED = ("inputs", "left", "behind", "elsewhere")  # facets that list what an answer changed
_BEFORE = 60  # of two long texts, the characters that are shown before the first that differs


def value_text(value: Plain, width: int = MAX_TEXT_WIDTH, digits: int = USUAL_DIGITS) -> str:
    """Return a value as a short text; a tensor with its shape and dtype."""
    if isinstance(value, TensorSnapshot):
        return _tensor(value, width, digits)
    if isinstance(value, OtherValue):
        return shorten(_in_full(value), width)
    if isinstance(value, ExceptionSnapshot):
        return shorten(f"{value.type}: {value.message}", width)
    if isinstance(value, list | tuple) and not isinstance(value, torch.Size):
        inside = ", ".join(value_text(item, width) for item in value)
        inside += "," if isinstance(value, tuple) and len(value) == 1 else ""
        return shorten(f"[{inside}]" if isinstance(value, list) else f"({inside})", width)
    if isinstance(value, dict):
        return shorten(
            "{" + ", ".join(f"{key!r}: {value_text(item, width)}" for key, item in value.items()) + "}", width
        )
    return shorten(number_text(value, digits) if isinstance(value, float) else repr(value), width)


def expected_and_got_texts(difference: Difference, tolerance: Tolerance) -> tuple[str, str]:
    """Return the expected and the student's value as two texts, in which the difference shows."""
    expected, got = difference.expected, difference.got
    if difference.path[:1] and difference.path[0] not in RESULT_FACETS:
        listed = _listed(difference)
        if listed:
            return listed
    place = _first_apart(difference, tolerance)
    pair = (expected, got) if place is None else (expected.values[place].item(), got.values[place].item())
    texts = [value_text(value, digits=digits_that_tell_apart(*pair)) for value in (expected, got)]
    if difference.aspect == "requires_grad":
        texts = [_tensor(seen, more=f", requires_grad={seen.requires_grad}") for seen in (expected, got)]
    elif texts[0] == texts[1] and place is not None:
        numbers = (number_text(value, digits_that_tell_apart(*pair)) for value in pair)
        texts = [f"{text}, with {value} at {list(place)}" for text, value in zip(texts, numbers, strict=True)]
    elif texts[0] == texts[1]:
        texts = _cut_where_apart(expected, got, texts[0])
    return texts[0], texts[1]


def _first_apart(difference: Difference, tolerance: Tolerance) -> tuple[int, ...] | None:
    """Return the index of the first number in which two tensors differ; None where they do not differ in numbers."""
    expected, got = difference.expected, difference.got
    if difference.aspect != "values" or not isinstance(expected, TensorSnapshot) or not isinstance(got, TensorSnapshot):
        return None
    if expected.values is None or got.values is None or expected.values.shape != got.values.shape:
        return None
    apart = ~mask_within_tolerance(expected.values, got.values, tolerance)
    return tuple(apart.nonzero()[0].tolist()) if apart.any() else None


def _cut_where_apart(expected: Plain, got: Plain, alike: str) -> list[str]:
    """Return two long values that begin and end alike as texts that say their lengths, or begin where they differ."""
    if isinstance(expected, list | tuple | dict):
        return [f"{alike} ({len(each)} items)" for each in (expected, got)]
    if not isinstance(expected, str | OtherValue):
        return [alike, alike]
    one, other = _in_full(expected), _in_full(got)
    apart = (i for i, (left, right) in enumerate(zip(one, other, strict=False)) if left != right)
    start = max(0, next(apart, min(len(one), len(other))) - _BEFORE)
    return [shorten(f"… {text[start:]}") for text in (one, other)]


def _in_full(value: Plain) -> str:
    return f"{value.type}: {' '.join(value.text.split())}" if isinstance(value, OtherValue) else str(value)


def _listed(difference: Difference) -> tuple[str, str] | None:
    """Return two values that are words of the probe as plain text without quotes; None if they are no words."""
    expected, got = difference.expected, difference.got
    if isinstance(expected, str) != isinstance(got, str):
        one, other = (_enumerated(each) if isinstance(each, str) else value_text(each) for each in (expected, got))
        return one, other
    if type(expected) is not type(got) or not (_is_words(expected) and _is_words(got)):
        return None
    facet, *inner = difference.path
    if facet in _CHANGED and isinstance(expected, list) and not any(isinstance(key, str) for key in inner):
        one, other = (f"changed: {_enumerated(names)}" if names else "nothing was changed" for names in (expected, got))
        return one, other
    return _enumerated(expected), _enumerated(got)


def _is_words(value: Plain) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def _enumerated(words: str | list[str]) -> str:
    if isinstance(words, str):
        return shorten(words) if words.strip() else repr(words)
    return shorten(("; " if any("," in word for word in words) else ", ").join(words)) or "none"


def shorten(text: str, width: int = MAX_TEXT_WIDTH) -> str:
    """Replace the middle of a long text by an ellipsis."""
    half = (width - 3) // 2
    return text if len(text) <= width else f"{text[:half]} … {text[-half:]}"


def nested_list_text(value: object, write: Callable[[object], str] = number_text) -> str:
    """Return nested lists of numbers as code, each number as `write` formats it."""
    inside = (nested_list_text(item, write) for item in value) if isinstance(value, list) else ()
    return f"[{', '.join(inside)}]" if isinstance(value, list) else write(value)


_MOST_DIMS = 50  # a tensor with more dims is not shown: nothing can be read within so many brackets


def _tensor(seen: TensorSnapshot, width: int = MAX_TEXT_WIDTH, digits: int = USUAL_DIGITS, more: str = "") -> str:
    beside = f", on {seen.device}" if seen.device != "cpu" else ""
    return f"tensor of shape {seen.shape}, {seen.dtype}{beside}{more}: {_numbers(seen, width, digits)}"


def _numbers(seen: TensorSnapshot, width: int, digits: int) -> str:
    if seen.values is None:
        return "(values not read)"
    if seen.values.dim() > _MOST_DIMS:
        return f"({seen.values.dim()} dims, values not shown)"
    return shorten(nested_list_text(_ends(seen.values, width).tolist(), partial(number_text, digits=digits)), width)


def _ends(values: torch.Tensor, width: int) -> torch.Tensor:
    """Return the part of a tensor that can appear in a text of this width: both ends of each long dim.

    Formatting all numbers of a large tensor would take long.
    """
    each = 1  # numbers in one item of the dim
    for dim in reversed(range(values.dim())):
        size, kept = values.shape[dim], max(1, -(-width // max(1, each)))
        if size > 2 * kept:
            values = torch.cat((values.narrow(dim, 0, kept), values.narrow(dim, size - kept, kept)), dim)
        each *= max(1, values.shape[dim])  # empty brackets take space as well
    return values
