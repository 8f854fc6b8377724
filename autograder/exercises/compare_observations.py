"""Compare two observations: find the places where they differ, and the aspect (shape, dtype, values) of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from autograder.exercises.normalize_torch_wording import normalize_wording
from autograder.exercises.observation import ExceptionSnapshot, OtherValue, Plain, TensorSnapshot

# The aspects in which two values may differ, in the order in which they are compared.
ASPECTS = ("type", "keys", "length", "shape", "dtype", "device", "values", "requires_grad")
_LEAVES = frozenset({bool, int, str, type(None)})


@dataclass(frozen=True)
class Tolerance:
    """How far two numbers may be apart: `abs(a - b) <= absolute + relative * abs(b)`."""

    relative: float = 1e-4
    absolute: float = 1e-5


@dataclass(frozen=True)
class Difference:
    """One place where two observations differ: the path to it, the aspect that differs, and both values.

    The path begins with the facet; keys and indices into its value follow.
    """

    path: tuple[str | int, ...]
    aspect: str
    expected: Plain
    got: Plain


def first_difference(expected: Plain, got: Plain, tolerance: Tolerance) -> Difference | None:
    """Return the first difference between two observations, or None.

    Aspects are compared in the order type, shape, dtype, device, values, `requires_grad`.
    """
    return next(differences(expected, got, tolerance), None)


def differences(expected: Plain, got: Plain, tol: Tolerance, path: tuple[str | int, ...] = ()) -> Iterator[Difference]:
    """Yield every difference between two observations; items of containers that differ in form are not compared."""
    if type(expected) is not type(got):
        yield Difference(path, "type", expected, got)
    elif isinstance(expected, TensorSnapshot):
        yield from _tensor_differences(expected, got, tol, path)
    elif isinstance(expected, dict):
        if set(expected) != set(got):
            yield Difference(path, "keys", list(expected), list(got))
        else:
            yield from _item_differences([(key, expected[key], got[key]) for key in expected], tol, path)
    elif isinstance(expected, list | tuple) and not isinstance(expected, torch.Size):
        if len(expected) != len(got):
            yield Difference(path, "length", expected, got)
        else:
            yield from _item_differences(list(zip(range(len(got)), expected, got, strict=True)), tol, path)
    elif not _is_equal(expected, got, tol):
        yield Difference(path, "raised" if isinstance(expected, ExceptionSnapshot) else "values", expected, got)


def _item_differences(
    items: Sequence[tuple[str | int, Plain, Plain]], tol: Tolerance, path: tuple[str | int, ...]
) -> Iterator[Difference]:
    """Yield the differences between the items of two containers, given as (key or index, expected, got)."""
    for place, expected, got in items:
        if not _same_leaf(expected, got):
            yield from differences(expected, got, tol, (*path, place))


def _is_equal(expected: Plain, got: Plain, tol: Tolerance) -> bool:
    """Return whether two values of one type that hold no others agree within tolerance."""
    if isinstance(expected, torch.Tensor):  # an argument of a case
        alike = expected.shape == got.shape and expected.dtype == got.dtype
        return alike and bool(mask_within_tolerance(expected, got, tol).all())
    if isinstance(expected, ExceptionSnapshot):
        return bool(expected.type == got.type) and _same_words(expected.message, got.message)
    if isinstance(expected, OtherValue):
        return bool(expected.type == got.type) and _same_words(expected.text, got.text)
    if isinstance(expected, float):
        return _close(expected, got, tol)
    return bool(expected == got)


def _same_leaf(expected: Plain, got: Plain) -> bool:
    """Return whether both are the same bool, int, str or None.

    Most compared values are, and this test is much faster than `differences`.
    """
    return type(expected) in _LEAVES and type(expected) is type(got) and bool(expected == got)


def _same_words(expected: str, got: str) -> bool:
    """Return whether two texts are equal once the wording of their versions of torch is made the same."""
    return expected == got or normalize_wording(expected) == normalize_wording(got)


def _tensor_differences(
    expected: TensorSnapshot, got: TensorSnapshot, tol: Tolerance, path: tuple[str | int, ...]
) -> Iterator[Difference]:
    for aspect in ("shape", "dtype", "device"):
        if getattr(expected, aspect) != getattr(got, aspect):
            yield Difference(path, aspect, expected, got)
            return
    if not same_values(expected, got, tol):
        yield Difference(path, "values", expected, got)
    if expected.requires_grad != got.requires_grad:
        yield Difference(path, "requires_grad", expected, got)


def same_values(expected: TensorSnapshot, got: TensorSnapshot, tol: Tolerance) -> bool:
    """Return whether two tensors of the same shape hold the same numbers within tolerance; NaN equals NaN."""
    if expected.values is None or got.values is None:
        return expected.values is got.values
    if any(_far_apart(*pair, tol) for pair in zip(expected.ends, got.ends, strict=False)):
        return False
    if torch.equal(expected.values, got.values):  # true of most pairs, and much faster
        return True
    return bool(mask_within_tolerance(expected.values, got.values, tol).all())


def _far_apart(expected: float, got: float, tol: Tolerance) -> bool:
    """Return whether two numbers differ by more than twice the tolerance, which rounding cannot explain."""
    return abs(got - expected) > 2 * (tol.absolute + tol.relative * abs(expected))


def mask_within_tolerance(expected: torch.Tensor, got: torch.Tensor, tol: Tolerance) -> torch.Tensor:
    """Return a bool tensor that is True where two tensors of the same shape agree within tolerance."""
    if not expected.is_floating_point():
        return expected == got
    wide = torch.float64
    return torch.isclose(got.to(wide), expected.to(wide), rtol=tol.relative, atol=tol.absolute, equal_nan=True)


def _close(expected: float, got: float, tol: Tolerance) -> bool:
    if math.isnan(expected) or math.isnan(got):
        return math.isnan(expected) and math.isnan(got)
    if math.isinf(expected) or math.isinf(got):
        return expected == got
    return abs(got - expected) <= tol.absolute + tol.relative * abs(expected)
