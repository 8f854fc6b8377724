"""The functions that cases name, since a case is plain data; in a report, a case is told with the function's code."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from autograder.diagnosis.difference_messages import argument_text, call_from_parts
from autograder.exercises.exercise import Case
from autograder.exercises.probes.gradients import Function, make_tensor_arguments_probe


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
# As a student would write them; longer ones in brackets.
_CODE = {
    "sum_of_squares": "lambda x: (x**2).sum()",
    "sum_of_cubes": "lambda x: (x**3).sum()",
    "sum_of_sines": "lambda x: x.sin().sum()",
    "bowl_at_one": "lambda x: ((x - 1) ** 2).sum() + x.reshape(-1)[0] ** 2",
    "mixed": "<products of neighbors, and cubes, summed up>",
    "squares": "lambda x: x**2",
    "sines": "lambda x: x.sin()",
    "cubes_of_the_first_column": "lambda x: x[:, 0] ** 3",
    "mix_entries": "<a matrix times x**2>",
    "mix_to_three": "<a matrix with three rows times x**2>",
    "row_products": "lambda x: x.prod(dim=1)",
}


def is_at(at: Tensor, x: Tensor) -> bool:
    """Whether a function is called at x; a transform hides the numbers, and asks only there."""
    plain = at.detach()
    return torch._C._functorch.is_functorch_wrapped_tensor(plain) or torch.equal(plain, x)


on_function = partial(make_tensor_arguments_probe, functions=FUNCTIONS)


def of_function(name: str, case: Case) -> str:
    """A call with a function, which the case names."""
    function, *others = case.args
    return call_from_parts(name, _CODE[function], *map(argument_text, others), **case.kwargs)
