"""Detect right values in a wrong representation, such as a list in place of a tuple, or float64 for float32.

An answer that gives the right values and changes its inputs makes such a slip, too. So does one that rounds its
numbers, where the probe records that: a facet whose name ends in "rounded" is True.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from autograder.exercises.compare_observations import Difference, Tolerance, differences, first_difference
from autograder.exercises.observation import Plain, TensorSnapshot

# The aspect that differs, then the expected and the observed form: ("dtype", "float32", "float64").
FormMismatch = tuple[str, str, str]


ROUNDED_MESSAGE = "You round the numbers that you return. Return them as they are: who reads them can round them."
_ROUNDED: FormMismatch = ("values", "as they are", "rounded")


def find_form_mismatches(expected: Plain, got: Plain, tolerance: Tolerance) -> frozenset[FormMismatch] | None:
    """Return the slips of form in an observation, or None if anything other than form differs."""
    found = list(differences(expected, got, tolerance))
    rounds = any(_says_rounded(each) for each in found)
    slips = [_ROUNDED if rounds and _rounds(each) else _slip(each, tolerance) for each in found]
    return None if None in slips else frozenset(slip for slip in slips if slip)


def are_rounded(numbers: object) -> bool:
    """Return whether an answer rounded its results: every float that is no whole number has at most six decimals.

    False if there is no such number.
    """
    parts = [one for one in numbers if type(one) is float and one % 1] if isinstance(numbers, list) else []
    return bool(parts) and all(round(part, 6) == part for part in parts)


def is_rounded(number: object, exact: float) -> bool:
    """Return whether a number is the exact one, rounded to two to six decimals, and more than a last bit away."""
    if type(number) is not float or abs(number - exact) <= 1e-9 * max(1.0, abs(exact)):
        return False
    return any(round(exact, decimals) == number for decimals in range(2, 7))


def are_rounded_shares(shares: object, total: int) -> bool:
    """Return whether an answer rounded its shares of a total: each is k / total or that rounded, and one is rounded.

    A share with few decimals need not be rounded: 8 of 10 are 0.8, to whoever counts two too few.
    """
    parts = [one for one in shares if type(one) is float and one % 1] if isinstance(shares, list) else []
    rounded = [is_rounded(part, round(part * total) / total) for part in parts]
    return any(rounded) and all(
        cut or part == round(part * total) / total for cut, part in zip(rounded, parts, strict=True)
    )


def _says_rounded(difference: Difference) -> bool:
    return difference.got is True and len(difference.path) == 1 and str(difference.path[0]).endswith("rounded")


def _rounds(difference: Difference) -> bool:
    exact = difference.expected
    return _says_rounded(difference) or (type(exact) is float and is_rounded(difference.got, exact))


def _slip(difference: Difference, tolerance: Tolerance) -> FormMismatch | None:
    expected, got, aspect = difference.expected, difference.got, difference.aspect
    if difference.path == ("inputs",) and expected == []:
        return "inputs", "as they were", "changed"
    if aspect not in ("type", "dtype", "requires_grad"):
        return None
    if _size(expected) != _size(got):  # fast, and comparing very many numbers is not
        return None
    if first_difference(_without_form(expected), _without_form(got), tolerance) is not None:
        return None
    return aspect, _form(expected, aspect), _form(got, aspect)


def _form(value: Plain, aspect: str) -> str:
    return type(value).__name__ if aspect == "type" else str(getattr(value, aspect))


def _size(value: Plain) -> int:
    """Return the count of numbers in nested lists or a tensor; an empty container and a plain value count as one."""
    if isinstance(value, TensorSnapshot):
        empty = next((place for place, size in enumerate(value.shape) if size == 0), len(value.shape))
        return math.prod(value.shape[:empty])
    return max(1, sum(map(_size, value))) if isinstance(value, list | tuple) else 1


def _without_form(value: Plain) -> Any:
    """Return the values without their form: containers as lists, tensors as nested lists, an int as a float."""
    if isinstance(value, TensorSnapshot) and value.values is not None:
        return _without_form(
            value.values.to(torch.float64).tolist() if value.dtype != "bool" else value.values.tolist()
        )
    if isinstance(value, list | tuple):
        return [_without_form(item) for item in value]
    return float(value) if type(value) is int and abs(value) < 2**53 else value
