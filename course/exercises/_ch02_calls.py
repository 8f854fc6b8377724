"""How a report spells the calls of chapter 2: a function as code or in brackets, a loss by its value."""

from __future__ import annotations

from torch import Tensor

from autograder.judging.words import argument, call_of, number
from autograder.watching.exercise import Case

# What _ch02_functions names, as a student would write it; longer ones in brackets.
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
_BESIDE_A_WEIGHT = "lambda x: (weight * x**2).sum()"


def of_function(name: str, case: Case) -> str:
    """A call with a function, which the case names; a case without one has a function that uses a tracked weight."""
    first, *_ = case.args
    args = [_BESIDE_A_WEIGHT, *case.args] if isinstance(first, Tensor) else [_CODE[first], *case.args[1:]]
    parts = [arg if isinstance(arg, str) else argument(arg) for arg in args]
    return call_of(name, *parts, **case.kwargs)


def accumulating(name: str, case: Case) -> str:
    """Batches are told by their rows."""
    batches, _ = case.args
    rows = ", ".join(str(len(batch)) for batch in batches)
    return call_of(name, "loss_fn", f"<{'batches' if len(batches) > 1 else 'a batch'} of {rows} rows>", "params")


def running(name: str, case: Case) -> str:
    """Losses are told by their values."""
    return call_of(name, f"<losses of {', '.join(map(str, case.args[0]))}>")


def applied(name: str, case: Case) -> str:
    """A Function is used by its apply."""
    return call_of(f"{name}.apply", *(number(arg) if isinstance(arg, float) else argument(arg) for arg in case.args))


def expression(name: str, case: Case) -> str:
    """An expression of Values, after the lines that make them."""
    text, numbers = case.args
    made = [f"{leaf} = {name}({value})" for leaf, value in zip("abc", numbers, strict=False)]
    return "; ".join([*made, text])
