"""How a report spells the calls of chapter 3: a class is made, then called; a module of the zoo stands in brackets."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from torch import Tensor

from autograder.judging.words import argument
from autograder.watching.exercise import Case


def made_and_called(name: str, case: Case) -> str:
    """A class is made with its arguments; then the module is called with x, or with one batch after another."""
    options = dict(case.kwargs)
    inputs = [options.pop(key) for key in ("x", "batches") if key in options]
    parts = [arg if isinstance(arg, str) else argument(arg) for arg in case.args]  # nn.Tanh travels as its name
    parts += [f"{key}={argument(value)}" for key, value in options.items()]
    return f"{name}({', '.join(parts)})" + "".join(map(_input, inputs))


def _input(value: Any) -> str:
    if isinstance(value, list):
        return f"(batch), for batches of {', '.join(str(len(batch)) for batch in value)} rows"
    return f"({argument(value)})" if isinstance(value, Tensor) else f"(<tensor {value}>)"


def on_module(name: str, case: Case) -> str:
    """A function is called with a module, which the case names, with the sizes of its layers."""
    kind, *rest = case.args
    sizes = list(takewhile(lambda item: type(item) is int, rest))
    widths = f", sizes {', '.join(map(str, sizes))}" if sizes else ""
    parts = [f"<{kind}{widths}>", *map(_argument, rest[len(sizes) :])]
    parts += [f"{key}={argument(value)}" for key, value in case.kwargs.items()]
    return f"{name}({', '.join(parts)})"


def saving(name: str, case: Case) -> str:
    """As above; a record is told by its loss, and a case that has none begins with a first loss."""
    kind, *rest = case.args
    *others, last = rest
    if isinstance(last, Tensor):  # the input of a later step of training
        return on_module(name, Case("", kind, *others, None, 0.25))
    *sizes, best = others
    call = on_module(name, Case("", kind, *sizes, None, last))
    return call if best is None else call.replace("None", f"<a record with loss {best}>")


def freezing(name: str, case: Case) -> str:
    """As above; the input of a later step of training is no part of the call."""
    return on_module(name, Case("", *(arg for arg in case.args if not isinstance(arg, Tensor))))


def _argument(value: Any) -> str:
    if isinstance(value, list):  # a shape, in a case
        return str(tuple(value))
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: <tensor {tuple(item.shape)}>" for key, item in value.items()) + "}"
    return argument(value)
