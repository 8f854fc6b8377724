"""Make the picture of two tensors that differ: a small grid around the first number that differs."""

from __future__ import annotations

import torch

from autograder.diagnosis.number_format import USUAL_DIGITS, digits_that_tell_apart, number_text
from autograder.diagnosis.verdict import GridPair
from autograder.exercises.compare_observations import Difference, Tolerance, mask_within_tolerance
from autograder.exercises.observation import Plain, TensorSnapshot

_GRID = 8  # largest side
_BEFORE = 3  # numbers of a window before the first that differs
_IN_A_LINE = 6  # numbers that are easily compared in a line of text


def make_difference_grids(difference: Difference, tolerance: Tolerance) -> GridPair | None:
    """Return both tensors around the first number that differs; None if no numbers differ or the tensor is short."""
    expected, got = _values(difference.expected), _values(difference.got)
    if difference.aspect != "values" or expected is None or got is None or expected.shape != got.shape:
        return None
    if expected.dim() < 2 and expected.numel() <= _IN_A_LINE:
        return None
    differs = ~mask_within_tolerance(expected, got, tolerance)
    return _around(tuple(differs.nonzero()[0].tolist()), expected, got, differs) if differs.any() else None


def _values(seen: Plain) -> torch.Tensor | None:
    """Return the numbers of a real tensor; None for any other value (complex numbers are stored as pairs)."""
    return seen.values if isinstance(seen, TensorSnapshot) and not seen.dtype.startswith("complex") else None


def _around(first: tuple[int, ...], expected: torch.Tensor, got: torch.Tensor, differs: torch.Tensor) -> GridPair:
    """Return the window around the index `first`, in the two-dimensional slice of the last two dims that holds it."""
    *outer, row, column = first if len(first) > 1 else (0, *first)
    grids = [each[tuple(outer)] if len(first) > 1 else each[None] for each in (expected, got, differs)]
    rows, columns = (_window(*pair) for pair in zip(grids[0].shape, (row, column), strict=True))
    places = [[(i, j) for j in columns] for i in rows]
    texts = [[_two_texts(*(grid[at].item() for grid in grids)) for at in line] for line in places]
    return GridPair(
        expected=tuple(tuple(one for one, _ in line) for line in texts),
        got=tuple(tuple(other for _, other in line) for line in texts),
        agrees=tuple(tuple(not grids[2][at] for at in line) for line in places),
        rows=tuple(rows) if len(first) > 1 else (),
        columns=tuple(columns),
        first=(row - rows.start, column - columns.start),
        told=_told(first, differs, outer),
    )


def _window(size: int, place: int) -> range:
    start = max(0, min(place - _BEFORE, size - _GRID)) if size > _GRID else 0
    return range(start, min(size, start + _GRID))


def _two_texts(expected: object, got: object, differ: object) -> tuple[str, str]:
    """Return both numbers, with the digits that tell them apart where they count as different."""
    digits = digits_that_tell_apart(expected, got) if differ else USUAL_DIGITS
    return number_text(expected, digits), number_text(got, digits)


def _told(first: tuple[int, ...], differs: torch.Tensor, outer: list[int]) -> str:
    count, total = int(differs.sum()), differs.numel()
    grid = f"; this is the grid at {_index(outer)}" if outer else ""
    return f"{count} of {total} numbers {'differs' if count == 1 else 'differ'}, the first at {_index(first)}{grid}"


def _index(place: tuple[int, ...] | list[int]) -> str:
    return f"[{', '.join(map(str, place))}]"
