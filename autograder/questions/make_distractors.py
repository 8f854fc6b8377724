"""Make plausible wrong choices for a shape, a value, or the form of a result."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from autograder.questions.computed_question import integers_as_floats, value_as_choice_text

DTYPE_DISTRACTORS = ("float32", "int64", "float64", "bool", "float16", "bfloat16")
_DTYPE = re.compile(r"torch\.(\w+)")
_ON_DEVICE = re.compile(r" on \w+")
_LIKELY = 2  # shapes of other tensors among the wrong choices
_NUMBER = re.compile(r"-?\d[\d.]*")
_TENSOR = re.compile(r"(\w+) of shape (\([\d, ]*\))")


def shape_distractors(shape: tuple[int, ...], sizes: Iterable[int] = ()) -> list[tuple[int, ...]]:
    """Return shapes that are taken for this one by mistake, likely ones first.

    `sizes` are others of the run: the first ones have one of them in place of one of this shape's.
    """
    others = [(*shape[:i], each, *shape[i + 1 :]) for each in sizes for i in range(len(shape)) if each not in shape]
    found = [*others[: 2 * len(shape) : 2], shape[::-1], shape[:-1], (*shape, 1), (1, *shape), shape[1:]]
    found += [(*shape[:-1], 1), (1, *shape[1:]), (*shape[:-1], shape[-1] + 1)] if shape else [(1,), (1, 1), (2,)]
    return [each for each in dict.fromkeys(found) if each != shape]


def dtype_and_shape_distractors(form: str, shapes: Iterable[tuple[int, ...]]) -> list[str]:
    """Return wrong choices for a form such as `float32 of shape (2, 3)`: one tensor has another shape or dtype.

    `shapes` are those that a reader may take for it: two of them come first.
    """
    found = [_ON_DEVICE.sub(" on cpu", form), _ON_DEVICE.sub(" on cpu", form, count=1)]
    found = [each for each in dict.fromkeys(found) if each != form]
    for match in _TENSOR.finditer(form):
        dtype, shape = match[1], ast.literal_eval(match[2])
        others = [each for each in shapes if each != shape][:_LIKELY]
        new = [f"{dtype} of shape {each}" for each in (*others, *shape_distractors(shape)[:3])]
        new += [f"{each} of shape {shape}" for each in DTYPE_DISTRACTORS[:3] if each != dtype]
        found += [form[: match.start()] + each + form[match.end() :] for each in new]
    return found


def value_distractors(text: str, given: str = "", is_float: bool = False) -> list[str]:
    """Return values in words that are like this one and differ from it; none if it cannot be read.

    Where all its numbers stand in `given`, a call in words, others in another order come first. Whole numbers are taken
    for places and labels, which nobody doubles, unless `is_float`.
    """
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return _of_other_dtypes(text)
    is_row = isinstance(value, list) and not any(isinstance(each, list) for each in value)
    is_sorted = is_row and all(one <= other for one, other in pairwise(value))  # whose order nobody doubts
    is_known = isinstance(value, list) and set(_NUMBER.findall(text)) <= {"0", *_NUMBER.findall(given)}
    is_rearranged = is_known and not is_sorted
    value = _with_each(value, float) if is_float else value  # the numbers of a tensor have no points
    others = [*(_rearranged(value) if is_rearranged else ()), *(_of_table(value) if is_float else ()), *_others(value)]
    words = (value_as_choice_text(other, quoted=True) for other in others)
    texts = (integers_as_floats(False, each) if is_float else each for each in words)
    return [each for each in dict.fromkeys(texts) if each != text]


def _of_other_dtypes(text: str) -> list[str]:
    """Return texts in which dtypes are others: all of them, and one after the other."""
    found = list(_DTYPE.finditer(text))
    used = list(dict.fromkeys([*(match[1] for match in found), "float32", "float64", "float16"]))
    all_one = [_DTYPE.sub(f"torch.{dtype}", text) for dtype in used]
    one_changed = [f"{text[: m.start(1)]}{dtype}{text[m.end(1) :]}" for m in found for dtype in used]
    return [each for each in dict.fromkeys([*all_one, *one_changed]) if each != text]


def _rearranged(value: list[Any]) -> list[Any]:
    """Return a table or a row with its entries in other orders: by columns, from the end, moved by one place."""
    if value and all(isinstance(each, list) for each in value):
        columns = [[list(each) for each in zip(*value, strict=True)]] if len({*map(len, value)}) == 1 else []
        return [*columns, *_moved(value), [*value[1:], value[0]]]
    return [value[::-1], [*value[1:], *value[:1]], [*value[-1:], *value[:-1]]]


def _moved(value: Any) -> list[Any]:
    """Return a table with its rows from the end, and with its columns from the end; none for anything else."""
    is_table = isinstance(value, list) and value and all(isinstance(each, list) for each in value)
    found = [[each[::-1] for each in value], value[::-1]] if is_table else []
    return [each for each in found if each != value]


def _with_each(value: Any, how: Callable[[Any], Any]) -> Any:
    """Return a value with each number in it changed, and each bool turned round."""
    if isinstance(value, list | tuple):
        return type(value)(_with_each(each, how) for each in value)
    if isinstance(value, bool):
        return not value
    return how(value) if isinstance(value, int | float) else value


def _of_table(value: Any) -> list[Any]:
    """Return a table of measured numbers twice and half as large, and with other signs; none for another value."""
    is_table = isinstance(value, list) and value and all(isinstance(each, list) for each in value)
    return [_with_each(value, how) for how in (_twice, _half, _negative)] if is_table else []


def _twice(one: Any) -> Any:
    return 2 * one


def _half(one: Any) -> Any:
    return one // 2 if isinstance(one, int) else one / 2


def _negative(one: Any) -> Any:
    return -one


def _others(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1, 2 * value, value + 2]
    if isinstance(value, float):
        return [2 * value, value / 2, -value, value + 1]
    if isinstance(value, list | tuple):
        kind, is_flat = type(value), not any(isinstance(each, list | tuple) for each in value)
        is_row = kind is list and value and all(isinstance(each, int | float) for each in value)
        lengths = [value[:-1], [*value, value[-1]]] if is_row else []
        twice, half, negative = (_with_each(value, how) for how in (_twice, _half, _negative))
        changed = [kind([*value[:i], new, *value[i + 1 :]]) for i, old in enumerate(value) for new in _others(old)]
        if is_flat:
            next_ones = _with_each(value, lambda one: one + 1)
            return [
                next_ones,
                *changed[-1:],
                *changed[:1],
                *lengths,
                twice,
                kind(reversed(value)),
                half,
                negative,
                *changed,
            ]
        moved = [kind([*value[:i], new, *value[i + 1 :]]) for i, old in enumerate(value) for new in _moved(old)]
        # Whole numbers may be places and labels, which nobody doubles.
        if re.fullmatch(r"(?:[-\d\[\](), ]|True|False)*", str(value)):
            last = [kind([*value[:-1], new]) for new in _others(value[-1])] if value else []
            return [*moved[:2], *last[:1], *moved[2:], *last, *changed]
        return [*moved[:1], twice, half, *changed[:1], negative, *changed]
    if isinstance(value, dict):
        return [{**value, key: new} for key, old in value.items() for new in _others(old)]
    return []
