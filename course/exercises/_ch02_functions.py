"""The functions, losses and expressions of chapter 2's cases: a case is plain data and names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Function = Callable[[Tensor], Tensor]


def _kernel(rows: int, cols: int, like: Tensor) -> Tensor:
    """A fixed (rows, cols) matrix that is not symmetric and has no two equal entries."""
    return torch.arange(1, rows * cols + 1, dtype=like.dtype).reshape(rows, cols).sin()


def _mixed(x: Tensor) -> Tensor:
    """Neighbors meet in a product, so that the Hessian has entries beside its diagonal."""
    flat = x.reshape(-1)
    return (flat[:-1] ** 2 * flat[1:]).sum() + (flat**3).sum()


FUNCTIONS: dict[str, Function] = {
    "sum_of_squares": lambda x: (x**2).sum(),
    "sum_of_cubes": lambda x: (x**3).sum(),
    "sum_of_sines": lambda x: x.sin().sum(),
    "bowl_at_one": lambda x: ((x - 1) ** 2).sum() + x.reshape(-1)[0] ** 2,
    "mixed": _mixed,
    "squares": lambda x: x**2,
    "sines": lambda x: x.sin(),
    "cubes_of_the_first_column": lambda x: x[:, 0] ** 3,
    # Without x it would be linear; the square keeps the Jacobian from being the same everywhere.
    "mix_entries": lambda x: _kernel(x.numel(), x.numel(), x) @ x.reshape(-1) ** 2,
    "mix_to_three": lambda x: _kernel(3, x.numel(), x) @ x.reshape(-1) ** 2,
    "row_products": lambda x: x.prod(dim=1),
}


def weighted(weight: Tensor) -> Function:
    """A function that uses a tracked tensor beside its argument."""
    return lambda x: (weight * x**2).sum()


def mean_loss(params: list[Tensor]) -> Function:
    """The mean squared error of a linear model; the last column of a batch holds the targets."""
    weight, bias = params
    return lambda batch: ((batch[:, :-1] @ weight + bias - batch[:, -1]) ** 2).mean()


# --- for Value: each makes, from leaves, the results on which backward is called one after another, and the
# values in the middle that are worth a look

Values = list[Any]


def _middle_twice(a: Any, b: Any, c: Any) -> tuple[Values, Values]:
    h = a * b
    return [h * c + h], [h]


def _ladder(a: Any, b: Any) -> tuple[Values, Values]:
    h = a * b
    first = h
    for _ in range(4):
        h = h + h
    return [h], [first]


def _late_path(a: Any, b: Any) -> tuple[Values, Values]:
    """One of the paths from h to the result is longer than the other: h must wait for both."""
    h = a + b
    return [h * ((h * h) * a)], [h]


def _late_first(a: Any, b: Any) -> tuple[Values, Values]:
    h = a + b
    return [((h * h) * a) * h], [h]


def _two_results(a: Any, b: Any) -> tuple[Values, Values]:
    return [a * b, a + a * a], []


def _shared_middle(a: Any, b: Any) -> tuple[Values, Values]:
    h = a * b
    return [h + b, h * h], [h]


EXPRESSIONS: dict[str, Callable[..., tuple[Values, Values]]] = {
    "a + b": lambda a, b: ([a + b], []),
    "a * b": lambda a, b: ([a * b], []),
    "a.tanh()": lambda a: ([a.tanh()], []),
    "a * b + c": lambda a, b, c: ([a * b + c], []),
    "(a + b) * c": lambda a, b, c: ([(a + b) * c], []),
    "(a * b).tanh()": lambda a, b: ([(a * b).tanh()], []),
    "a.tanh().tanh() * b": lambda a, b: ([a.tanh().tanh() * b], []),
    "a + a": lambda a: ([a + a], []),
    "a * a": lambda a: ([a * a], []),
    "a * b + a": lambda a, b: ([a * b + a], []),
    "h = a * b; h * c + h": _middle_twice,
    "h = a * b; four times h = h + h": _ladder,
    "h = a + b; h * ((h * h) * a)": _late_path,
    "h = a + b; ((h * h) * a) * h": _late_first,
    "a * b, then a + a * a": _two_results,
    "h = a * b; h + b, then h * h": _shared_middle,
}
